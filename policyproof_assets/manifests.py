"""Corpus manifests: which documents a corpus holds and what is known about each."""

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar
from urllib.parse import urlsplit

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from policyproof_assets.errors import ManifestError

Slug = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=120)]
Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Classification = Literal["public", "internal", "confidential", "restricted"]
Status = Literal["active", "superseded", "draft"]

M = TypeVar("M", bound=BaseModel)

#: What a starter manifest says where a person has to decide; no build accepts it.
TODO = "TODO"

_LOCAL_FORMATS = {".pdf": "pdf", ".md": "markdown", ".html": "html", ".htm": "html"}


class Record(BaseModel):
    """Something people write that holds only what is expected."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Document(Record):
    """One source document. ``acl`` and ``classification`` have no default on purpose."""

    id: Slug
    title: Text
    publisher: Text
    licence: Text
    version: Text
    status: Status
    classification: Classification
    acl: tuple[Text, ...] = Field(min_length=1)
    profile: Slug
    sha256: Sha256
    format: Literal["pdf", "markdown", "html"] = "pdf"
    language: str = "en"
    #: The official address of the file; absent for documents that lie beside their manifest.
    url: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    #: A file beside the manifest, relative to it.
    path: str | None = None
    #: The page that describes the document, for people.
    about: str | None = None
    #: All versions of one document share a family.
    family: str | None = None
    supersedes: str | None = None
    effective_date: str | None = None
    department: str | None = None
    owner: str | None = None
    #: What people call the document, beside its title: "the RMF".
    names: tuple[Text, ...] = ()
    #: What the publisher says and PolicyProof does not interpret.
    facts: dict[str, str] = {}

    @field_validator("classification", "acl", mode="before")
    @classmethod
    def _is_decided(cls, value: Any) -> Any:
        if TODO in (value if isinstance(value, list | tuple) else [value]):
            raise ValueError(f"still says {TODO}: a person has to say who may read it")
        return value

    @model_validator(mode="after")
    def _has_one_origin(self) -> Self:
        if (self.url is None) == (self.path is None):
            raise ValueError("exactly one of url and path says where the document comes from")
        address = urlsplit(self.url or "")
        if self.url is not None and address.scheme != "https":
            raise ValueError(f"url must be https, found {address.scheme or 'no scheme'}")
        if self.url is not None and address.hostname not in self.allowed_hosts:
            raise ValueError(f"host {address.hostname} is not in allowed_hosts")
        return self


class ExportIdentity(Record):
    """The names under which the accepted JSON-lines files know the corpus."""

    corpus_id: Text
    corpus_version: Text
    retrieved_date: Text


class Corpus(Record):
    """A named list of documents; ``namespace`` opens every passage id."""

    id: Slug
    title: Text
    namespace: Slug = "pp"
    documents: tuple[Document, ...] = Field(min_length=1)
    export: ExportIdentity | None = None
    #: The model whose vectors rank beside words, where it is installed.
    dense_model: Slug | None = None
    #: Finding aids of its passages, by name.
    finding_aids: tuple[Slug, ...] = ()
    #: Folder of the manifest; paths of documents are relative to it.
    folder: Path = Path()

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        twice = [name for name, n in Counter(d.id for d in self.documents).items() if n > 1]
        if twice:
            raise ValueError(f"duplicate document id: {', '.join(twice)}")
        return self

    @property
    def group(self) -> str:
        """The corpus id as Dagster allows it in keys and group names."""
        return re.sub(r"[^A-Za-z0-9_]", "_", self.id)

    def document(self, document_id: str) -> Document:
        """Return a document by id; raises ManifestError if there is none."""
        known = {document.id: document for document in self.documents}
        if document_id not in known:
            raise ManifestError(
                f"corpus {self.id} has no document {document_id}", expected=", ".join(known)
            )
        return known[document_id]


def load_corpus(path: Path) -> Corpus:
    """Read and validate the corpus manifest at ``path``.

    Raises ManifestError that names the file, the document and the key.
    """
    data = read_toml(path)
    header = data.pop("corpus", {})
    if not isinstance(header, dict):
        raise ManifestError(f"{path}: [corpus] must be a table")
    return validate(Corpus, {**header, **data, "folder": path.parent}, path)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; raises ManifestError that names file and line."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ManifestError(f"no manifest at {path}", action="check the path") from None
    except OSError as error:
        raise unreadable(path, error) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ManifestError(f"{path} is not valid TOML: {error}") from error
    except RecursionError as error:
        raise ManifestError(f"{path} is not valid TOML: it nests too deep") from error


def unreadable(path: Path, error: OSError) -> ManifestError:
    """Return the error that says why a file or folder beside a manifest cannot be read."""
    return ManifestError(
        f"{path} cannot be read: {error.strerror or error}",
        action="make it readable, or move it out of the folder of documents",
    )


def load_yaml(path: Path, kind: Any) -> Any:
    """Read a YAML file as ``kind``, a type pydantic knows; raises ManifestError that names it."""
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        return TypeAdapter(kind).validate_python(data)
    except FileNotFoundError:
        raise ManifestError(f"no file at {path}", action="check the path") from None
    except (yaml.YAMLError, UnicodeDecodeError, ValidationError) as error:
        raise ManifestError(f"{path} is not valid: {error}") from error


def validate(model: type[M], data: dict[str, Any], path: Path) -> M:
    """Validate ``data`` as ``model``; raises ManifestError that lists every fault with its key."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        items = error.errors()
        # The list is also too short where none of its documents is valid.
        items = [i for i in items if i["loc"] != ("documents",)] or items
        faults = [_fault(data, item) for item in items]
        raise ManifestError(
            f"{path} is not a valid {model.__name__.lower()} manifest: " + "\n  ".join(faults),
            action="correct the named keys; docs/your-documents.md describes each",
        ) from error


def _fault(data: dict[str, Any], item: Any) -> str:
    """Say where a fault is, with the document's id in place of its position."""
    where: list[str] = []
    value: Any = data
    for key in item["loc"]:
        if isinstance(value, dict) and key not in value and key != item["loc"][-1]:
            continue  # names a choice between models, not a key
        there = isinstance(value, list) or (isinstance(value, dict) and key in value)
        value = value[key] if there else None
        named = isinstance(key, int) and isinstance(value, dict)
        where.append(str(value.get("id", key)) if named else str(key))
    if item["type"].startswith("union_tag"):
        where.append(item["ctx"]["discriminator"].strip("'"))
    messages = {"extra_forbidden": "unknown key", "missing": "is missing"}
    message = messages.get(item["type"], item["msg"].removeprefix("Value error, "))
    return f"{'.'.join(where)} {message}"


def document_format(path: Path) -> str | None:
    """Return the format PolicyProof reads a file as, by its suffix; None if it reads it not."""
    return _LOCAL_FORMATS.get(path.suffix.lower())
