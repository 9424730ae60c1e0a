"""Adding a model: its files fetched or copied, verified, and only then visible to the runtime."""

import tempfile
from pathlib import Path

from policyproof_assets.corpus.sources import Source, locate
from policyproof_runtime.errors import ModelError, PolicyProofError
from policyproof_runtime.models import Model, ModelFile, added_folder, how_to_get, installed_model


def add_model(model: Model, given: Path | None = None) -> Path:
    """Install ``model`` from the folder ``given``, else from its official addresses; return where.

    Files of ``given`` go by their name in the manifest or by the last part of it. If a file cannot
    be had or is not the pinned one, nothing is left. Raises ModelError.
    """
    target = added_folder(model)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".tmp-", dir=target.parent) as temporary:
        folder = Path(temporary) / "model"
        for file in model.files:
            place = folder / file.name
            place.parent.mkdir(parents=True, exist_ok=True)
            _fetch(model, file, given, Path(temporary)).replace(place)
        try:
            folder.rename(target)
        except OSError:
            if not target.is_dir():  # else another command added it meanwhile
                raise
    return installed_model(model)


def _fetch(model: Model, file: ModelFile, given: Path | None, cache: Path) -> Path:
    """Return the verified file in ``cache``; with a folder ``given``, nothing is downloaded."""
    source = Source(
        document_id=f"{model.id}/{file.name}",
        digest=file.sha256,
        url=None if given else file.url,
        allowed_hosts=model.hosts,
        beside=_beside(given, file) if given else None,
        max_bytes=file.size,
    )
    if source.url is None and source.beside is None:
        raise ModelError(f"{model.id}: {file.name} has no address", action=how_to_get(model))
    try:
        return locate(source, cache)
    except PolicyProofError as error:
        raise ModelError(
            error.message, expected=error.expected, found=error.found, action=how_to_get(model)
        ) from error


def _beside(given: Path, file: ModelFile) -> Path:
    for path in (given / file.name, given / Path(file.name).name):
        if path.is_file():
            return path
    raise ModelError(f"there is no {file.name} in {given}")
