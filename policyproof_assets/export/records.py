"""What the accepted JSON-lines records have in common: encoding, fields and names of places."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Row = dict[str, Any]


def json_lines(records: Iterable[Row]) -> Iterator[bytes]:
    """Encode records as the accepted files do: fields in order, UTF-8, one record a line."""
    for record in records:
        yield (json.dumps(record, ensure_ascii=False) + "\n").encode()


def fields(row: Mapping[str, Any], names: str, version: str = "1.0") -> Row:
    """Return a record of ``version`` with the fields ``names`` in their order.

    A field is named ``accepted`` or ``accepted=ours``; with ``?`` it is left out where it is null.
    """
    record: Row = {"schema_version": version}
    for field in names.split():
        accepted, _, ours = field.rstrip("?").partition("=")
        value = row[ours or accepted]
        if value is not None or not field.endswith("?"):
            record[accepted] = value
    return record


def coordinate(document: str, page: int | None, line: int | None) -> Row | None:
    """Return a coordinate as the records write it; None for none."""
    if page is None:
        return None
    return {"page_id": page_id(document, page), "page_number": page, "line_number": line}


def page_id(document: str, page: int | None) -> str | None:
    """Return the accepted name of a page."""
    return None if page is None else f"{document}:page-{page:04d}"


def heading_id(document: str, page: int | None, line: int | None) -> str | None:
    """Return the accepted name of a heading: its first line."""
    return None if page is None else f"{page_id(document, page)}:line-{line:04d}"


def included(document: str, span: Mapping[str, Any]) -> Row:
    """Return the first and the last line of a row of SEGMENT, SLICE or SPAN."""
    return {
        "included_start": coordinate(document, span["start_page"], span["start_line"]),
        "included_end": coordinate(document, span["end_page"], span["end_line"]),
    }
