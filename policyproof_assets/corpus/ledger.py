"""The ledger: every line of a document has exactly one owner or one reason to have none."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from policyproof_assets.corpus.exclusions import Exclusion
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.logical_sources import FRONT_MATTER, exclusions, outline
from policyproof_assets.corpus.segments import segment_positions
from policyproof_assets.corpus.units import Profile
from policyproof_assets.errors import ProvenanceError
from policyproof_assets.schemas import LEDGER, conform

CONTENT = "retrieval_content"
HEADING = "heading_context"


class _Entry(NamedTuple):
    classification: str
    reason: str | None = None
    owner: str | None = None


def own_lines(
    lines: Lines, headings: pl.DataFrame, units: pl.DataFrame, profile: Profile
) -> pl.DataFrame:
    """Return the columns of LEDGER, one row for every line of the document, in order.

    ``headings`` has the columns of HEADINGS, ``units`` those of UNITS. Raises ProvenanceError with
    the coordinate of a line that has two owners or none.
    """
    entries = _excluded(
        exclusions(lines, outline(lines, headings, profile.units.sources), profile.ledger)
    )
    for position, entry in _content(lines, units):
        if position in entries:
            raise _conflict(lines, position, entries[position], entry)
        entries[position] = entry
    for position, entry in _headings(lines, headings, units):
        entries.setdefault(position, entry)
    missing = next((i for i in range(len(lines)) if i not in entries), None)
    if missing is not None:
        raise _conflict(lines, missing, None, None)
    return conform(_frame(lines, entries), LEDGER)


def _excluded(rows: dict[int, Exclusion]) -> dict[int, _Entry]:
    return {i: _Entry(row.classification, reason=row.reason) for i, row in rows.items()}


def _content(lines: Lines, units: pl.DataFrame) -> list[tuple[int, _Entry]]:
    """Return the content lines; in a heading that is its own text a blank line is left out."""
    found = []
    for unit_id, segments in units.select("unit_id", "segments").iter_rows():
        entry = _Entry(CONTENT, owner=unit_id)
        found += [(position, entry) for position in segment_positions(lines, segments)]
    return found


def _headings(
    lines: Lines, headings: pl.DataFrame, units: pl.DataFrame
) -> list[tuple[int, _Entry]]:
    found = []
    for page, start, numbers in headings.select("page", "start_line", "line_numbers").iter_rows():
        node_id = f"source:{lines.document_id}:page-{page:04d}:line-{start:04d}"
        entry = _Entry(HEADING, owner=node_id)
        found += [(lines.position(page, number), entry) for number in numbers]
    titled = units.filter((pl.col("kind") == FRONT_MATTER) & pl.col("heading_page").is_not_null())
    columns = "source_key", "heading_page", "heading_start_line"
    for key, page, line in titled.select(columns).unique(maintain_order=True).iter_rows():
        owner = key.rsplit(":", 1)[1]
        found.append((lines.position(page, line), _Entry(HEADING, owner=owner)))
    return found


def _frame(lines: Lines, entries: dict[int, _Entry]) -> pl.DataFrame:
    rows = [entries[i] for i in range(len(lines))]
    return pl.DataFrame(
        {
            "document_id": [lines.document_id] * len(lines),
            "page": list(lines.page),
            "line": list(lines.line),
            "classification": [row.classification for row in rows],
            "reason": [row.reason for row in rows],
            "owner": [row.owner for row in rows],
        },
        schema=LEDGER,
    )


def _conflict(
    lines: Lines, position: int, first: _Entry | None, second: _Entry | None
) -> ProvenanceError:
    page, line = lines.coordinate(position)
    if first is None or second is None:
        found, what = repr(lines.text[position][:80]), "is owned by nobody"
    else:
        what = "is owned twice"
        found = f"{first.owner or first.reason} and {second.owner or second.reason}"
    return ProvenanceError(
        f"{lines.document_id}: page {page} line {line} {what}",
        expected="one unit, one heading or one reason to leave it out",
        found=found,
        action="name the line in the profile's ledger rules if it is no content",
    )
