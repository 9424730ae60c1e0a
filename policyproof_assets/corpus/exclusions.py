"""Lines that belong to no logical source, each with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, model_validator

from policyproof_assets.corpus import roles
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.recitals import Recitals

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
    def _names_groups(self) -> Self:
        names = re.findall(r"\{(.*?)\}", f"{self.reason} {self.division}")
        if unknown := set(names).difference(self.pattern.groupindex, ["slug"]):
            raise ValueError(f"the pattern has no group {', '.join(sorted(unknown))}")
        return self

    def exclusion(self, lines: Lines, position: int, classification: str) -> Exclusion | None:
        """Return why the line at ``position`` is left out, if the rule says so."""
        page = lines.on_page(lines.page[position])
        match = self.pattern.fullmatch(lines.text[position].strip())
        if match is None or position != {"first": page[0], "last": page[-1]}.get(self.at, position):
            return None
        slug = re.sub(r"[^a-z0-9]+", "-", match[0].lower()).strip("-")
        values = {**match.groupdict(), "slug": slug}
        division = self.division and self.division.format(**values)
        return Exclusion(classification, self.reason.format(**values), division)


class RegionRule(_Rules):
    """Lines to leave out from one that matches ``start`` whole up to the next heading."""

    start: re.Pattern[str]
    reason: str


class LedgerRules(_Rules):
    """Which lines are not content; where several rules fit, the one named first gives the reason.

    ``furniture``, then what precedes the first heading if ``front_matter`` gives it a reason (else
    it becomes a source of its own), blank lines, ``footnotes`` among recitals, ``regions``, and
    single lines of ``structure``.
    """

    furniture: tuple[LineRule, ...] = ()
    front_matter: str | None = None
    footnotes: str = "numbered_reference_region"
    regions: tuple[RegionRule, ...] = ()
    structure: tuple[LineRule, ...] = ()


class Exclusion(NamedTuple):
    """Why a line is no content; ``division`` is set where the line opens a part of the document."""

    classification: str
    reason: str
    division: str | None = None


#: Roles of lines that are no content, with their classification and reason.
_ROLES = {
    roles.FURNITURE: Exclusion(FURNITURE, "repeated_on_pages"),
    roles.CONTENTS: Exclusion(STRUCTURE, "list_of_contents"),
    roles.METADATA: Exclusion(FRONT_MATTER, "document_metadata"),
    roles.SEPARATOR: Exclusion(STRUCTURE, "separator"),
}


def exclude_lines(
    lines: Lines,
    headings: Sequence[range],
    recitals: Recitals,
    body_start: int,
    rules: LedgerRules,
) -> dict[int, Exclusion]:
    """Return the excluded positions with their reasons.

    ``headings`` are the positions of each heading, ``body_start`` the first of any logical source.
    A heading's own lines are only excluded where blank.
    """
    inside = {position for heading in headings for position in heading}
    outside = [position for position in range(len(lines)) if position not in inside]
    # What comes later takes precedence.
    found = _match(lines, outside, rules.structure, STRUCTURE)
    found |= _regions(lines, headings, rules.regions)
    found |= dict.fromkeys(recitals.notes, Exclusion(REFERENCE, rules.footnotes))
    blanks = (i for i, text in enumerate(lines.text) if not text.strip())
    found |= dict.fromkeys(blanks, Exclusion(BLANK, "blank_source_line"))
    if rules.front_matter is not None:
        found |= dict.fromkeys(range(body_start), Exclusion(FRONT_MATTER, rules.front_matter))
    found |= _match(lines, outside, rules.furniture, FURNITURE)
    if lines.layout is not None:
        shown = {i: _ROLES.get(lines.layout[i]["role"]) for i in outside}
        found |= {position: exclusion for position, exclusion in shown.items() if exclusion}
    return found


def _match(
    lines: Lines, positions: Iterable[int], rules: Sequence[LineRule], classification: str
) -> dict[int, Exclusion]:
    found: dict[int, Exclusion] = {}
    for position in positions:
        hits = (rule.exclusion(lines, position, classification) for rule in rules)
        if exclusion := next(filter(None, hits), None):
            found[position] = exclusion
    return found


def _regions(
    lines: Lines, headings: Sequence[range], rules: Iterable[RegionRule]
) -> dict[int, Exclusion]:
    found: dict[int, Exclusion] = {}
    for rule in rules:
        for position, text in enumerate(lines.text):
            if position not in found and rule.start.fullmatch(text.strip()):
                stop = min((h.start for h in headings if h.start > position), default=len(lines))
                exclusion = Exclusion(STRUCTURE, rule.reason)
                found |= dict.fromkeys(range(position, stop), exclusion)
    return found
