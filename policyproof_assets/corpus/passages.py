"""Passages: logical sources cut into pieces of text that fit the models' token budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import polars as pl
from pydantic import BaseModel, ConfigDict, model_validator

from policyproof_assets.corpus.boundaries import entry_ordinals, safe_boundaries
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.logical_sources import HEADING_ONLY
from policyproof_assets.corpus.partition import Piece, line_pieces, loosened, partition
from policyproof_assets.corpus.reviews import Review, Rows
from policyproof_assets.errors import ProvenanceError
from policyproof_assets.schemas import PASSAGES
from policyproof_runtime.tokenize import TokenCounter

if TYPE_CHECKING:
    from policyproof_assets.corpus.profiles import Profile


class PassageRules(BaseModel):
    """The token budget of a passage, its label included.

    With ``strict`` a source that cannot be cut at safe boundaries and reviewed places stops the
    build; without, it is cut at line ends, and inside lines too long for one passage.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    target: int = 384
    hard: int = 445
    strict: bool = True

    @model_validator(mode="after")
    def _target_fits(self) -> Self:
        if not 0 < self.target <= self.hard:
            raise ValueError("a passage's target is above 0 and at most its hard limit")
        return self


@dataclass
class _Source:
    """A logical source as its units tell it, its pieces, and the tokens of its label and pieces."""

    key: str
    kind: str
    label: str
    path: Sequence[str]
    unit_ids: list[str]
    end: str
    positions: list[int]
    #: Of the entry each position is in, where the source is a reference list.
    ordinals: Mapping[int, int | None]
    pieces: list[Piece]
    label_tokens: int = 0
    tokens: list[int] = field(default_factory=list)

    def ends(self, rules: PassageRules) -> list[int] | None:
        """Return where the best partition ends its passages, None if there is none."""
        cuts = {i: piece.cut[1] for i, piece in enumerate(self.pieces[:-1], 1) if piece.cut}
        return partition(
            self.tokens, cuts, label=self.label_tokens, hard=rules.hard, target=rules.target
        )


def pack_passages(
    lines: Lines,
    units: pl.DataFrame,
    hierarchy: pl.DataFrame,
    profile: Profile,
    review: Review,
    counter: TokenCounter,
) -> pl.DataFrame:
    """Cut the logical sources of one document into passages; returns the columns of PASSAGES.

    ``units`` and ``hierarchy`` have the columns of UNITS and HIERARCHY. Of ``review`` the kinds
    ``reject_boundary`` and ``cut_in_line`` are used here. Raises ReviewError if one does not match
    or decides nothing, ProvenanceError if a source cannot be cut.
    """
    rows = review.of(lines, "reject_boundary", "cut_in_line")
    paths = dict(hierarchy.select("node_id", "path").iter_rows())
    groups = units.sort("order").group_by("source_key", maintain_order=True)
    sources = [_source(lines, parts, paths, profile, rows) for _, parts in groups]
    rows.finish()
    texts = [text for s in sources for text in [s.label, *(p.text(lines) for p in s.pieces)]]
    counts = iter(counter.count_all(texts))
    found: list[dict[str, Any]] = []
    for source in sources:
        source.label_tokens = next(counts)
        source.tokens = [next(counts) for _ in source.pieces]
        found += _passages(lines, source, profile.passages, counter)
    return pl.DataFrame(found, schema=PASSAGES)


def _source(
    lines: Lines, parts: pl.DataFrame, paths: Mapping[str, Any], profile: Profile, rows: Rows
) -> _Source:
    first = parts.row(0, named=True)
    positions = lines.positions_of(segment for part in parts["segments"] for segment in part)
    texts = [lines.text[position] for position in positions]
    ordinals = entry_ordinals(texts, first["label"], profile.units.references)
    pieces: list[Piece] = []
    if first["kind"] != HEADING_ONLY:
        cuts = safe_boundaries(lines, positions, ordinals, profile.units.boundaries, rows)
        reviewed = {i: rows.take("cut_in_line", *lines.coordinate(i)) for i in positions}
        anchors = {position: row.char for position, row in reviewed.items() if row}
        pieces = list(line_pieces(positions, cuts, anchors))
    return _Source(
        key=first["source_key"],
        kind=first["kind"],
        label=first["label"],
        path=paths.get(first["node_id"]) or [first["label"]],
        unit_ids=parts["unit_id"].to_list(),
        end=parts["boundary"][-1],
        positions=positions,
        ordinals=dict(zip(positions, ordinals, strict=True)),
        pieces=pieces,
    )


def _passages(
    lines: Lines, source: _Source, rules: PassageRules, counter: TokenCounter
) -> Iterator[dict[str, Any]]:
    if source.kind == HEADING_ONLY:
        if source.label_tokens > rules.hard:
            raise _uncuttable(lines, source, rules.hard)
        yield _heading_row(lines, source)
        return
    ends = source.ends(rules)
    loose = ends is None and not rules.strict
    if loose:
        limit = max(rules.hard - source.label_tokens, 1)
        source.pieces = list(loosened(lines, source.pieces, source.tokens, limit))
        source.tokens = counter.count_all(piece.text(lines) for piece in source.pieces)
        ends = source.ends(rules)
    if ends is None:
        raise _uncuttable(lines, source, rules.hard)
    for number, (start, stop) in enumerate(pairwise([0, *ends]), 1):
        row = _row(lines, source, source.pieces[start:stop], number, len(ends))
        tokens = source.label_tokens + sum(source.tokens[start:stop])
        # Of a word that was cut the parts' counts need not add up.
        yield row | {"tokens": counter.count(row["retrieval_text"]) if loose else tokens}


def _row(
    lines: Lines, source: _Source, pieces: Sequence[Piece], number: int, count: int
) -> dict[str, Any]:
    positions = list(dict.fromkeys(piece.position for piece in pieces))
    start, stop, cut = pieces[0].start, pieces[-1].stop, pieces[-1].cut
    texts = [lines.text[position] for position in positions]
    texts[-1] = texts[-1][:stop]
    texts[0] = texts[0][start:]
    text = lines.joined(positions, [text.strip() for text in texts])
    slices = lines.segments(positions)
    slices[0]["start_char"] = start
    slices[-1]["end_char"] = stop
    last = number == count
    return _common(lines, source, number, count) | {
        "slices": slices,
        "coordinates": len(positions),
        "boundary": source.end if last or cut is None else cut[0],
        "boundary_page": lines.page[positions[-1]],
        "boundary_line": lines.line[positions[-1]],
        "boundary_char": None if last else stop,
        "entry_first": source.ordinals[positions[0]],
        "entry_last": source.ordinals[positions[-1]],
        "retrieval_text": f"{source.label}\n\n{text}",
        "citation_text": text,
    }


def _heading_row(lines: Lines, source: _Source) -> dict[str, Any]:
    return _common(lines, source, 1, 1) | {
        "slices": lines.segments(source.positions),
        "coordinates": len(source.positions),
        "boundary": source.end,
        "boundary_page": lines.page[source.positions[-1]],
        "boundary_line": lines.line[source.positions[-1]],
        "retrieval_text": source.label,
        "citation_text": source.label,
        "tokens": source.label_tokens,
    }


def _common(lines: Lines, source: _Source, number: int, count: int) -> dict[str, Any]:
    return {
        "document_id": lines.document_id,
        "passage_id": f"{source.key}:passage-{number:03d}",
        "source_key": source.key,
        "kind": source.kind,
        "number": number,
        "count": count,
        "label": source.label,
        "path": source.path,
        "unit_ids": source.unit_ids,
    }


def _uncuttable(lines: Lines, source: _Source, hard: int) -> ProvenanceError:
    page, line = lines.coordinate(source.positions[0])
    return ProvenanceError(
        f"{lines.document_id}: “{source.label}” from page {page} line {line} does not fit passages",
        expected=f"safe boundaries that leave at most {hard} tokens between them",
        found="a longer run without one",
        action="add a reviewed cut_in_line for it, or a profile rule for its boundaries",
    )
