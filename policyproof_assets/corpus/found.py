"""Headings found in a document, and which of them the whole document shows to be none."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from policyproof_assets.corpus.typography import Line, Typography

#: So many numbered or bookmarked headings make a document one that numbers its headings.
_FIRM = 5


@dataclass
class Found:
    """A heading: the positions of its lines, and what it opens with."""

    lines: list[Line]
    kind: Literal["word", "label", "number", "letter", "style", "bookmark"]
    word: str = ""
    parts: tuple[str, ...] = ()
    #: The words of the marker, where the title follows on lines of its own.
    marker: str = ""
    outline: int | None = None

    @property
    def first(self) -> Line:
        """The line the heading begins with."""
        return self.lines[0]

    @property
    def texts(self) -> list[str]:
        """The texts of its lines."""
        return [line.text for line in self.lines]


def plausible(found: list[Found], type_: Typography) -> list[Found]:
    """Leave out what the whole document shows to be no heading.

    A style of so many lines in bold is a way to set text. What precedes the title is its
    letterhead; lines below it that look like nothing later and head no text are authors and
    dates. In a document with numbered or bookmarked headings, lines merely in bold before the
    first of them belong to the front matter, and so does a title that is repeated.
    """
    firm = [h.first.position for h in found if h.kind != "style" or h.outline is not None]
    first = firm[0] if len(firm) >= _FIRM else 0
    title = title_of(found, type_)
    opening = max(first, title.first.position + 1 if title else 0)
    styles = Counter(h.first.style for h in found if h.kind == "style")
    usual = {s for s, n in styles.items() if n > max(3, 0.2 * len(type_.text))}
    later = {h.first.style for h in found if h.first.position > opening}
    seen: list[list[str]] = []
    kept: list[Found] = []
    for heading, after in zip_longest(found, found[1:]):
        again, line = heading.texts in seen, heading.first
        seen.append(heading.texts)
        if heading.kind == "style" and heading.outline is None and heading is not title:
            plain = not type_.is_larger(line)
            alone = after and after.first.position == heading.lines[-1].position + 1
            before = (
                title and line.page == title.first.page and line.position < title.first.position
            )
            byline = (
                line.style not in later and alone and (line.position < opening or line.page == 1)
            )
            if before or byline or (plain and (line.position < first or line.style in usual)):
                continue
            if again and line.position < opening:
                continue
        kept.append(heading)
    return kept


def title_of(found: list[Found], type_: Typography) -> Found | None:
    """Return the heading of the first page with text that is larger than all others."""
    first = type_.text[0].page if type_.text else 0
    own = [h for h in found if h.first.page == first and h.kind in ("style", "bookmark")]
    title = max(own, key=lambda h: h.first.size, default=None)
    others = [h.first.size for h in found if h is not title and title and h.texts != title.texts]
    return title if title and title.first.size > max(others, default=type_.size) else None
