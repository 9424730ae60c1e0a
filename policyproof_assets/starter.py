"""Writes the first manifest of a folder of documents, by looking at the files.

What only a person can say, who may read a document, stays TODO, which no build accepts.
"""

import html
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pypdfium2

from policyproof_assets.corpus.pdfium import open_pdf
from policyproof_assets.discover import CORPUS_FILE, described, description, document_files, slug
from policyproof_assets.errors import ManifestError
from policyproof_assets.manifests import TODO, Document, document_format, unreadable, validate
from policyproof_runtime.storage import durable

_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_HTML_TITLE = re.compile(r"<(title|h1)\b[^>]*>(.*?)</\1\s*>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
#: What programs write where nobody gave a title.
_NO_TITLE = re.compile(
    r"(?i)\s*|untitled.*|\(?anonymous\)?|microsoft word.*|.*\.(?:docx?|odt|pdf|tmp)"
)
#: A title stands in the first bytes of a file.
_HEAD_BYTES = 100_000
#: What the entry of a document says that says nothing of itself.
_KEYS = (
    *("id", "title", "classification", "acl", "version", "status", "publisher", "licence"),
    *("path", "format", "profile", "sha256"),
)
_INTRODUCTION = """\
# The documents of this corpus. Every key is described in docs/your-documents.md.
#
# Before a build, say of each document who may read it, in place of TODO:
#   classification  public, internal, confidential or restricted
#   acl             the groups whose members may read it, for instance ["staff"]
"""


def write_starter(folder: Path) -> tuple[Path, int, int]:
    """Write ``corpus.toml`` into ``folder``; return its path, the documents and those with TODO.

    A document that says itself who may read it is taken as it says. Raises ManifestError if the
    folder holds no document, a name is not UTF-8, or the file is there already, which is never
    overwritten; StoreError if it cannot be written, and then nothing of it is left.
    """
    path = folder / CORPUS_FILE
    name = folder.resolve().name
    _check_name(name, folder)
    documents: dict[str, dict[str, Any]] = {}
    for file in document_files(folder):
        _check_name(file.relative_to(folder).as_posix(), file)
        entry = _entry(file, folder)
        entry["id"] = _free_id(entry["id"], file.relative_to(folder), documents)
        documents[entry["id"]] = entry
    text = _INTRODUCTION + _table("[corpus]", {"id": slug(name), "title": name})
    text += "".join(_table("[[documents]]", entry) for entry in documents.values())
    data = text.encode()
    if os.path.lexists(path):
        raise ManifestError(
            f"{path} exists and is not overwritten",
            action="edit it, or remove it to start again",
        )
    with durable(path, need=len(data)) as out:
        out.write(data)
    undecided = sum(entry["classification"] == TODO for entry in documents.values())
    return path, len(documents), undecided


def _check_name(name: str, path: Path) -> None:
    """Raise ManifestError that names ``path`` if ``name`` cannot stand in a text file."""
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ManifestError(
            f"the name of {path} is not UTF-8", found=os.fsencode(name), action="rename it"
        ) from error


def _entry(path: Path, folder: Path) -> dict[str, Any]:
    try:
        document = validate(Document, described(path, folder, description(path)), path)
    except ManifestError:
        title = _title(path, document_format(path) or "")
        undecided = {"title": title, "classification": TODO, "acl": [TODO]}
        values = described(path, folder, undecided) | {"id": slug(path.stem)}
        return {key: values[key] for key in _KEYS}
    return document.model_dump(mode="json", exclude_defaults=True)


def _free_id(name: str, path: Path, taken: Mapping[str, Any]) -> str:
    """Return ``name``, or one with the folder or a number, that no other document has."""
    candidates = [name, slug(path.with_suffix("").as_posix())]
    candidates += [f"{name}-{number}" for number in range(2, len(taken) + 3)]
    return next(candidate for candidate in candidates if candidate not in taken)


def _title(path: Path, kind: str) -> str:
    """Return the title a file gives itself, or its name in words."""
    found = _pdf_title(path) if kind == "pdf" else _text_title(path, kind)
    title = " ".join("".join(c if c.isprintable() else " " for c in found).split())
    if _NO_TITLE.fullmatch(title):
        title = re.sub(r"[-_\s]+", " ", path.stem).strip() or path.stem
    return title


def _pdf_title(path: Path) -> str:
    # The build says what is wrong with a file that does not open.
    with suppress(pypdfium2.PdfiumError), open_pdf(path) as document:
        return document.get_metadata_value("Title")
    return ""


def _text_title(path: Path, kind: str) -> str:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES).decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise unreadable(path, error) from error
    if kind == "html":
        match = _HTML_TITLE.search(head)
        return html.unescape(_TAG.sub(" ", match[2])) if match else ""
    match = _HEADING.search(head)
    return match[1] if match else ""


def _table(header: str, values: Mapping[str, Any]) -> str:
    lines = [f"{key} = {_toml(value)}" for key, value in values.items() if value != {}]
    return "\n".join(["", header, *lines, ""])


def _toml(value: Any) -> str:
    """Return a value in TOML, whose strings and lists are written as in JSON."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
