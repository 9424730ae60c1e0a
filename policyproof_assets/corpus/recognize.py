"""Recognises headings among lines that carry their layout: by label, word, number or type."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Literal

from pydantic import BaseModel, ConfigDict

from policyproof_assets.corpus.columns import CELLS
from policyproof_assets.corpus.roles import TABLE, TEXT
from policyproof_assets.corpus.typography import Line, Typography

_LABEL = re.compile(r"(?P<word>[^\W\d_][\w-]{1,19})\s(?P<number>\d+(?:\.\d+)*):\s*\S")
_WORD = re.compile(
    r"(?P<word>[^\W\d_]{4,14})\s(?P<number>\d+(?:\.\d+)*|[IVXLC]+|[A-Z])(?:\s*[.:–—-])?(?P<rest>\s.*)?"
)
#: ``2.3 Title``, ``A.1 Title``; a letter alone may be the first word of a title.
_NUMBER = re.compile(r"(?P<number>(?:[A-Z]\.)?\d{1,3}(?:\.\d{1,3})*)[.)]?\s+(?P<rest>\S.*)")
#: A date in words, which heads nothing: ``May 2030``, ``1 May 2030``, ``May 1, 2030``.
_DATE = re.compile(r"(\d{1,2}\.?\s+)?[^\W\d_]{3,10}\.?\s+(\d{1,2},\s+)?\d{4}")
#: What ends a sentence or a clause, so that a line is none of a heading's.
_OPEN_END = re.compile(r"[.,;:?!]$|\b(a|and|but|by|for|from|in|of|or|that|the|to|with)$")
_SENTENCE_END = re.compile(r"[.!?][”\"')\]]*$")
#: The most characters of a heading's line, and the lines it may wrap into.
MAX_CHARS = 180
_MAX_LINES = 5
#: A labelled statement (``GOVERN 1.1: …``) runs to the end of its sentence, at most so far; so many
#: different numbers make a word the label of statements.
_LABEL_LINES, _LABEL_CHARS, _LABELS = 14, 1_000, 3
#: So many numbered or bookmarked headings make a document one that numbers its headings.
_FIRM = 5
#: A style of more than this share of the lines is one of text.
_USUAL = 0.2


class LayoutHeadingRules(BaseModel):
    """The section [headings] of a profile that finds headings by layout.

    ``source`` is ``layout`` for headings to be recognised, ``marked`` where the document itself
    says what is a heading (Markdown, HTML).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Literal["layout", "marked"]
    #: Words that open a heading with their number, and their rank: a smaller one contains a larger.
    words: dict[str, int] = {}
    #: Those that stand at the top wherever they occur.
    top_words: tuple[str, ...] = ()
    #: Words that open something else with their number.
    captions: tuple[str, ...] = ()


@dataclass
class Found:
    """A heading: its lines, and what it opens with."""

    lines: list[Line]
    kind: Literal["word", "label", "number", "style"]
    word: str = ""
    parts: tuple[str, ...] = ()
    #: Whether the title follows its marker on lines of its own.
    marked: bool = False
    outline: int | None = None
    #: Whether it is the title of the document.
    title: bool = False

    @property
    def first(self) -> Line:
        """The line the heading begins with."""
        return self.lines[0]


class Reader:
    """Finds the headings among the lines of one document."""

    def __init__(self, type_: Typography, rules: LayoutHeadingRules) -> None:
        self._type, self._rules = type_, rules

    def headings(self) -> list[Found]:
        """Return the headings in document order."""
        found: list[Found] = []
        position = 0
        while position < len(self._type.lines):
            heading = self._at(self._type.lines[position])
            found += [heading] if heading else []
            position += len(heading.lines) if heading else 1
        _mark_title(found, self._type)
        return list(_plausible(found, self._type))

    def _at(self, line: Line) -> Found | None:
        if line.role not in (TEXT, TABLE) or not any(c.isalpha() for c in line.text):
            return None
        found = self._label(line)
        if found or line.role == TABLE or len(line.text) > MAX_CHARS:
            return found
        found = self._word(line) or self._numbered(line) or self._styled(line)
        if line.outline is not None:
            found = found or Found([line], "style")
            count = max(line.outline_lines or 1, len(found.lines))
            found.outline = line.outline
            found.lines = self._type.lines[line.position : line.position + count]
        return found

    def _label(self, line: Line) -> Found | None:
        """``GOVERN 1.1: Requirements are …``: a word with a number in bold opens a sentence."""
        label = _bold_label(line)
        if not label or self._label_words[label[0]] < _LABELS:
            return None
        found = Found([line], "label", label[0], tuple(label[1].split(".")))
        for after in self._type.following(line, _LABEL_LINES):
            last = found.lines[-1]
            ends = _SENTENCE_END.search(last.text) or _LABEL.match(after.text)
            if ends or after.role != line.role or not last.precedes(after):
                break
            found.lines.append(after)
        return found if sum(len(line.text) for line in found.lines) <= _LABEL_CHARS else None

    @cached_property
    def _label_words(self) -> Counter[str]:
        """How many numbers each word has that opens labels in bold."""
        labels = {label for line in self._type.lines if (label := _bold_label(line))}
        known = {*self._rules.captions, *self._rules.words}
        return Counter(word for word, _ in labels if word not in known)

    def _word(self, line: Line) -> Found | None:
        match = _WORD.fullmatch(line.text)
        word = match["word"].casefold() if match else ""
        if match is None or word not in self._rules.words:
            return None
        rest = (match["rest"] or "").strip(" .:–—-")
        # ``Section 3 applies …`` is a sentence; a marker alone must be set apart from the text.
        set_off = self._type.stands_out(line) or (not rest and self._type.is_centred(line))
        if not set_off or rest[:1].islower():
            return None
        found = Found([line], "word", word, (match["number"],), marked=not rest)
        return self._wrapped(found) if rest else self._with_title(found)

    def _numbered(self, line: Line) -> Found | None:
        match = _NUMBER.fullmatch(line.text)
        if match is None or _DATE.fullmatch(line.text) or not self._type.stands_out(line):
            return None
        rest = match["rest"]
        if rest[0].islower() or not any(c.isalpha() for c in rest) or rest.endswith((";", ",")):
            return None
        return self._wrapped(Found([line], "number", parts=tuple(match["number"].split("."))))

    def _styled(self, line: Line) -> Found | None:
        # ``Owner: Head of metering`` in bold is a field, not a heading.
        apart = self._type.is_apart(line) and ": " not in line.text
        set_off = self._type.is_larger(line) or apart
        if not (set_off and self._type.stands_out(line) and self._reads_as_title(line.text)):
            return None
        found = self._wrapped(Found([line], "style"))
        return found if found and not _OPEN_END.search(found.lines[-1].text) else None

    def _reads_as_title(self, text: str) -> bool:
        if _DATE.fullmatch(text):
            return True  # so that a byline above it is seen to head no text
        first = next((c for c in text if c.isalnum()), "")
        letters = sum(c.isalpha() for c in text)
        caption = text.split(maxsplit=1)[0].casefold().rstrip(".:") in self._rules.captions
        address = CELLS in text or "://" in text
        wordy = letters >= max(3, 0.5 * len(text.replace(" ", "")))
        return wordy and not (caption or address or first.islower())

    def _wrapped(self, found: Found) -> Found | None:
        """Add the lines a heading wraps into; None if there are too many for a heading."""
        for after in self._type.following(found.first, _MAX_LINES):
            last = found.lines[-1]
            goes_on = after.style == last.style and last.precedes(after) and after.outline is None
            if after.role != TEXT or not goes_on or self._opens(after):
                break
            found.lines.append(after)
        length = sum(len(line.text) for line in found.lines)
        return found if len(found.lines) <= _MAX_LINES and length <= 2 * MAX_CHARS else None

    def _opens(self, line: Line) -> bool:
        word = _WORD.fullmatch(line.text)
        known = word is not None and word["word"].casefold() in self._rules.words
        return known or bool(_NUMBER.fullmatch(line.text))

    def _with_title(self, found: Found) -> Found:
        """Add the title below a marker: lines of one style that are centred or stand out."""
        for after in self._type.following(found.first, _MAX_LINES):
            last = found.lines[-1]
            first = last is found.first
            fits = self._type.is_centred(after) or self._type.stands_out(after)
            same = first or after.style == last.style
            near = after.base - last.base < (2.5 if first else 1.6) * max(after.size, last.size)
            if after.role != TEXT or not (fits and same and near) or self._opens(after):
                break
            found.lines.append(after)
        return found


def _plausible(found: list[Found], type_: Typography) -> Iterator[Found]:
    """Yield the headings that the whole document does not show to be none.

    Near the title a line may be a byline, which another heading follows at once. Bold of the size
    of the text may be a label in the front matter, or the way a document sets its text.
    """
    title = next((h.first for h in found if h.title), None)
    firm = [h.first.position for h in found if h.kind != "style" or h.outline is not None]
    starts = firm[0] if len(firm) >= _FIRM else 0
    styles = Counter(h.first.style for h in found if h.kind == "style")
    usual = {s for s, n in styles.items() if n > max(3, _USUAL * len(type_.text))}
    for heading, after in zip_longest(found, found[1:]):
        line, early = heading.first, heading.first.position < starts
        opens = early or (title is not None and line.page == title.page)
        alone = after is not None and after.first.position == heading.lines[-1].position + 1
        byline = opens and alone and not line.bold
        plain = not type_.is_larger(line) and (early or line.style in usual)
        sure = heading.kind != "style" or heading.title or heading.outline is not None
        if sure or not (byline or plain):
            yield heading


def _mark_title(found: list[Found], type_: Typography) -> None:
    """Mark the heading of the first page with text that is larger than all others on it."""
    page = type_.text[0].page if type_.text else 0
    own = [h for h in found if h.first.page == page and h.kind == "style"]
    title = max(own, key=lambda h: h.first.size, default=None)
    if title:
        # A second title page says the same again.
        texts = [line.text for line in title.lines]
        others = [h for h in found if [line.text for line in h.lines] != texts]
        largest = max((h.first.size for h in others), default=type_.size)
        title.title = title.first.size > max(largest, type_.size)


def _bold_label(line: Line) -> tuple[str, str] | None:
    """Return word and number that open a line in bold, as in ``GOVERN 1.1: …``."""
    match = _LABEL.match(line.text)
    if not match or line.lead < match.end("number"):
        return None
    return match["word"].casefold(), match["number"]
