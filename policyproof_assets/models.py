"""Adding a model: its files fetched or copied, verified, and only then visible to the runtime."""

from pathlib import Path

from policyproof_assets.corpus.sources import Source, locate
from policyproof_runtime.errors import ModelError, PolicyProofError
from policyproof_runtime.models import (
    Model,
    ModelFile,
    how_to_get,
    installed_model,
    place_model,
    whereabouts,
)


def add_model(model: Model, given: Path | None = None) -> Path:
    """Install ``model`` from the folder ``given``, else from where its manifest says; return where.

    Files of ``given`` go by their name in the manifest or by the last part of it. If a file cannot
    be had or is not the pinned one, nothing is left. Raises ModelError.
    """
    if not whereabouts(model):
        place_model(model, lambda file, place: _fetch(model, file, given, place))
    return installed_model(model)


def _fetch(model: Model, file: ModelFile, given: Path | None, place: Path) -> None:
    """Write the verified file to ``place``; with a folder ``given``, nothing is downloaded."""
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
        locate(source, place.parent).replace(place)
    except PolicyProofError as error:
        raise ModelError(
            error.message, expected=error.expected, found=error.found, action=how_to_get(model)
        ) from error


def _beside(given: Path, file: ModelFile) -> Path:
    for path in (given / file.name, given / Path(file.name).name):
        if path.is_file():
            return path
    raise ModelError(f"there is no {file.name} in {given}")
