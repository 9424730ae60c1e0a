"""Logical sources: the texts that are packed each on its own, with all their content lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict

from policyproof_assets.corpus.exclusions import (
    Exclusion,
    LedgerRules,
    exclude_lines,
    heading_positions,
)
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.recitals import RecitalRules, Recitals, scan_recitals

HEADING_BODY = "heading_body"
HEADING_ONLY = "heading_only"
FRONT_MATTER = "frontmatter_body"


class SectionRule(BaseModel):
    """A section before the first heading that is content: its title line, whole, and its key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: re.Pattern[str]
    key: str
    context: str | None = None


class SourceRules(BaseModel):
    """What is a logical source besides the text below a heading.

    ``opening`` is the label of the text before the first heading, in documents whose ledger rules
    do not exclude it. A heading without children is evidence itself if it has ``no_content`` (no
    line that is not excluded) or only if no line at all follows it (``empty_span``).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    recitals: RecitalRules | None = None
    sections: tuple[SectionRule, ...] = ()
    opening: str = "Opening text"
    bare_headings: Literal["no_content", "empty_span"] = "no_content"


@dataclass(frozen=True)
class Source:
    """One logical source: its content lines as ``positions``; ``key`` ends its identifier.

    ``heading`` are the positions of the lines that head it, if any.
    """

    key: str
    kind: str
    label: str
    positions: tuple[int, ...]
    node_id: str | None = None
    number: int | None = None
    nodes: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    heading: range | None = None

    @property
    def label_words(self) -> int:
        """Words that the label adds to every unit; none where the label is the text."""
        return 0 if self.kind == HEADING_ONLY else len(self.label.split())


@dataclass(frozen=True)
class Outline:
    """The marks that divide a document into logical sources, all as positions of its lines."""

    headings: tuple[range, ...]
    sections: tuple[tuple[int, SectionRule], ...]
    recitals: Recitals

    @property
    def first_heading(self) -> int | None:
        """Position of the first heading."""
        return min((heading.start for heading in self.headings), default=None)

    def body_start(self, size: int) -> int:
        """Return the first position of any logical source, ``size`` if there is none."""
        marks = [position for position, _ in self.sections]
        marks += [*self.recitals.starts[:1], *(heading.start for heading in self.headings)]
        return min(marks, default=size)


def outline(lines: Lines, headings: pl.DataFrame, rules: SourceRules) -> Outline:
    """Locate headings (HEADINGS, or source rows of HIERARCHY), sections and recitals."""
    spans = tuple(heading_positions(lines, headings))
    limit = min((span.start for span in spans), default=len(lines))
    sections = [
        (position, rule)
        for rule in rules.sections
        for position in _title_lines(lines, rule.title, limit)
    ]
    recitals = scan_recitals(lines, rules.recitals)
    return Outline(spans, tuple(sorted(sections, key=lambda item: item[0])), recitals)


def exclusions(lines: Lines, marks: Outline, rules: LedgerRules) -> dict[int, Exclusion]:
    """Return the lines that belong to no source, with their reasons."""
    start = marks.body_start(len(lines))
    return exclude_lines(lines, marks.headings, marks.recitals, start, rules)


def find_sources(
    lines: Lines,
    hierarchy: pl.DataFrame,
    spans: pl.DataFrame,
    rules: SourceRules,
    ledger: LedgerRules,
) -> list[Source]:
    """Return the logical sources of a document in its order.

    ``hierarchy`` has the columns of HIERARCHY, ``spans`` those of SPANS. Sources without content
    are left out, except headings that have neither text nor children: they are evidence themselves.
    """
    marks = outline(lines, hierarchy.filter(pl.col("kind") == "source"), rules)
    excluded = exclusions(lines, marks, ledger)
    found = [
        *_opening(lines, marks, excluded, rules),
        *_sections(lines, marks, excluded),
        *_recitals(marks, excluded, rules.recitals),
        *_bodies(lines, hierarchy, spans, excluded, rules.bare_headings),
    ]
    return sorted(found, key=lambda source: source.positions[0])


def _title_lines(lines: Lines, title: re.Pattern[str], limit: int) -> Iterator[int]:
    return (i for i in range(limit) if title.fullmatch(lines.text[i].strip()))


def _content(excluded: Mapping[int, Exclusion], start: int, stop: int) -> tuple[int, ...]:
    return tuple(position for position in range(start, stop) if position not in excluded)


def _opening(
    lines: Lines, marks: Outline, excluded: Mapping[int, Exclusion], rules: SourceRules
) -> Iterator[Source]:
    content = _content(excluded, 0, marks.body_start(len(lines)))
    if content:
        yield Source("opening", FRONT_MATTER, rules.opening, content)


def _sections(lines: Lines, marks: Outline, excluded: Mapping[int, Exclusion]) -> Iterator[Source]:
    first = marks.first_heading
    divisions = [position for position, row in excluded.items() if row.division]
    stops = [position for position, _ in marks.sections] + divisions
    stops.append(len(lines) if first is None else first)
    for position, rule in marks.sections:
        stop = min(stop for stop in stops if stop > position)
        content = _content(excluded, position + 1, stop)
        if content:
            context = (rule.context,) if rule.context else ()
            label = lines.text[position].strip()
            heading = range(position, position + 1)
            yield Source(rule.key, FRONT_MATTER, label, content, context=context, heading=heading)


def _recitals(
    marks: Outline,
    excluded: Mapping[int, Exclusion],
    rules: RecitalRules | None,
) -> Iterator[Source]:
    if rules is None:
        return
    stops = [*marks.recitals.starts[1:], marks.recitals.end]
    for number, (start, stop) in enumerate(zip(marks.recitals.starts, stops, strict=False), 1):
        yield Source(
            key=rules.key.format(number=number),
            kind=rules.kind,
            label=rules.label.format(number=number),
            positions=_content(excluded, start, stop),
            number=number,
            context=(rules.context,) if rules.context else (),
        )


def _bodies(
    lines: Lines,
    hierarchy: pl.DataFrame,
    spans: pl.DataFrame,
    excluded: Mapping[int, Exclusion],
    bare: str,
) -> Iterator[Source]:
    bodies = dict(spans.select("node_id", "direct_body").iter_rows())
    parents = set(hierarchy["parent_id"])
    divisions = sorted((p, row.division) for p, row in excluded.items() if row.division)
    for row in hierarchy.filter(pl.col("kind") == "source").iter_rows(named=True):
        heading = range(
            lines.position(row["page"], row["start_line"]),
            lines.position(row["page"], row["end_line"]) + 1,
        )
        content = _span_content(lines, bodies[row["node_id"]], excluded)
        kind = HEADING_BODY
        if not content:
            unread = bare == "empty_span" and not _is_empty(bodies[row["node_id"]])
            if unread or row["node_id"] in parents:
                continue
            kind, content = HEADING_ONLY, _content(excluded, heading.start, heading.stop)
        yield _body(row, kind, content, heading, divisions)


def _span_content(
    lines: Lines, span: Mapping[str, int | None] | None, excluded: Mapping[int, Exclusion]
) -> tuple[int, ...]:
    if span is None or _is_empty(span):
        return ()
    start = lines.position(span["start_page"], span["start_line"])
    stop = lines.position(span["end_page"], span["end_line"]) + 1
    return _content(excluded, start, stop)


def _is_empty(span: Mapping[str, int | None]) -> bool:
    return span["start_page"] is None


def _body(
    row: Mapping[str, Any],
    kind: str,
    content: tuple[int, ...],
    heading: range,
    divisions: list[tuple[int, str]],
) -> Source:
    inside = [division for position, division in divisions if position < heading.start]
    return Source(
        key=row["node_id"],
        kind=kind,
        label=row["heading"],
        positions=content,
        node_id=row["node_id"],
        # Where the heading is the text it is no context of itself.
        nodes=(*row["ancestors"], *([row["node_id"]] if kind == HEADING_BODY else [])),
        context=tuple(inside[-1:]),
        heading=heading,
    )
