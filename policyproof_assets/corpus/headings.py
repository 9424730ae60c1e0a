"""Headings of one document: lines that match a pattern of its profile, and what continues them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from policyproof_assets.corpus.auto import LayoutHeadingRules, find_layout_headings
from policyproof_assets.corpus.hyphens import Hyphens
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.reviews import Review, Rows
from policyproof_assets.schemas import HEADINGS

if TYPE_CHECKING:
    from policyproof_assets.corpus.profiles import Profile


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HeadingPattern(_Model):
    """How one kind of heading is printed; the first pattern a line matches decides."""

    type: str
    #: Matches the whole line, white space collapsed.
    pattern: re.Pattern[str]
    #: What belongs to the heading below its first line: nothing, one line, all lines until a body
    #: opens, or all lines until one ends a sentence.
    continuation: Literal["none", "title_line", "until_body", "until_sentence_end"] = "none"
    #: How the heading reads: of its lines, or of the first line and the others.
    form: Literal["{lines}", "{marker} {title}", "{marker} — {title}"] = "{lines}"
    #: The name under which records say how the heading was put together.
    method: str = "single_line"
    #: Only below a heading of one of these types.
    below: tuple[str, ...] = ()
    #: Not on a page below a heading of one of these types, where the line is a reference.
    not_below_on_page: tuple[str, ...] = ()

    def is_complete(self, texts: Sequence[str]) -> bool:
        """Tell whether a heading that has the lines ``texts`` cannot go on."""
        match self.continuation:
            case "none":
                return True
            case "title_line":
                return len(texts) > 1
            case "until_sentence_end":
                return _SENTENCE_END.search(texts[-1]) is not None
            case "until_body":
                return False


class Repair(_Model):
    """A fault of the extracted text that is typical of this kind of document."""

    pattern: re.Pattern[str]
    replacement: str


class HeadingRules(_Model):
    """The section [headings] of a profile."""

    patterns: tuple[HeadingPattern, ...] = Field(min_length=1)
    #: A longer line is prose.
    max_chars: PositiveInt = 180
    #: Lines of the page's frame or of a table's; no heading begins with or continues over one.
    furniture: tuple[re.Pattern[str], ...] = ()
    #: Lines that open the body below a heading.
    body: tuple[re.Pattern[str], ...] = ()
    repairs: tuple[Repair, ...] = ()


#: A line that ends so ends a sentence, closing quotes and brackets included.
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*$")
#: A page with such a line lists headings and has none.
_CONTENTS = re.compile(r"(?i)(table of )?contents")


def find_headings(lines: Lines, profile: Profile, review: Review) -> pl.DataFrame:
    """Return the headings of one document in its order (columns of HEADINGS).

    Raises ReviewError where a reviewed heading, hyphen or correction does not match the source or
    changes nothing.
    """
    rules = profile.headings
    rows = review.of(lines, "heading", "not_heading", "keep_hyphen", "correct_text")
    if isinstance(rules, LayoutHeadingRules):
        headings = find_layout_headings(lines, rules, rows)
    else:
        found = _Reader(lines, rules, rows).headings()
        numbered = [{**heading, "order": order} for order, heading in enumerate(found, start=1)]
        headings = pl.DataFrame(numbered, schema=HEADINGS)
    rows.finish()
    return headings


@dataclass
class _Reader:
    lines: Lines
    rules: HeadingRules
    rows: Rows

    def __post_init__(self) -> None:
        self.texts = [" ".join(text.split()) for text in self.lines.text]
        self.hyphens = Hyphens(self.texts)

    def headings(self) -> list[dict[str, object]]:
        firsts = self._first_lines()
        return [
            self._heading(self._extent(position, pattern, firsts), pattern)
            for position, pattern in firsts.items()
        ]

    def _first_lines(self) -> dict[int, HeadingPattern]:
        firsts: dict[int, HeadingPattern] = {}
        above: set[str] = set()  # types of headings
        for page in self.lines.pages:
            positions = self.lines.on_page(page)
            if any(_CONTENTS.fullmatch(self.texts[i]) for i in positions):
                continue
            on_page: set[str] = set()
            for position in positions:
                if pattern := self._pattern_at(position, above, on_page):
                    firsts[position] = pattern
                    above.add(pattern.type)
                    on_page.add(pattern.type)
        return firsts

    def _pattern_at(
        self, position: int, above: set[str], on_page: set[str]
    ) -> HeadingPattern | None:
        coordinate, text = self.lines.coordinate(position), self.texts[position]
        if reviewed := self.rows.take("heading", *coordinate):
            return self._pattern_of(reviewed.type)
        if len(text) > self.rules.max_chars or _any(self.rules.furniture, text):
            return None
        for pattern in self.rules.patterns:
            if (
                pattern.pattern.fullmatch(text)
                and (not pattern.below or above.intersection(pattern.below))
                and not on_page.intersection(pattern.not_below_on_page)
            ):
                return None if self.rows.take("not_heading", *coordinate) else pattern
        return None

    def _pattern_of(self, kind: str) -> HeadingPattern:
        """Return the pattern a reviewed heading of type ``kind`` is read by."""
        known = (pattern for pattern in self.rules.patterns if pattern.type == kind)
        return next(known, HeadingPattern(type=kind, pattern=re.compile("")))

    def _extent(
        self, first: int, pattern: HeadingPattern, firsts: dict[int, HeadingPattern]
    ) -> list[int]:
        """Return the positions of the heading's lines; it ends with its page at the latest."""
        extent = [first]
        for position in range(first + 1, self.lines.on_page(self.lines.page[first]).stop):
            text = self.texts[position]
            if position in firsts or _any((*self.rules.furniture, *self.rules.body), text):
                break
            if pattern.is_complete([self.texts[i] for i in extent]):
                break
            if text:
                extent.append(position)
        return extent

    def _heading(self, extent: list[int], pattern: HeadingPattern) -> dict[str, object]:
        texts = [self.texts[i] for i in extent]
        return {
            "document_id": self.lines.document_id,
            "type": pattern.type,
            "page": self.lines.page[extent[0]],
            "start_line": self.lines.line[extent[0]],
            "end_line": self.lines.line[extent[-1]],
            "line_numbers": [self.lines.line[i] for i in extent],
            "source_lines": texts,
            "marker": texts[0],
            "title": " ".join(texts[1:]) if "{title}" in pattern.form else "",
            "text": self._normal(extent, pattern),
            "method": pattern.method,
        }

    def _normal(self, extent: list[int], pattern: HeadingPattern) -> str:
        """Return the heading in its form, with wrap hyphens removed and faults repaired."""
        if "{title}" not in pattern.form or len(extent) == 1:
            text = self._join(extent)
        else:
            text = pattern.form.format(marker=self._join(extent[:1]), title=self._join(extent[1:]))
        for repair in self.rules.repairs:
            text = repair.pattern.sub(repair.replacement, text)
        return text

    def _join(self, extent: list[int]) -> str:
        text = ""
        for before, position in pairwise((extent[0], *extent)):
            line = self._corrected(position)
            is_wrap = self.hyphens.is_wrap(text, line)
            reviewed = is_wrap and self.rows.take("keep_hyphen", *self.lines.coordinate(before))
            text = f"{text}{line}" if reviewed else self.hyphens.joined(text, line)
        return text.strip()

    def _corrected(self, position: int) -> str:
        row = self.rows.take("correct_text", *self.lines.coordinate(position))
        text = self.texts[position]
        return text.replace(row.text, row.replacement) if row else text


def _any(patterns: Sequence[re.Pattern[str]], text: str) -> bool:
    return any(pattern.fullmatch(text) for pattern in patterns)
