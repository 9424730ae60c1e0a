"""Units: logical sources packed into runs of lines under a word budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import polars as pl
from pydantic import BaseModel, ConfigDict

from policyproof_assets.corpus.boundaries import (
    BoundaryRules,
    ReferenceRules,
    entry_ordinals,
    safe_boundaries,
)
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.logical_sources import (
    HEADING_ONLY,
    Source,
    SourceRules,
    find_sources,
)
from policyproof_assets.corpus.reviews import Review, Rows
from policyproof_assets.errors import ProvenanceError
from policyproof_assets.schemas import UNITS

if TYPE_CHECKING:
    from policyproof_assets.corpus.profiles import Profile

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


def pack_units(
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
    found: list[dict[str, Any]] = []
    for source in find_sources(lines, hierarchy, spans, profile):
        key = f"{namespace}:{lines.document_id}:{source.key}"
        found += _units(lines, source, profile.units, rows, key)
    rows.finish()
    return pl.DataFrame(
        [row | {"order": order} for order, row in enumerate(found, 1)], schema=UNITS
    )


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


def _units(
    lines: Lines, source: Source, rules: UnitRules, rows: Rows, key: str
) -> Iterator[dict[str, Any]]:
    texts = [lines.text[position] for position in source.positions]
    words = [len(text.split()) for text in texts]
    # Where the label is the text it adds no words.
    context = 0 if source.kind == HEADING_ONLY else len(source.label.split())
    long = rows.take("long_source", *lines.coordinate(source.positions[0]))
    hard = long.limit if long else rules.hard
    ordinals = entry_ordinals(texts, source.label, rules.references)
    if source.kind == HEADING_ONLY:
        words = [len(source.label.split()), *(0 for _ in texts[1:])]
        parts = [(0, len(texts), HEADING_END)]
    else:
        cuts = safe_boundaries(lines, source.positions, ordinals, rules.boundaries, rows)
        parts = pack(words, cuts, rules.target - context, hard - context, strict=rules.strict)
        if parts is None:
            raise _unpackable(lines, source, hard, sum(words) + context)
    for number, (start, stop, boundary) in enumerate(parts, 1):
        content = sum(words[start:stop])
        yield _source_values(lines, source) | {
            "unit_id": f"{key}:part-{number:03d}",
            "source_key": key,
            "part": number,
            "parts": len(parts),
            "segments": lines.segments(source.positions[start:stop]),
            "coordinates": stop - start,
            "content_words": content,
            "context_words": context,
            # A single line over the limit, which only a lenient profile lets through, sets its own.
            "hard_limit": max(hard, content + context),
            "boundary": boundary,
            "entry_first": ordinals[start],
            "entry_last": ordinals[stop - 1],
        }


def _source_values(lines: Lines, source: Source) -> dict[str, Any]:
    heading = source.heading
    return {
        "document_id": lines.document_id,
        "kind": source.kind,
        "label": source.label,
        "node_id": source.node_id,
        "number": source.number,
        "context_nodes": source.nodes,
        "structural_context": source.context,
        "heading_page": heading and lines.page[heading[0]],
        "heading_start_line": heading and lines.line[heading[0]],
        "heading_end_line": heading and lines.line[heading[-1]],
    }


def _unpackable(lines: Lines, source: Source, hard: int, words: int) -> ProvenanceError:
    page, line = lines.coordinate(source.positions[0])
    return ProvenanceError(
        f"{lines.document_id}: “{source.label}” from page {page} line {line} has no safe boundary",
        expected=f"a boundary within {hard} words",
        found=f"{words} words",
        action="add a reviewed long_source for it, or a profile rule for its boundaries",
    )
