"""A folder of documents as a corpus, without a manifest that lists them.

Markdown says in its front matter what it is; a PDF or an HTML page has a ``<same name>.toml``
beside it. A ``corpus.toml`` at the top may name the corpus; where it lists documents it is the
manifest.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from policyproof_assets.corpus.markdown import checked, front_matter
from policyproof_assets.errors import ManifestError
from policyproof_assets.manifests import (
    Corpus,
    Document,
    document_format,
    load_corpus,
    read_toml,
    unreadable,
    validate,
)

CORPUS_FILE = "corpus.toml"
#: Read as no document: notes about the folder, and what a person hides or drafts.
_LEFT_OUT = re.compile(r"(?i)readme\b.*|[._].*")
_PROFILES = {"pdf": "auto", "markdown": "markdown", "html": "html"}
_SETTINGS = frozenset(
    {"id", "title", "namespace", "licence", "publisher", "finding_aids", "dense_model"}
)
#: Keys of a description that make up the document's identity, and fields that come from elsewhere.
_OWN = frozenset({"doc_id", "version", "supersedes"})
_DERIVED = frozenset({"id", "family", "facts", "format", "path", "sha256", "url", "allowed_hosts"})
#: Keys of a description that are fields of Document by the same name.
_FIELDS = frozenset(Document.model_fields) - _OWN - _DERIVED


def discover(folder: Path) -> Corpus:
    """Return the corpus of the documents in ``folder`` and below, in the order of their paths.

    Digests are computed from the files. Raises ManifestError that lists every fault with its file:
    no description, no acl or classification (there is no default), or a key that is not valid.
    """
    settings = _settings(folder)
    if settings is None:
        return load_corpus(folder / CORPUS_FILE)
    documents, faults = [], []
    for path in document_files(folder):
        try:
            values = described(path, folder, description(path), settings)
            documents.append(validate(Document, values, path))
        except ManifestError as error:
            faults.append(error)
    if faults:
        raise _joined(folder, faults)
    name = folder.resolve().name
    header = {"id": slug(name), "title": name, "documents": documents, "folder": folder}
    named = {key: settings[key] for key in settings.keys() - {"licence", "publisher"}}
    return validate(Corpus, header | named, folder)


def _settings(folder: Path) -> dict[str, Any] | None:
    """Return what corpus.toml says for all documents; None if it is a manifest itself."""
    path = folder / CORPUS_FILE
    if not path.is_file():
        return {}
    data = read_toml(path)
    if "documents" in data:
        return None
    settings = data.get("corpus", data)
    if not isinstance(settings, dict):
        raise ManifestError(f"{path}: [corpus] must be a table", found=repr(settings))
    unknown = sorted(set(settings) - _SETTINGS)
    if unknown:
        raise ManifestError(
            f"{path}: unknown key {', '.join(unknown)}",
            expected=", ".join(sorted(_SETTINGS)),
            action="describe documents beside them, or list them as [[documents]]",
        )
    return dict(settings)


def document_files(folder: Path) -> list[Path]:
    """Return the documents below ``folder``.

    Raises ManifestError if there is none, one lies outside, or a file or folder cannot be read: it
    may hold documents.
    """
    root, found = folder.resolve(), []
    for path in sorted(_files(folder), key=lambda path: path.relative_to(folder).as_posix()):
        if document_format(path) is None or not _is_file(path):
            continue
        if not path.resolve().is_relative_to(root):
            raise ManifestError(f"{path} leads out of {folder}", found=str(path.resolve()))
        found.append(path)
    if not found:
        raise ManifestError(
            f"{folder} holds no document",
            expected="files that end in .md, .pdf or .html",
            action="name the folder of your documents; README files are left out",
        )
    return found


def _files(folder: Path) -> Iterator[Path]:
    """Yield what lies below ``folder`` and is no folder, but for what is left out."""

    def refuse(error: OSError) -> None:
        raise unreadable(Path(error.filename), error) from error

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not _LEFT_OUT.fullmatch(name)]
        yield from (Path(place, name) for name in names if not _LEFT_OUT.fullmatch(name))


def _is_file(path: Path) -> bool:
    """Tell a file from a socket or a pipe; ManifestError if it cannot be had, as a link to none."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        raise unreadable(path, error) from error


def description(path: Path) -> dict[str, Any]:
    """Return what a document says of itself in its front matter, or in the file beside it.

    Raises ManifestError: there is neither, or it does not say who may read the document.
    """
    if document_format(path) == "markdown":
        return front_matter(path)
    beside = path.with_suffix(".toml")
    if not beside.is_file():
        raise ManifestError(
            f"{path} has no description",
            expected=f"{beside.name} beside it, with at least acl and classification",
            action="policyproof new writes a starter for a folder of documents",
        )
    return checked(read_toml(beside), beside)


def described(
    path: Path, folder: Path, said: Mapping[str, Any], settings: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the fields of Document: those ``said``, read off the file, and of the corpus."""
    kind = document_format(path) or ""
    family, version = str(said.get("doc_id") or slug(path.stem)), str(said.get("version", "1"))
    defaults = {"title": path.stem, "status": "active", "profile": _PROFILES[kind]}
    common = {key: (settings or {}).get(key, "not stated") for key in ("publisher", "licence")}
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from error
    return {
        **defaults,
        **common,
        **{name: _plain(value) for name, value in said.items() if name in _FIELDS},
        "id": f"{family}-v{version}",
        "family": family,
        "version": version,
        "supersedes": _supersedes(said.get("supersedes"), family),
        "facts": {key: _text(said[key]) for key in said if key not in _FIELDS | _OWN},
        "format": kind,
        "path": path.relative_to(folder).as_posix(),
        "sha256": digest,
    }


def _supersedes(value: Any, family: str) -> str | None:
    """Return the id of the superseded document: of ``HR-001 v1``, ``1`` or an id."""
    if value in (None, "", False):
        return None
    text = str(value).strip()
    named = re.fullmatch(r"(?:(?P<family>\S+)\s+)?v?(?P<version>\d[\w.]*)", text)
    return f"{named['family'] or family}-v{named['version']}" if named else text


def _plain(value: Any) -> Any:
    """Return dates as text; lists keep their form, so that a wrong one is refused."""
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else value


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_text(item)}" for key, item in value.items())
    return str(_plain(value))


def slug(name: str) -> str:
    """Return a name as an id."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "corpus"


def _joined(folder: Path, faults: list[ManifestError]) -> ManifestError:
    if len(faults) == 1:
        return faults[0]
    lines = "\n  ".join(fault.message for fault in faults)
    return ManifestError(
        f"{folder}: {len(faults)} documents cannot be taken as they are:\n  {lines}",
        action=faults[0].action,
    )
