"""Markdown documents: one page, whose lines are the lines of the file.

The text is kept as written. Headings, tables and code are what CommonMark (with tables) says they
are; YAML front matter between ``---`` lines at the top is data about the document.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Literal

import polars as pl
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pydantic import BaseModel, ConfigDict

from policyproof_assets.corpus.pieces import visible
from policyproof_assets.corpus.roles import METADATA, SEPARATOR, TABLE, TEXT
from policyproof_assets.errors import ExtractError, ManifestError
from policyproof_assets.schemas import LAYOUT, PAGES, conform

_FENCE = "---"
#: Front matter is looked for in the first lines only, so that a rule further down opens none.
_FRONT_MATTER_LINES = 400
#: YAML that nests deeper or refers to itself is made to exhaust memory.
_FRONT_MATTER_BYTES = 64 * 1024


#: Limits on a text file; deeper nesting is read as text.
MAX_BYTES, _MAX_LINE, _MAX_NESTING = 20_000_000, 100_000, 20


class MarkdownRules(BaseModel):
    """The section [extract] of a profile for Markdown."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    extractor: Literal["markdown"]


def read_markdown(
    path: Path, document_id: str, _rules: MarkdownRules | None = None
) -> pl.DataFrame:
    """Read a Markdown file into PAGES: page 1, with the file's lines and their layout.

    Raises ExtractError that names the file: not UTF-8, without text, or over a limit.
    """
    lines = read_lines(path)
    start = _front_matter_end(lines)
    layouts = [row(METADATA if index < start else TEXT) for index in range(len(lines))]
    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable("table")
    for token in parser.parse("\n".join(lines[start:])):
        _mark(token, layouts, lines, start)
    return frame_of(path, document_id, lines, layouts)


def _mark(token: Token, layouts: list[dict[str, Any]], lines: list[str], start: int) -> None:
    """Enter what a block says about its lines."""
    if token.map is None:
        return
    first, stop = (start + number for number in token.map)
    if token.type == "heading_open" and token.level <= 1:
        layouts[first] |= {"outline": int(token.tag[1]), "outline_lines": stop - first}
    elif token.type == "table_open":
        for index in range(first, stop):
            rule = set(lines[index].strip()) <= set("|-: ")
            layouts[index] = row(SEPARATOR if rule else TABLE)
    elif token.type == "hr":
        layouts[first] = row(SEPARATOR)


def read_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file without characters that have no glyph.

    Control characters that ``splitlines`` would split at become spaces, so that a line of the page
    is a line of the file. Raises ExtractError that names the file and the reason.
    """
    try:
        data = path.read_bytes() if path.stat().st_size <= MAX_BYTES else None
    except OSError as error:
        raise ExtractError(f"{path.name}: cannot be read: {error.strerror}") from error
    if data is None:
        raise ExtractError(f"{path.name}: over the limit", expected=f"at most {MAX_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ExtractError(
            f"{path.name}: line {line} is not UTF-8",
            expected="a text file in UTF-8",
            found=f"byte 0x{data[error.start]:02x}",
            action="save the file as UTF-8",
        ) from error
    lines = re.split(r"\r\n|\r|\n", text)
    long = next((n for n, line in enumerate(lines, 1) if len(line) > _MAX_LINE), None)
    if long:
        raise ExtractError(
            f"{path.name}: line {long} is over the limit",
            expected=f"at most {_MAX_LINE} characters",
            found=len(lines[long - 1]),
            action="wrap the line",
        )
    return [visible(line) for line in lines]


def row(role: str) -> dict[str, Any]:
    """Return a layout (fields of LAYOUT) of which only the role is known."""
    return dict.fromkeys(field.name for field in LAYOUT.fields) | {"role": role}


def frame_of(
    path: Path, document_id: str, lines: list[str], layouts: list[dict[str, Any]]
) -> pl.DataFrame:
    """Return the PAGES frame of a file; ExtractError if no line has text beside its metadata."""
    while lines and not lines[-1].strip():
        lines, layouts = lines[:-1], layouts[:-1]
    said = [line for line, layout in zip(lines, layouts, strict=True) if layout["role"] != METADATA]
    if not any(line.strip() for line in said):
        raise ExtractError(
            f"{path.name}: no text", expected="text below the front matter", found="nothing"
        )
    page = {"document_id": document_id, "page": 1, "text": "\n".join(lines), "layout": layouts}
    return conform(pl.DataFrame([page], schema=PAGES), PAGES)


def _front_matter_end(lines: list[str]) -> int:
    """Return the number of lines the front matter takes, its fences included; 0 without one."""
    if not lines or lines[0].rstrip() != _FENCE:
        return 0
    for number, line in enumerate(lines[1:_FRONT_MATTER_LINES], start=1):
        if line.rstrip() in (_FENCE, "..."):
            return number + 1
    return 0


class _Loader(yaml.SafeLoader):
    """Safe YAML without aliases, and without keys that occur twice."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            raise yaml.constructor.ConstructorError(
                None, None, "aliases are not allowed", event.start_mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002 -- PyYAML's signature
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key that is no plain value", key.start_mark
                )
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"duplicate key {key.value!r}", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def front_matter(path: Path) -> dict[str, Any]:
    """Return the YAML front matter of a Markdown file.

    Raises ManifestError that names the file: no front matter, not YAML, a key twice, or no mapping.
    ``acl`` and ``classification`` must be there: who may read a document has no default.
    """
    try:
        lines = read_lines(path)
    except ExtractError as error:
        raise ManifestError(error.message, expected=error.expected, found=error.found) from error
    end = _front_matter_end(lines)
    if not end:
        raise ManifestError(
            f"{path}: no front matter",
            expected="a first line ---, keys like doc_id and acl, and a line ---",
            found=repr(lines[0][:60]),
            action="policyproof new writes a starter for a folder of documents",
        )
    return checked(load_yaml("\n".join(lines[1 : end - 1]), path), path)


def load_yaml(text: str, path: Path) -> Any:
    """Parse YAML as data only; raises ManifestError that names file and line."""
    if len(text.encode()) > _FRONT_MATTER_BYTES:
        raise ManifestError(f"{path}: front matter over {_FRONT_MATTER_BYTES} bytes")
    try:
        return yaml.load(text, _Loader)  # noqa: S506 -- a SafeLoader
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise ManifestError(
            f"{path}: front matter is not valid YAML, line {line}: {error.problem}",
            action="quote values that hold a colon, a hash or a bracket",
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ManifestError(f"{path}: front matter is not valid YAML: {error}") from error


def checked(data: Any, path: Path) -> dict[str, Any]:
    """Return ``data`` if it is a mapping that says who may read; raises ManifestError."""
    if not isinstance(data, dict):
        raise ManifestError(
            f"{path}: the description is no mapping",
            expected="key: value",
            found=type(data).__name__,
        )
    missing = [key for key in ("acl", "classification") if not data.get(key)]
    if missing:
        raise ManifestError(
            f"{path}: {' and '.join(missing)} must be stated",
            expected="acl: [groups that may read], classification: public, internal, …",
            found=", ".join(map(str, data)) or "no key",
            action="say who may read the document; there is no default",
        )
    return data
