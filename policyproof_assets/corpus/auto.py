"""Headings of a document without a profile, from what its pages show.

A heading is bookmarked, or opens with a word and a number (``Article 5``, ``Annex III``), or with a
number (``2.3``), or is set larger or bolder than the text around it. Its level follows from the
numbers where there are some, else from bookmarks, else from how it is set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import polars as pl

from policyproof_assets.corpus.hyphens import Hyphens
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.outline import levels
from policyproof_assets.corpus.recognize import MAX_CHARS, Found, LayoutHeadingRules, Reader
from policyproof_assets.corpus.reviews import Rows
from policyproof_assets.corpus.typography import Typography
from policyproof_assets.errors import ProvenanceError
from policyproof_assets.schemas import HEADINGS, conform

__all__ = ["LayoutHeadingRules", "find_layout_headings"]

#: HIERARCHY rules of a profile that reads by layout know the types level-1 to level-9.
DEEPEST = 9


def find_layout_headings(
    lines: Lines, rules: LayoutHeadingRules, rows: Rows | None = None
) -> pl.DataFrame:
    """Return the headings of one document (columns of HEADINGS), types ``level-1`` to ``level-9``.

    ``lines`` carry their layout; of the reviewed ``rows``, those of kind ``not_heading`` are taken.
    Raises ProvenanceError if the lines have no layout.
    """
    if lines.layout is None:
        raise ProvenanceError(
            f"{lines.document_id}: the pages carry no layout",
            expected="pages read with extractor layout, markdown or html",
            action="name such an extractor in the profile's [extract]",
        )
    if rules.source == "marked":
        found = list(_marked(lines))
    else:
        found = list(_recognised(lines, rules, rows))
    numbered = [{**row, "order": order} for order, row in enumerate(found, 1)]
    return conform(pl.DataFrame(numbered, schema=HEADINGS), HEADINGS)


def _recognised(
    lines: Lines, rules: LayoutHeadingRules, rows: Rows | None
) -> Iterator[dict[str, Any]]:
    hyphens = Hyphens(lines.text)
    found = Reader(Typography(lines), rules).headings()
    if rows is not None:
        places = (lines.coordinate(heading.first.position) for heading in found)
        refused = [rows.take("not_heading", *place) is not None for place in places]
        found = [h for h, no in zip(found, refused, strict=True) if not no]
    for heading, level in zip(found, levels(found, rules), strict=True):
        yield _row(lines, heading, level, hyphens)


def _marked(lines: Lines) -> Iterator[dict[str, Any]]:
    for position, layout in enumerate(lines.layout or ()):
        if layout["outline"]:
            stop = position + (layout["outline_lines"] or 1)
            text = " ".join(filter(None, map(_unmarked, lines.text[position:stop])))
            if 0 < len(text) <= 2 * MAX_CHARS:
                yield _values(lines, range(position, stop), layout["outline"], text)


#: Signs of Markdown: hashes around a heading, the line under one, emphasis, code, links.
_SIGNS = (
    (re.compile(r"^\s{0,3}(?:>\s?|[-*+]\s+)*#{1,6}(?:\s+|$)|\s+#+\s*$|^\s{0,3}(=+|-+)\s*$"), ""),
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"(\*{1,3}|`+)(\S(?:.*?\S)?)\1"), r"\2"),
)


def _unmarked(text: str) -> str:
    for pattern, replacement in _SIGNS:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


def _row(lines: Lines, found: Found, level: int, hyphens: Hyphens) -> dict[str, Any]:
    texts = [line.text for line in found.lines]
    positions = range(found.lines[0].position, found.lines[-1].position + 1)
    if found.marked and len(texts) > 1:
        title = hyphens.join(texts[1:])
        dash = "" if texts[0].endswith((":", "–", "—", "-")) else " —"
        values = _values(lines, positions, level, f"{texts[0]}{dash} {title}")
        return values | {"marker": texts[0], "title": title, "method": "marker_and_title"}
    values = _values(lines, positions, level, hyphens.join(texts))
    return values | {"method": found.kind}


def _values(lines: Lines, positions: range, level: int, text: str) -> dict[str, Any]:
    page, start = lines.coordinate(positions[0])
    numbers = [lines.line[i] for i in positions if lines.text[i].strip()]
    return {
        "document_id": lines.document_id,
        "type": f"level-{min(level, DEEPEST)}",
        "page": page,
        "start_line": start,
        "end_line": lines.line[positions[-1]],
        "line_numbers": numbers,
        "source_lines": [lines.text[i] for i in positions if lines.text[i].strip()],
        "marker": text,
        "title": "",
        "text": text,
        "method": "marked",
    }
