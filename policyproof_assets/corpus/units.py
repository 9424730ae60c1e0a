"""Units: logical sources packed into runs of lines under a word budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

import polars as pl
from pydantic import BaseModel, ConfigDict

from policyproof_assets.corpus.boundaries import BoundaryRules, safe_boundaries
from policyproof_assets.corpus.exclusions import LedgerRules
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.logical_sources import (
    HEADING_ONLY,
    Source,
    SourceRules,
    find_sources,
)
from policyproof_assets.corpus.references import ReferenceRules, entry_starts, rules_for
from policyproof_assets.corpus.reviews import Review, Rows
from policyproof_assets.corpus.segments import runs, segment
from policyproof_assets.errors import ProvenanceError
from policyproof_assets.schemas import UNITS, conform

END = "end_of_source_unit"
HEADING_END = "end_of_heading_source"
LINE_END = "at_line_end"


class UnitRules(BaseModel):
    """How logical sources are found and packed; budgets are words, the label's included.

    With ``strict`` a source that has no safe boundary within the hard limit stops the build;
    without, it is cut at a line's end, and a longer line becomes a unit of its own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    target: int = 384
    hard: int = 512
    strict: bool = True
    sources: SourceRules = SourceRules()
    boundaries: BoundaryRules = BoundaryRules()
    references: tuple[ReferenceRules, ...] = ()


class Profile(Protocol):
    """The sections of a profile that packing reads."""

    @property
    def units(self) -> UnitRules:
        """Packing by words."""

    @property
    def ledger(self) -> LedgerRules:
        """Lines that are no content."""


def pack_units(  # noqa: PLR0913 - one argument for each input of the phase
    lines: Lines,
    hierarchy: pl.DataFrame,
    spans: pl.DataFrame,
    profile: Profile,
    review: Review,
    *,
    namespace: str,
) -> pl.DataFrame:
    """Pack the logical sources of one document; returns the columns of UNITS.

    ``namespace`` opens every identifier. Of ``review`` the kinds ``reject_boundary`` and
    ``long_source`` are used here. Raises ReviewError if one does not match or decides nothing,
    ProvenanceError if a source cannot be packed.
    """
    rows = review.of(lines, "reject_boundary", "long_source")
    sources = find_sources(lines, hierarchy, spans, profile.units.sources, profile.ledger)
    prefix = f"{namespace}:{lines.document_id}"
    found: list[dict[str, Any]] = []
    for source in sources:
        found += _rows(lines, source, profile.units, rows, prefix)
    rows.finish()
    found = [row | {"order": order} for order, row in enumerate(found, 1)]
    return conform(pl.DataFrame(found, schema=UNITS), UNITS)


def pack(
    words: Sequence[int], boundaries: Sequence[str | None], target: int, hard: int, *, strict: bool
) -> list[tuple[int, int, str]] | None:
    """Cut lines of ``words`` into (start, stop, boundary) greedily; None if that cannot be done.

    If the rest fits under ``hard`` it is taken; else a unit ends at the first boundary at or after
    ``target`` and not beyond ``hard``, else at the last one before it.
    """
    total = [0, *accumulate(words)]
    found, start = [], 0
    while total[-1] - total[start] > hard:
        ends = [i for i in range(start + 1, len(words)) if total[i] - total[start] <= hard]
        safe = [i for i in ends if boundaries[i - 1]]
        if not safe and strict:
            return None
        if not safe:
            stop = ends[-1] if ends else start + 1
        else:
            stop = next((i for i in safe if total[i] - total[start] >= target), safe[-1])
        if stop == len(words):
            break
        found.append((start, stop, boundaries[stop - 1] or LINE_END))
        start = stop
    return [*found, (start, len(words), END)]


class _Part(NamedTuple):
    """Part ``number`` of ``count`` of a source: its lines, their words, how it ends, its limit."""

    positions: tuple[int, ...]
    words: int
    boundary: str
    number: int
    count: int
    hard: int


def _rows(
    lines: Lines, source: Source, rules: UnitRules, rows: Rows, prefix: str
) -> Iterator[dict[str, Any]]:
    long = rows.take("long_source", *lines.coordinate(source.positions[0]))
    hard = long.limit if long else rules.hard
    if source.kind == HEADING_ONLY:
        words = len(source.label.split())
        yield _row(lines, source, _Part(source.positions, words, HEADING_END, 1, 1, hard), prefix)
        return
    references = rules_for(source.label, rules.references)
    cuts = safe_boundaries(lines, source.positions, rules.boundaries, rows, references)
    words = [len(lines.text[position].split()) for position in source.positions]
    context = source.label_words
    parts = pack(words, cuts, rules.target - context, hard - context, strict=rules.strict)
    if parts is None:
        raise _unpackable(lines, source, hard, sum(words) + context)
    starts = list_entries(lines, source.positions, references)
    for number, (start, stop, boundary) in enumerate(parts, 1):
        taken = source.positions[start:stop], sum(words[start:stop])
        part = _Part(*taken, boundary, number, len(parts), hard)
        yield _row(lines, source, part, prefix) | entries(starts, start, stop)


def list_entries(
    lines: Lines, positions: Sequence[int], references: ReferenceRules | None
) -> list[int] | None:
    """Return the indices of the lines that start an entry; None if it is no reference list."""
    if references is None:
        return None
    return entry_starts([lines.text[position].strip() for position in positions], references)


def entries(starts: Sequence[int] | None, first: int, stop: int) -> dict[str, int | None]:
    """Return the ordinals, from 1, of the first and last entry in lines ``first`` to ``stop``."""
    if starts is None:
        return {"entry_first": None, "entry_last": None}
    before = sum(start < first for start in starts)
    return {"entry_first": before + 1, "entry_last": sum(start < stop for start in starts)}


def _row(lines: Lines, source: Source, part: _Part, prefix: str) -> dict[str, Any]:
    key = f"{prefix}:{source.key}"
    words = source.label_words
    return {
        "document_id": lines.document_id,
        "unit_id": f"{key}:part-{part.number:03d}",
        "source_key": key,
        "kind": source.kind,
        "part": part.number,
        "parts": part.count,
        "label": source.label,
        "node_id": source.node_id,
        "number": source.number,
        "context_nodes": list(source.nodes),
        "structural_context": list(source.context),
        **_heading(lines, source.heading),
        "segments": [segment(lines, *run) for run in runs(lines, part.positions)],
        "coordinates": len(part.positions),
        "content_words": part.words,
        "context_words": words,
        # A single line over the limit, which only a lenient profile lets through, sets its own.
        "hard_limit": max(part.hard, part.words + words),
        "boundary": part.boundary,
        **entries(None, 0, 0),
    }


def _heading(lines: Lines, heading: range | None) -> dict[str, int | None]:
    if heading is None:
        return {"heading_page": None, "heading_start_line": None, "heading_end_line": None}
    return {
        "heading_page": lines.page[heading[0]],
        "heading_start_line": lines.line[heading[0]],
        "heading_end_line": lines.line[heading[-1]],
    }


def _unpackable(lines: Lines, source: Source, hard: int, words: int) -> ProvenanceError:
    page, line = lines.coordinate(source.positions[0])
    return ProvenanceError(
        f"{lines.document_id}: “{source.label}” from page {page} line {line} has no safe boundary",
        expected=f"a boundary within {hard} words",
        found=f"{words} words",
        action="add a reviewed long_source for it, or a profile rule for its boundaries",
    )
