"""Logical sources: the texts that are packed each on its own, with all their content lines."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict

from policyproof_assets.corpus.exclusions import Exclusion, exclude_lines
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.recitals import RecitalRules, Recitals, scan_recitals

if TYPE_CHECKING:
    from policyproof_assets.corpus.profiles import Profile

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

    ``heading`` are the positions of the lines that head it, if any; ``nodes`` and ``context`` name
    the headings and parts of the document it stands in.
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


@dataclass(frozen=True)
class Outline:
    """What divides a document into logical sources, all as positions of its lines."""

    headings: tuple[range, ...]
    sections: tuple[tuple[int, SectionRule], ...]
    recitals: Recitals
    #: The first position of any logical source but the opening.
    body_start: int
    excluded: Mapping[int, Exclusion]

    def content(self, start: int, stop: int) -> tuple[int, ...]:
        """Return the positions from ``start`` to ``stop`` (exclusive) that are not excluded."""
        return tuple(i for i in range(start, stop) if i not in self.excluded)


def outline(lines: Lines, headings: pl.DataFrame, profile: Profile) -> Outline:
    """Locate headings (HEADINGS, or source rows of HIERARCHY), sections, recitals, exclusions."""
    rules = profile.units.sources
    columns = headings.select("page", "start_line", "end_line").iter_rows()
    spans = tuple(_heading(lines, *place) for place in columns)
    first = min((span.start for span in spans), default=len(lines))
    sections = sorted(
        ((i, rule) for rule in rules.sections for i in _title_lines(lines, rule.title, first)),
        key=lambda section: section[0],
    )
    recitals = scan_recitals(lines, rules.recitals)
    start = min([first, *recitals.starts[:1], *(position for position, _ in sections)])
    excluded = exclude_lines(lines, spans, recitals, start, profile.ledger)
    return Outline(spans, tuple(sections), recitals, start, excluded)


def find_sources(
    lines: Lines, hierarchy: pl.DataFrame, spans: pl.DataFrame, profile: Profile
) -> list[Source]:
    """Return the logical sources of a document in its order.

    ``hierarchy`` has the columns of HIERARCHY, ``spans`` those of SPANS. Sources without content
    are left out, except headings that have neither text nor children: they are evidence themselves.
    """
    rules = profile.units.sources
    marks = outline(lines, hierarchy.filter(pl.col("kind") == "source"), profile)
    opening = Source("opening", FRONT_MATTER, rules.opening, marks.content(0, marks.body_start))
    found = [
        opening,
        *_sections(lines, marks),
        *_recitals(marks, rules.recitals),
        *_bodies(lines, marks, hierarchy, spans, rules.bare_headings),
    ]
    return sorted((s for s in found if s.positions), key=lambda source: source.positions[0])


def _heading(lines: Lines, page: int, start: int, end: int) -> range:
    return range(lines.position(page, start), lines.position(page, end) + 1)


def _title_lines(lines: Lines, title: re.Pattern[str], limit: int) -> Iterator[int]:
    return (i for i in range(limit) if title.fullmatch(lines.text[i].strip()))


def _sections(lines: Lines, marks: Outline) -> Iterator[Source]:
    stops = [position for position, row in marks.excluded.items() if row.division]
    stops += [position for position, _ in marks.sections]
    stops += [min((heading.start for heading in marks.headings), default=len(lines))]
    for position, rule in marks.sections:
        stop = min(stop for stop in stops if stop > position)
        yield Source(
            rule.key,
            FRONT_MATTER,
            label=lines.text[position].strip(),
            positions=marks.content(position + 1, stop),
            context=(rule.context,) if rule.context else (),
            heading=range(position, position + 1),
        )


def _recitals(marks: Outline, rules: RecitalRules | None) -> Iterator[Source]:
    if rules is None:
        return
    starts, _, end = marks.recitals
    for number, (start, stop) in enumerate(zip(starts, [*starts[1:], end], strict=False), 1):
        yield Source(
            rules.key.format(number=number),
            rules.kind,
            label=rules.label.format(number=number),
            positions=marks.content(start, stop),
            number=number,
            context=(rules.context,) if rules.context else (),
        )


def _bodies(
    lines: Lines, marks: Outline, hierarchy: pl.DataFrame, spans: pl.DataFrame, bare: str
) -> Iterator[Source]:
    bodies = dict(spans.select("node_id", "direct_body").iter_rows())
    parents = set(hierarchy["parent_id"])
    divisions = sorted((p, e.division) for p, e in marks.excluded.items() if e.division)
    for row in hierarchy.filter(pl.col("kind") == "source").iter_rows(named=True):
        body = bodies[row["node_id"]]
        is_empty = body is None or body["start_page"] is None
        below = () if is_empty else lines.positions_of([body])
        content = tuple(position for position in below if position not in marks.excluded)
        if content:
            yield _body(lines, marks, row, divisions, content)
        elif (is_empty or bare == "no_content") and row["node_id"] not in parents:
            yield _body(lines, marks, row, divisions, ())


def _body(
    lines: Lines,
    marks: Outline,
    row: Mapping[str, Any],
    divisions: Sequence[tuple[int, str]],
    content: tuple[int, ...],
) -> Source:
    heading = _heading(lines, row["page"], row["start_line"], row["end_line"])
    inside = bisect_left(divisions, heading.start, key=itemgetter(0))
    return Source(
        key=row["node_id"],
        kind=HEADING_BODY if content else HEADING_ONLY,
        label=row["heading"],
        positions=content or marks.content(heading.start, heading.stop),
        node_id=row["node_id"],
        # Where the heading is the text it is no context of itself.
        nodes=(*row["ancestors"], *([row["node_id"]] if content else [])),
        context=tuple(division for _, division in divisions[max(0, inside - 1) : inside]),
        heading=heading,
    )
