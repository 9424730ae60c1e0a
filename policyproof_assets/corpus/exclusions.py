"""Lines that belong to no logical source, each with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

import polars as pl
from pydantic import BaseModel, ConfigDict, model_validator

from policyproof_assets.corpus import roles
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.recitals import Recitals, check_format

FURNITURE = "excluded_page_furniture"
FRONT_MATTER = "excluded_frontmatter_metadata"
STRUCTURE = "excluded_structural_metadata"
REFERENCE = "excluded_reference_region"
BLANK = "excluded_blank_line"


class _Rules(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LineRule(_Rules):
    """A line to leave out: its stripped text matches ``pattern`` whole.

    ``at`` limits it to the first or last line of a page. ``reason`` and ``division`` are format
    strings over the pattern's named groups and ``slug``, the text in lower case with hyphens;
    ``division`` names the part of the document that the line opens.
    """

    pattern: re.Pattern[str]
    reason: str
    at: Literal["any", "first", "last"] = "any"
    division: str | None = None

    @model_validator(mode="after")
    def _usable(self) -> LineRule:
        values = dict.fromkeys([*self.pattern.groupindex, "slug"], "")
        check_format(self.reason, values)
        check_format(self.division or "", values)
        return self


class RegionRule(_Rules):
    """Lines to leave out from one that matches ``start`` whole up to the next heading."""

    start: re.Pattern[str]
    reason: str


class LedgerRules(_Rules):
    """Which lines are not content, in the order they are tried.

    ``furniture`` before all, then what precedes the first heading if ``front_matter`` gives it a
    reason (else it becomes a source of its own), blank lines, footnotes among recitals,
    ``regions``, and single lines of ``structure``.
    """

    furniture: tuple[LineRule, ...] = ()
    front_matter: str | None = None
    blank: str = "blank_source_line"
    footnotes: str = "numbered_reference_region"
    regions: tuple[RegionRule, ...] = ()
    structure: tuple[LineRule, ...] = ()


class Exclusion(NamedTuple):
    """Why a line is no content; ``division`` is set where the line opens a part of the document."""

    classification: str
    reason: str
    division: str | None = None


def heading_positions(lines: Lines, headings: pl.DataFrame) -> list[range]:
    """Return the positions of each heading: rows of HEADINGS, or source rows of HIERARCHY."""
    rows = headings.select("page", "start_line", "end_line").iter_rows()
    return [
        range(lines.position(page, start), lines.position(page, end) + 1)
        for page, start, end in rows
    ]


def exclude_lines(
    lines: Lines,
    headings: Iterable[range],
    recitals: Recitals,
    body_start: int,
    rules: LedgerRules,
) -> dict[int, Exclusion]:
    """Return the excluded positions with their reasons.

    ``headings`` are the positions of each heading, ``body_start`` the first position of any logical
    source. A heading's own lines are only excluded where blank.
    """
    headings = list(headings)
    inside = {position for heading in headings for position in heading}
    found = _match(lines, rules.furniture, FURNITURE, inside) | _by_layout(lines, inside)
    if rules.front_matter is not None:
        front = Exclusion(FRONT_MATTER, rules.front_matter)
        found = dict.fromkeys(range(body_start), front) | found
    blank = Exclusion(BLANK, rules.blank)
    blanks = {i: blank for i, text in enumerate(lines.text) if not text.strip()}
    notes = dict.fromkeys(recitals.notes, Exclusion(REFERENCE, rules.footnotes))
    regions = _regions(lines, headings, rules.regions)
    structure = _match(lines, rules.structure, STRUCTURE, inside)
    return structure | regions | notes | blanks | found


#: Roles of lines that are no content, with their classification and reason.
_ROLES = {
    roles.FURNITURE: (FURNITURE, "repeated_on_pages"),
    roles.CONTENTS: (STRUCTURE, "list_of_contents"),
    roles.METADATA: (FRONT_MATTER, "document_metadata"),
    roles.SEPARATOR: (STRUCTURE, "separator"),
}


def _by_layout(lines: Lines, skip: set[int]) -> dict[int, Exclusion]:
    """Return the lines whose role, where the pages carry a layout, is not content."""
    return {
        position: Exclusion(*_ROLES[layout["role"]])
        for position, layout in enumerate(lines.layout or ())
        if layout["role"] in _ROLES and position not in skip
    }


def _match(
    lines: Lines, rules: Iterable[LineRule], classification: str, skip: set[int]
) -> dict[int, Exclusion]:
    rules = tuple(rules)
    found: dict[int, Exclusion] = {}
    for position, text in enumerate(lines.text):
        if position in skip:
            continue
        for rule in rules:
            match = rule.pattern.fullmatch(text.strip())
            if match and _stands(lines, position, rule.at):
                found[position] = _exclusion(match, rule, classification)
                break
    return found


def _stands(lines: Lines, position: int, at: str) -> bool:
    page = lines.on_page(lines.page[position])
    return at == "any" or position == (page[0] if at == "first" else page[-1])


def _exclusion(match: re.Match[str], rule: LineRule, classification: str) -> Exclusion:
    slug = re.sub(r"[^a-z0-9]+", "-", match[0].lower()).strip("-")
    values = {**match.groupdict(), "slug": slug}
    division = rule.division and rule.division.format(**values)
    return Exclusion(classification, rule.reason.format(**values), division)


def _regions(
    lines: Lines, headings: list[range], rules: Iterable[RegionRule]
) -> dict[int, Exclusion]:
    stops = sorted(heading.start for heading in headings)
    found: dict[int, Exclusion] = {}
    for rule in rules:
        for position, text in enumerate(lines.text):
            if position not in found and rule.start.fullmatch(text.strip()):
                stop = next((s for s in stops if s > position), len(lines))
                exclusion = Exclusion(STRUCTURE, rule.reason)
                found |= dict.fromkeys(range(position, stop), exclusion)
    return found
