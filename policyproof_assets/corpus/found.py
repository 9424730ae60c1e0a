"""Headings found in a document, and which of them the whole document shows to be none."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from policyproof_assets.corpus.typography import Line, Typography

#: A date in words, which heads nothing: ``May 2030``, ``1 May 2030``, ``May 1, 2030``.
DATE = re.compile(r"(\d{1,2}\.?\s+)?[^\W\d_]{3,10}\.?\s+(\d{1,2},\s+)?\d{4}")
#: So many numbered or bookmarked headings make a document one that numbers its headings.
_FIRM = 5
#: A style of more than this share of the lines is one of text.
_USUAL = 0.2


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
    """Leave out what the whole document shows to be no heading."""
    judge = _Judge(found, type_)
    return [h for i, h in enumerate(found) if not (h.kind == "style" and judge.refuses(i))]


class _Judge:
    """Looks at headings known by their style alone, beside all that were found."""

    def __init__(self, found: list[Found], type_: Typography) -> None:
        self._found = found
        self._type = type_
        self._title = title_of(found, type_)
        firm = [h.first.position for h in found if h.kind != "style" or h.outline is not None]
        #: Where the numbered or bookmarked headings begin, in a document that has them.
        self._first = firm[0] if len(firm) >= _FIRM else 0
        styles = Counter(h.first.style for h in found if h.kind == "style")
        self._usual = {s for s, n in styles.items() if n > max(3, _USUAL * len(type_.text))}
        heading_text = (h for i, h in enumerate(found) if not self._is_alone(i))
        self._heading = {h.first.style for h in heading_text}

    def refuses(self, index: int) -> bool:
        """Say whether the heading at ``index`` is none."""
        heading = self._found[index]
        if heading is self._title or heading.outline is not None:
            return False
        return (
            DATE.fullmatch(heading.first.text) is not None
            or self._is_letterhead(heading)
            or self._is_byline(index)
            or self._is_plain_bold(heading)
            or self._is_repeated(index)
        )

    def _is_letterhead(self, heading: Found) -> bool:
        """Say whether a line precedes the title on its page."""
        title = self._title and self._title.first
        line = heading.first
        return bool(title and line.page == title.page and line.position < title.position)

    def _is_byline(self, index: int) -> bool:
        """Say whether a line near the title, like authors or a date, heads no text."""
        line = self._found[index].first
        near = self._title is not None and line.page == self._title.first.page
        opens = near or line.position < self._first
        return opens and self._is_alone(index) and not (line.bold or line.style in self._heading)

    def _is_plain_bold(self, heading: Found) -> bool:
        """Say whether bold is a way to set text here, or a label in the front matter."""
        line = heading.first
        early = line.position < self._first
        return not self._type.is_larger(line) and (early or line.style in self._usual)

    def _is_repeated(self, index: int) -> bool:
        """Say whether front matter says the same again, as a second title page does."""
        heading = self._found[index]
        early = heading.first.position < self._first
        return early and any(heading.texts == h.texts for h in self._found[:index])

    def _is_alone(self, index: int) -> bool:
        """Say whether the next heading follows at once."""
        after = self._found[index + 1 : index + 2]
        return any(h.first.position == self._found[index].lines[-1].position + 1 for h in after)


def title_of(found: list[Found], type_: Typography) -> Found | None:
    """Return the heading of the first page with text that is larger than all others."""
    first = type_.text[0].page if type_.text else 0
    own = [h for h in found if h.first.page == first and h.kind in ("style", "bookmark")]
    title = max(own, key=lambda h: h.first.size, default=None)
    others = [h.first.size for h in found if h is not title and title and h.texts != title.texts]
    return title if title and title.first.size > max(others, default=type_.size) else None
