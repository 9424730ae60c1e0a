"""Passages: logical sources cut into pieces of text that fit the models' token budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import polars as pl
from pydantic import BaseModel, ConfigDict, model_validator

from policyproof_assets.corpus import units as unit_rules
from policyproof_assets.corpus.boundaries import safe_boundaries
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.logical_sources import HEADING_ONLY
from policyproof_assets.corpus.partition import partition
from policyproof_assets.corpus.pieces import Piece, line_pieces, loosened
from policyproof_assets.corpus.references import ReferenceRules, rules_for
from policyproof_assets.corpus.reviews import Review, Rows
from policyproof_assets.corpus.segments import joined, runs, segment, segment_positions
from policyproof_assets.errors import ProvenanceError
from policyproof_assets.schemas import PASSAGES, conform
from policyproof_runtime.tokenize import TokenCounter


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
    def _target_fits(self) -> PassageRules:
        if not 0 < self.target <= self.hard:
            raise ValueError("a passage's target is above 0 and at most its hard limit")
        return self


class Profile(unit_rules.Profile, Protocol):
    """The sections of a profile that passages read."""

    @property
    def passages(self) -> PassageRules:
        """Packing by tokens."""


@dataclass(frozen=True)
class _Source:
    """A logical source as its units tell it."""

    key: str
    kind: str
    label: str
    unit_ids: tuple[str, ...]
    end: str
    positions: tuple[int, ...]
    path: tuple[str, ...]
    heading: dict[str, int] | None


@dataclass(frozen=True)
class _Counted:
    """A source with its pieces and the tokens of its label and of every piece."""

    source: _Source
    pieces: Sequence[Piece]
    label: int
    weights: Sequence[int]

    def ends(self, rules: PassageRules) -> list[int] | None:
        """Return where the best partition ends its passages, None if there is none."""
        cuts = {i: piece.cut[1] for i, piece in enumerate(self.pieces[:-1], 1) if piece.cut}
        return partition(self.weights, cuts, label=self.label, hard=rules.hard, target=rules.target)


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
    sources = _sources(lines, units, hierarchy)
    cut = [_pieces(lines, source, profile, rows) for source in sources]
    rows.finish()
    tokens = iter(
        counter.count_all(
            text
            for source, pieces in zip(sources, cut, strict=True)
            for text in [source.label, *(piece.text(lines) for piece in pieces)]
        )
    )
    found: list[dict[str, Any]] = []
    for source, pieces in zip(sources, cut, strict=True):
        counted = _Counted(source, pieces, next(tokens), [next(tokens) for _ in pieces])
        found += _passages(lines, counted, profile, counter)
    return conform(pl.DataFrame(found, schema=PASSAGES), PASSAGES)


def _sources(lines: Lines, units: pl.DataFrame, hierarchy: pl.DataFrame) -> list[_Source]:
    paths = dict(hierarchy.select("node_id", "path").iter_rows())
    found = []
    for _, parts in units.sort("order").group_by("source_key", maintain_order=True):
        first = parts.row(0, named=True)
        segments = [row for part in parts["segments"] for row in part]
        found.append(
            _Source(
                key=first["source_key"],
                kind=first["kind"],
                label=first["label"],
                unit_ids=tuple(parts["unit_id"]),
                end=parts["boundary"][-1],
                positions=tuple(segment_positions(lines, segments)),
                path=tuple(paths.get(first["node_id"]) or (first["label"],)),
                heading=_heading(lines, first),
            )
        )
    return found


def _heading(lines: Lines, unit: Mapping[str, Any]) -> dict[str, int] | None:
    """Return the lines of a unit's heading if their words are its label and nothing else."""
    page, first, last = (unit[f"heading_{part}"] for part in ("page", "start_line", "end_line"))
    if page is None:
        return None
    printed = [lines.text[lines.position(page, n)] for n in range(first, last + 1)]
    if "".join("".join(printed).split()) != "".join(unit["label"].split()):
        return None
    return {"start_page": page, "start_line": first, "end_page": page, "end_line": last}


def _pieces(lines: Lines, source: _Source, profile: Profile, rows: Rows) -> list[Piece]:
    if source.kind == HEADING_ONLY:
        return []
    references = rules_for(source.label, profile.units.references)
    cuts = safe_boundaries(lines, source.positions, profile.units.boundaries, rows, references)
    anchors = {}
    for position in source.positions:
        if row := rows.take("cut_in_line", *lines.coordinate(position)):
            anchors[position] = row.char
    return line_pieces(source.positions, cuts, anchors)


def _passages(
    lines: Lines, counted: _Counted, profile: Profile, counter: TokenCounter
) -> list[dict[str, Any]]:
    source, rules = counted.source, profile.passages
    if source.kind == HEADING_ONLY:
        return [_heading_row(lines, source, counted.label, rules)]
    ends = counted.ends(rules)
    loose = ends is None and not rules.strict
    if loose:
        counted = _loosen(lines, counted, rules.hard, counter)
        ends = counted.ends(rules)
    if ends is None:
        raise _uncuttable(lines, source, rules.hard)
    found = _rows(lines, counted, ends, rules_for(source.label, profile.units.references))
    # Of a word that was cut the parts' counts need not add up.
    return (
        [row | {"tokens": counter.count(row["retrieval_text"])} for row in found]
        if loose
        else found
    )


def _loosen(lines: Lines, counted: _Counted, hard: int, counter: TokenCounter) -> _Counted:
    limit = max(hard - counted.label, 1)
    pieces = list(loosened(lines, counted.pieces, counted.weights, limit))
    weights = counter.count_all(piece.text(lines) for piece in pieces)
    return _Counted(counted.source, pieces, counted.label, weights)


def _rows(
    lines: Lines, counted: _Counted, ends: Sequence[int], references: ReferenceRules | None
) -> list[dict[str, Any]]:
    source = counted.source
    starts = unit_rules.list_entries(lines, source.positions, references)
    order = {position: i for i, position in enumerate(source.positions)}
    found = []
    for number, (start, stop) in enumerate(pairwise([0, *ends]), 1):
        part = counted.pieces[start:stop]
        tokens = counted.label + sum(counted.weights[start:stop])
        row = _row(lines, source, (number, len(ends)), part, tokens)
        first, last = order[part[0].position], order[part[-1].position]
        found.append(row | unit_rules.entries(starts, first, last + 1))
    return found


def _row(
    lines: Lines,
    source: _Source,
    number: tuple[int, int],
    pieces: Sequence[Piece],
    tokens: int,
) -> dict[str, Any]:
    start, stop = pieces[0].start, pieces[-1].stop
    positions = list(dict.fromkeys(piece.position for piece in pieces))
    texts = [lines.text[position].strip() for position in positions]
    if len(positions) == 1:
        texts = [lines.text[positions[0]][start:stop].strip()]
    else:
        texts[0] = lines.text[positions[0]][start:].strip()
        texts[-1] = lines.text[positions[-1]][:stop].strip()
    text = joined(lines, positions, texts)
    last = number[0] == number[1]
    cut = pieces[-1].cut
    return {
        **_common(lines, source, number, positions),
        "slices": _slices(lines, positions, start, stop),
        "boundary": source.end if last or cut is None else cut[0],
        "boundary_char": None if last else stop,
        "retrieval_text": f"{source.label}\n\n{text}",
        "citation_text": text,
        "tokens": tokens,
    }


def _heading_row(lines: Lines, source: _Source, tokens: int, rules: PassageRules) -> dict[str, Any]:
    if tokens > rules.hard:
        raise _uncuttable(lines, source, rules.hard)
    return {
        **_common(lines, source, (1, 1), source.positions),
        "slices": _slices(lines, source.positions, None, None),
        "boundary": source.end,
        "boundary_char": None,
        "retrieval_text": source.label,
        "citation_text": source.label,
        "tokens": tokens,
        **unit_rules.entries(None, 0, 0),
    }


def _common(
    lines: Lines, source: _Source, number: tuple[int, int], positions: Sequence[int]
) -> dict[str, Any]:
    return {
        "document_id": lines.document_id,
        "passage_id": f"{source.key}:passage-{number[0]:03d}",
        "source_key": source.key,
        "kind": source.kind,
        "number": number[0],
        "count": number[1],
        "label": source.label,
        "heading": source.heading,
        "path": list(source.path),
        "unit_ids": list(source.unit_ids),
        "coordinates": len(positions),
        "boundary_page": lines.page[positions[-1]],
        "boundary_line": lines.line[positions[-1]],
    }


def _slices(
    lines: Lines, positions: Sequence[int], start: int | None, stop: int | None
) -> list[dict[str, int | None]]:
    found: list[dict[str, int | None]] = [
        {**segment(lines, *run), "start_char": None, "end_char": None}
        for run in runs(lines, positions)
    ]
    found[0]["start_char"] = start
    found[-1]["end_char"] = stop
    return found


def _uncuttable(lines: Lines, source: _Source, hard: int) -> ProvenanceError:
    page, line = lines.coordinate(source.positions[0])
    return ProvenanceError(
        f"{lines.document_id}: “{source.label}” from page {page} line {line} does not fit passages",
        expected=f"safe boundaries that leave at most {hard} tokens between them",
        found="a longer run without one",
        action="add a reviewed cut_in_line for it, or a profile rule for its boundaries",
    )
