"""The ledger: every line of a document has exactly one owner or one reason to have none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.logical_sources import FRONT_MATTER, outline
from policyproof_assets.errors import ProvenanceError
from policyproof_assets.schemas import LEDGER

if TYPE_CHECKING:
    from policyproof_assets.corpus.profiles import Profile

CONTENT = "retrieval_content"
HEADING = "heading_context"


def own_lines(
    lines: Lines, headings: pl.DataFrame, units: pl.DataFrame, profile: Profile
) -> pl.DataFrame:
    """Return the columns of LEDGER, one row for every line of the document, in order.

    ``headings`` has the columns of HEADINGS, ``units`` those of UNITS. Raises ProvenanceError with
    the coordinate of a line that has two owners or none.
    """
    excluded = outline(lines, headings, profile).excluded
    # Classification, reason, owner.
    rows = {i: (row.classification, row.reason, None) for i, row in excluded.items()}
    for unit_id, segments in units.select("unit_id", "segments").iter_rows():
        for position in lines.positions_of(segments):
            if position in rows:
                owners = f"{unit_id} and {rows[position][2] or rows[position][1]}"
                raise _conflict(lines, position, "is owned twice", owners)
            rows[position] = CONTENT, None, unit_id
    for position, owner in _heading_lines(lines, headings, units):
        rows.setdefault(position, (HEADING, None, owner))
    for position, text in enumerate(lines.text):
        if position not in rows:
            raise _conflict(lines, position, "is owned by nobody", repr(text[:80]))
    values = [(lines.document_id, *lines.coordinate(i), *rows[i]) for i in range(len(lines))]
    return pl.DataFrame(values, schema=LEDGER, orient="row")


def _heading_lines(
    lines: Lines, headings: pl.DataFrame, units: pl.DataFrame
) -> Iterator[tuple[int, str]]:
    """Yield (position, owner) of every line of a heading or a section's title."""
    for page, start, numbers in headings.select("page", "start_line", "line_numbers").iter_rows():
        owner = f"source:{lines.document_id}:page-{page:04d}:line-{start:04d}"
        yield from ((lines.position(page, number), owner) for number in numbers)
    titled = units.filter((pl.col("kind") == FRONT_MATTER) & pl.col("heading_page").is_not_null())
    columns = "source_key", "heading_page", "heading_start_line"
    for key, page, line in titled.select(columns).iter_rows():
        yield lines.position(page, line), key.rsplit(":", 1)[1]


def _conflict(lines: Lines, position: int, what: str, found: str) -> ProvenanceError:
    page, line = lines.coordinate(position)
    return ProvenanceError(
        f"{lines.document_id}: page {page} line {line} {what}",
        expected="one unit, one heading or one reason to leave it out",
        found=found,
        action="name the line in the profile's ledger rules if it is no content",
    )
