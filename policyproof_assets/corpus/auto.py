"""Headings of a document without a profile, from what its pages show.

A heading is bookmarked, or opens with a word and a number (``Article 5``, ``Annex III``), or with a
number (``2.3``), or is set larger or bolder than the text around it. Its level follows from the
numbers where there are some, else from bookmarks, else from how it is set.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, PositiveFloat, PositiveInt

from policyproof_assets.corpus.columns import CELLS
from policyproof_assets.corpus.hyphens import Hyphens
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.outline import Entry, levels
from policyproof_assets.corpus.reviews import Rows
from policyproof_assets.corpus.roles import TABLE, TEXT
from policyproof_assets.errors import ProvenanceError
from policyproof_assets.schemas import HEADINGS, conform

#: HIERARCHY rules of a profile that reads by layout know the types level-1 to level-9.
DEEPEST = 9


class LayoutHeadingRules(BaseModel):
    """The section [headings] of a profile that finds headings by layout.

    ``source`` is ``layout`` for headings to be recognised, ``marked`` where the document itself
    says what is a heading (Markdown, HTML). Sizes and distances are shares of the text's size.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Literal["layout", "marked"]
    max_chars: PositiveInt = 180
    max_lines: PositiveInt = 5
    #: A labelled statement (``GOVERN 1.1: …``) runs to the end of its sentence, at most so far.
    max_label_lines: PositiveInt = 14
    larger: PositiveFloat = 1.08
    #: A line set apart has this much more than the usual distance above it.
    apart: PositiveFloat = 1.25
    #: Words that open a heading with their number, and their rank: a smaller one contains a larger.
    words: dict[str, int] = {}
    #: Those that stand at the top wherever they occur.
    top_words: tuple[str, ...] = ()
    #: Words that open something else with their number.
    captions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """A line with its layout; ``position`` among the document's lines."""

    position: int
    page: int
    text: str
    role: str
    size: float
    bold: bool
    italic: bool
    lead: int
    x0: float
    x1: float
    base: float
    column: int
    outline: int | None
    outline_lines: int | None

    @property
    def style(self) -> tuple[float, bool, bool]:
        """What two lines of one heading have in common."""
        return self.size, self.bold, self.italic


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


def find_layout_headings(
    lines: Lines, rules: LayoutHeadingRules, rows: Rows | None = None
) -> pl.DataFrame:
    """Return the headings of one document (columns of HEADINGS), types ``level-1`` to ``level-9``.

    ``lines`` carry their layout; of the reviewed ``rows``, those of kind ``not_heading`` are taken.
    Raises ProvenanceError if the lines have no layout.
    """
    if lines.layout is None:
        raise ProvenanceError(
            f"{lines.document_id}: the pages carry no layout",
            expected="pages read with extractor layout, markdown or html",
            action="name such an extractor in the profile's [extract]",
        )
    if rules.source == "marked":
        rows = list(_marked(lines))
    else:
        page = Reader(lines, rules)
        found = [h for h in page.headings() if not _is_refused(h.first, lines, rows)]
        rows = [
            _row(lines, heading, level, page.hyphens)
            for heading, level in zip(found, levels(page.entries(found)), strict=True)
        ]
    numbered = [{**row, "order": order} for order, row in enumerate(rows, 1)]
    return conform(pl.DataFrame(numbered, schema=HEADINGS), HEADINGS)


def _is_refused(line: Line, lines: Lines, rows: Rows | None) -> bool:
    place = lines.coordinate(line.position)
    return rows is not None and rows.take("not_heading", *place) is not None


def _marked(lines: Lines) -> Iterator[dict[str, Any]]:
    for position, layout in enumerate(lines.layout or ()):
        if layout["outline"]:
            stop = position + (layout["outline_lines"] or 1)
            texts = [_unmarked(text) for text in lines.text[position:stop]]
            yield _values(
                lines, range(position, stop), layout["outline"], " ".join(filter(None, texts))
            )


#: Signs of Markdown: hashes around a heading, the line under one, emphasis, code, links.
_SIGNS = (
    (re.compile(r"^\s{0,3}(?:>\s?|[-*+]\s+)*#{1,6}(?:\s+|$)|\s+#+\s*$|^\s{0,3}(=+|-+)\s*$"), ""),
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"(\*{1,3}|`+)(\S(?:.*?\S)?)\1"), r"\2"),
)


def _unmarked(text: str) -> str:
    for pattern, replacement in _SIGNS:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


def _row(lines: Lines, found: Found, level: int, hyphens: Hyphens) -> dict[str, Any]:
    texts = [line.text for line in found.lines]
    positions = range(found.lines[0].position, found.lines[-1].position + 1)
    if found.marker and len(texts) > 1:
        title = _joined(texts[1:], hyphens)
        dash = "" if texts[0].endswith((":", "–", "—", "-")) else " —"
        values = _values(lines, positions, level, f"{texts[0]}{dash} {title}")
        return values | {"marker": texts[0], "title": title, "method": "marker_and_title"}
    values = _values(lines, positions, level, _joined(texts, hyphens))
    return values | {"method": found.kind}


def _values(lines: Lines, positions: range, level: int, text: str) -> dict[str, Any]:
    page, start = lines.coordinate(positions[0])
    numbers = [lines.line[i] for i in positions if lines.text[i].strip()]
    return {
        "document_id": lines.document_id,
        "type": f"level-{min(level, DEEPEST)}",
        "page": page,
        "start_line": start,
        "end_line": lines.line[positions[-1]],
        "line_numbers": numbers,
        "source_lines": [lines.text[i] for i in positions if lines.text[i].strip()],
        "marker": text,
        "title": "",
        "text": text,
        "method": "marked",
    }


def _joined(texts: list[str], hyphens: Hyphens) -> str:
    text = ""
    for after in texts:
        if not text:
            text = after
        elif not hyphens.is_wrap(text, after):
            text += " " + after
        elif hyphens.belongs_to_word(text, after):
            text += after
        else:
            text = text[:-1] + after
    return " ".join(text.split())


_LABEL = re.compile(r"(?P<word>[^\W\d_][\w-]{1,19})\s(?P<number>\d+(?:\.\d+)*):\s*\S")
_WORD = re.compile(
    r"(?P<word>[^\W\d_]{4,14})\s(?P<number>\d+(?:\.\d+)*|[IVXLC]+|[A-Z])(?:\s*[.:–—-])?(?P<rest>\s.*)?"
)
_NUMBER = re.compile(r"(?P<number>\d{1,3}(?:\.\d{1,3})*)[.)]?\s+(?P<rest>\S.*)")
_LETTER = re.compile(r"(?P<number>[A-Z](?:\.\d{1,3})*)[.)]?\s+(?P<rest>[A-Z0-9].*)")
#: What ends a sentence or a clause, so that a line is none of a heading's.
_OPEN_END = re.compile(r"[.,;:?!]$|\b(a|and|but|by|for|from|in|of|or|that|the|to|with)$")
_SENTENCE_END = re.compile(r"[.!?][”\"')\]]*$")
_KEY_VALUE = re.compile(r"[^:]{2,60}:\s+\S")
_MARGIN = 12.0
#: So many numbered or bookmarked headings make a document one that numbers its headings.
_FIRM = 5


class Reader:
    """Finds the headings among the lines of one document."""

    def __init__(self, lines: Lines, rules: LayoutHeadingRules) -> None:
        self.rules = rules
        self.hyphens = Hyphens(lines.text)
        names = ("role", "size", "bold", "italic", "lead", "x0", "x1", "base", "column")
        self.lines = [
            Line(
                i,
                lines.page[i],
                lines.text[i].strip(),
                **{name: layout[name] for name in (*names, "outline", "outline_lines")},
            )
            for i, layout in enumerate(lines.layout or ())
        ]
        self.text_lines = [line for line in self.lines if line.role == TEXT]
        sizes = Counter[float]()
        for line in self.text_lines or self.lines:
            sizes[line.size] += len(line.text)
        self.size = max(sizes.items(), key=lambda item: (item[1], item[0]))[0] if sizes else 0.0

    def headings(self) -> list[Found]:
        """Return the headings in document order."""
        found, position = [], 0
        while position < len(self.lines):
            heading = self._at(position)
            if heading:
                found.append(heading)
            position += len(heading.lines) if heading else 1
        return self._plausible(found)

    def entries(self, found: list[Found]) -> list[Entry]:
        """Return what the levels of headings are decided by."""
        title = self._title(found)
        return [
            Entry(
                kind=heading.kind,
                word=heading.word,
                rank=self.rules.words.get(heading.word, 0),
                top=heading.word in self.rules.top_words,
                parts=heading.parts,
                outline=heading.outline,
                prominence=_prominence(heading.lines[-1 if heading.marker else 0]),
                title=heading is title,
            )
            for heading in found
        ]

    def _at(self, position: int) -> Found | None:
        line = self.lines[position]
        if line.role not in (TEXT, TABLE) or not any(c.isalpha() for c in line.text):
            return None
        return (
            self._label(line)
            or (line.role == TEXT and (self._bookmark(line) or self._by_text(line)))
            or None
        )

    def _by_text(self, line: Line) -> Found | None:
        if len(line.text) > self.rules.max_chars:
            return None
        return self._word(line) or self._numbered(line) or self._styled(line)

    def _bookmark(self, line: Line) -> Found | None:
        if line.outline is None:
            return None
        found = self._word(line) or self._numbered(line) or Found([line], "bookmark")
        found.outline = line.outline
        count = max(line.outline_lines or 1, len(found.lines))
        found.lines = self.lines[line.position : line.position + count]
        return found

    def _label(self, line: Line) -> Found | None:
        """``GOVERN 1.1: Requirements are …``: a word with a number in bold opens a sentence."""
        match = _LABEL.match(line.text)
        if not match or not self._is_label_word(match["word"].casefold()):
            return None
        if line.lead < match.end("number"):
            return None
        found = Found([line], "label", match["word"].casefold(), tuple(match["number"].split(".")))
        for after in self._following(line, self.rules.max_label_lines):
            last = found.lines[-1]
            if (
                _SENTENCE_END.search(last.text)
                or after.role != line.role
                or _LABEL.match(after.text)
            ):
                break
            if not self._is_next(last, after) or abs(after.size - last.size) > 0.5:
                break
            found.lines.append(after)
        return found

    def _is_label_word(self, word: str) -> bool:
        known = word in self.rules.captions or word in self.rules.words
        return not known and self._label_words[word] >= 3

    @cached_property
    def _label_words(self) -> Counter[str]:
        """How many numbers each word has that opens labels in bold."""
        matches = [(line, _LABEL.match(line.text)) for line in self.lines]
        numbers = {
            (m["word"].casefold(), m["number"])
            for line, m in matches
            if m and line.lead >= m.end("number")
        }
        return Counter(word for word, _ in numbers)

    def _word(self, line: Line) -> Found | None:
        match = _WORD.fullmatch(line.text)
        word = match["word"].casefold() if match else ""
        if match is None or word not in self.rules.words:
            return None
        rest = (match["rest"] or "").strip(" .:–—-")
        # ``Section 3 applies …`` is a sentence; a marker alone must be set apart from the text.
        if rest and (rest[0].islower() or not self._stands_out(line)):
            return None
        if not rest and not (self._stands_out(line) or self._is_centred(line)):
            return None
        found = Found([line], "word", word, (match["number"],))
        if rest:
            self._wrap(found)
        else:
            found.marker = line.text
            self._add_title(found)
        return found

    def _numbered(self, line: Line) -> Found | None:
        match = _NUMBER.fullmatch(line.text) or _LETTER.fullmatch(line.text)
        if match is None or not self._stands_out(line):
            return None
        rest = match["rest"]
        if rest[0].islower() or not any(c.isalpha() for c in rest) or rest.endswith((";", ",")):
            return None
        parts = tuple(match["number"].split("."))
        kind = "number" if match.re is _NUMBER else "letter"
        # A letter alone may be the first word of a title.
        if kind == "letter" and len(parts) == 1 and not self._stands_out(line, larger=True):
            return None
        found = Found([line], kind, parts=parts)
        return found if self._wrap(found) else None

    def _styled(self, line: Line) -> Found | None:
        if not self._stands_out(line) or not self._reads_as_title(line):
            return None
        if not self._is_larger(line) and not self._is_apart(line):
            return None
        found = Found([line], "style")
        if not self._wrap(found) or _OPEN_END.search(found.lines[-1].text):
            return None
        return found

    def _reads_as_title(self, line: Line) -> bool:
        first = next((c for c in line.text if c.isalnum()), "")
        letters = sum(c.isalpha() for c in line.text)
        if (
            CELLS in line.text
            or "://" in line.text
            or first.islower()
            or letters < 3
            or letters < 0.5 * len(line.text.replace(" ", ""))
        ):
            return False
        if not self._is_larger(line) and _KEY_VALUE.match(line.text):
            return False
        return line.text.split()[0].casefold().rstrip(".:") not in self.rules.captions

    def _wrap(self, found: Found) -> bool:
        """Add the lines a heading wraps into; False if there are too many for a heading."""
        for after in self._following(found.lines[0], self.rules.max_lines):
            last = found.lines[-1]
            if after.role != TEXT or after.style != last.style or not self._is_next(last, after):
                break
            if after.outline is not None or self._opens(after):
                break
            found.lines.append(after)
        length = sum(len(line.text) for line in found.lines)
        return len(found.lines) <= self.rules.max_lines and length <= 2 * self.rules.max_chars

    def _opens(self, line: Line) -> bool:
        word = _WORD.fullmatch(line.text)
        if word and word["word"].casefold() in self.rules.words:
            return True
        return bool(_NUMBER.fullmatch(line.text))

    def _add_title(self, found: Found) -> None:
        """Add the title below a marker: lines of one style that are centred or stand out."""
        marker = found.lines[0]
        for after in self._following(marker, self.rules.max_lines):
            last = found.lines[-1]
            first = last is marker
            fits = self._is_centred(after) or self._stands_out(after)
            same = first or after.style == last.style
            near = after.base - last.base < (2.5 if first else 1.6) * max(after.size, last.size)
            if after.role != TEXT or not (fits and same and near) or self._opens(after):
                break
            found.lines.append(after)

    def _following(self, line: Line, count: int) -> Iterator[Line]:
        for after in self.lines[line.position + 1 : line.position + 1 + count]:
            # A line over both columns (0) may wrap into one that looks like one of a column.
            if after.page != line.page or (after.column != line.column and line.column):
                return
            yield after

    @staticmethod
    def _is_next(line: Line, after: Line) -> bool:
        """Say whether ``after`` is the next line of the same paragraph."""
        return 0 < after.base - line.base <= 1.5 * max(line.size, after.size)

    def _is_larger(self, line: Line) -> bool:
        return line.size >= self.rules.larger * self.size

    def _stands_out(self, line: Line, *, larger: bool = False) -> bool:
        """Say whether a line is larger than the text, or bold where the text is not."""
        bold = line.bold and not self._text_is_bold and line.size >= self.size / self.rules.larger
        return self._is_larger(line) or (bold and not larger) or line.outline is not None

    @cached_property
    def _text_is_bold(self) -> bool:
        bold = sum(len(line.text) for line in self.text_lines if line.bold)
        return 2 * bold > sum(len(line.text) for line in self.text_lines)

    def _is_apart(self, line: Line) -> bool:
        """Say whether more space than between lines is above, or nothing."""
        before = self.lines[line.position - 1] if line.position else None
        if before is None or (before.page, before.column) != (line.page, line.column):
            return True
        distance = line.base - before.base
        return before.role not in (TEXT, TABLE) or not (
            0 < distance < self.rules.apart * max(self._leading, before.size)
        )

    @cached_property
    def _leading(self) -> float:
        """The commonest distance between two lines of text."""
        steps = Counter[float]()
        for before, after in zip(self.text_lines, self.text_lines[1:], strict=False):
            same = before.page == after.page and before.column == after.column
            if same and before.size == after.size == self.size and after.base > before.base:
                steps[round(after.base - before.base, 1)] += 1
        return max(steps.items(), key=lambda i: (i[1], -i[0]))[0] if steps else 1.2 * self.size

    def _is_centred(self, line: Line) -> bool:
        left, right = self._margins.get(line.column, (line.x0, line.x1))
        middle = abs((line.x0 + line.x1) - (left + right)) / 2
        return middle < _MARGIN / 2 and line.x0 > left + _MARGIN and line.x1 < right - _MARGIN

    @cached_property
    def _margins(self) -> dict[int, tuple[float, float]]:
        """The left and right edge of the text, by column."""
        edges = {}
        for column in {line.column for line in self.text_lines}:
            inside = [line for line in self.text_lines if line.column == column]
            starts = sorted(line.x0 for line in inside)
            ends = sorted(line.x1 for line in inside)
            edges[column] = starts[len(starts) // 20], ends[len(ends) * 19 // 20]
        return edges

    def _plausible(self, found: list[Found]) -> list[Found]:
        """Leave out what the whole document shows to be no heading.

        A style of so many lines in bold is a way to set text. What precedes the title is its
        letterhead; lines below it that look like nothing later and head no text are authors and
        dates. In a document with numbered or bookmarked headings, lines merely in bold before the
        first of them belong to the front matter, and so does a title that is repeated.
        """
        firm = [h.first.position for h in found if h.kind != "style" or h.outline is not None]
        first = firm[0] if len(firm) >= _FIRM else 0
        title = self._title(found)
        opening = max(first, title.first.position + 1 if title else 0)
        styles = Counter(h.first.style for h in found if h.kind == "style")
        usual = {s for s, n in styles.items() if n > max(3, 0.2 * len(self.text_lines))}
        later = {h.first.style for h in found if h.first.position > opening}
        seen: list[list[str]] = []
        kept: list[Found] = []
        for heading, after in zip(found, [*found[1:], None], strict=True):
            again, line = heading.texts in seen, heading.first
            seen.append(heading.texts)
            if heading.kind == "style" and heading.outline is None and heading is not title:
                plain = not self._is_larger(line)
                alone = after and after.first.position == heading.lines[-1].position + 1
                before = (
                    title and line.page == title.first.page and line.position < title.first.position
                )
                byline = (
                    line.style not in later
                    and alone
                    and (line.position < opening or line.page == 1)
                )
                if before or byline or (plain and (line.position < first or line.style in usual)):
                    continue
                if again and line.position < opening:
                    continue
            kept.append(heading)
        return kept

    def _title(self, found: list[Found]) -> Found | None:
        """Return the heading of the first page with text that is larger than all others."""
        first = self.text_lines[0].page if self.text_lines else 0
        own = [h for h in found if h.first.page == first and h.kind in ("style", "bookmark")]
        title = max(own, key=lambda h: h.first.size, default=None)
        others = [
            h.first.size for h in found if h is not title and title and h.texts != title.texts
        ]
        return title if title and title.first.size > max(others, default=self.size) else None


def _prominence(line: Line) -> tuple[float, bool, bool]:
    letters = [c for c in line.text if c.isalpha()]
    return line.size, line.bold, bool(letters) and all(c.isupper() for c in letters)
