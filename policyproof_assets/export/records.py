"""What the accepted JSON-lines records have in common: encoding and the names of places."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

Row = dict[str, Any]


def json_lines(records: Iterable[Row]) -> Iterator[bytes]:
    """Encode records as the accepted files do: fields in order, UTF-8, one record a line."""
    for record in records:
        yield (json.dumps(record, ensure_ascii=False) + "\n").encode()


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
