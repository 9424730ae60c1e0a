"""Models: what a manifest pins, and where its files are on this machine.

Files come from an installed package that carries them (read, never imported) or from the folder of
models that ``policyproof models add`` fills. Nothing is used before its bytes match the manifest,
and nothing is fetched unless asked for.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, NamedTuple

from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import ModelError
from policyproof_runtime.records import RecordError, from_json, to_json

#: The model manifests that come with PolicyProof.
MANIFESTS = Path(__file__).resolve().parents[1] / "manifests" / "models"
ROLES = ("dense", "reranker")


@dataclass(frozen=True)
class ModelFile:
    """A file of a model: path below the model's folder, size in bytes, digest, official address."""

    name: str
    size: int
    sha256: Digest
    url: str | None = None

    def __post_init__(self) -> None:
        if Path(self.name).is_absolute() or ".." in Path(self.name).parts:
            raise RecordError("a file of a model stays in its folder", found=self.name)


@dataclass(frozen=True)
class Package:
    """An installable package that carries the files of a model below ``folder``."""

    name: str
    version: str
    folder: str


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
    package: Package | None = None
    hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.role == "dense" and not (self.pooling and self.dimensions):
            raise RecordError("a dense model has a pooling and the dimensions of its vectors")
        if not {self.graph, self.vocabulary} <= {file.name for file in self.files}:
            raise RecordError("graph and vocabulary name files of the model")

    @property
    def digest(self) -> Digest:
        """The digest of all that shapes what the model returns, wherever its files come from."""
        apart = {"id", "name", "revision", "licence", "package", "hosts"}
        shape = {key: value for key, value in to_json(self).items() if key not in apart}
        return Digest.of_json(shape | {"files": {f.name: f.sha256 for f in self.files}})

    def digests(self) -> dict[str, Digest]:
        """Return the digest of every file, named after the model and the file."""
        return {f"{self.id}/{file.name}": file.sha256 for file in self.files}


class Installed(NamedTuple):
    """Where the files of a model are: the folder above their names, and how they came there."""

    folder: Path
    origin: str


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


def added_folder(model: Model) -> Path:
    """Return where the files of ``model`` are once added, below POLICYPROOF_MODELS or a cache."""
    given = os.environ.get("POLICYPROOF_MODELS")
    folder = Path(given) if given else Path.home() / ".cache" / "policyproof" / "models"
    return folder / model.digest.hex


def find_model(model: Model) -> Installed | None:
    """Return where the files of ``model`` are, by name and size; None if they are nowhere."""
    sizes = {file.name: file.size for file in model.files}
    for place in _places(model):
        paths = [(place.folder / name, size) for name, size in sizes.items()]
        if all(path.is_file() and path.stat().st_size == size for path, size in paths):
            return place
    return None


def _places(model: Model) -> Iterator[Installed]:
    if model.package:
        try:
            files = metadata.files(model.package.name) or []
        except metadata.PackageNotFoundError:
            files = []
        graph = Path(model.package.folder) / model.graph
        found = [Path(str(f.locate())) for f in files if f.match(str(graph))]
        up = len(Path(model.graph).parts) - 1
        yield from (Installed(p.parents[up], f"package {model.package.name}") for p in found)
    yield Installed(added_folder(model), str(added_folder(model)))


def installed_model(model: Model) -> Path:
    """Return the folder with the verified files of ``model``.

    Raises ModelError if the model is not installed, with how to get it, or is not the pinned one.
    """
    found = find_model(model)
    if found is None:
        raise ModelError(f"the model {model.id} is not installed", action=how_to_get(model))
    for file in model.files:
        path = found.folder / file.name
        with path.open("rb") as stream:
            digest = Digest(hashlib.file_digest(stream, "sha256").hexdigest())
        if digest != file.sha256:
            raise ModelError(
                f"{path} is not the file that the model {model.id} pins",
                expected=file.sha256,
                found=digest,
                action=f"remove {found.folder}, then {how_to_get(model)}",
            )
    return found.folder


def how_to_get(model: Model) -> str:
    """Return what a person does to have ``model``."""
    if model.package:
        return f"pip install {model.package.name}=={model.package.version}"
    return f"policyproof models add {model.id} [--from FOLDER]"
