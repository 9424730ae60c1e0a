"""Recognises headings among lines that carry their layout: by label, word, number or type."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from policyproof_assets.corpus.columns import CELLS
from policyproof_assets.corpus.found import DATE, Found, plausible, title_of
from policyproof_assets.corpus.hyphens import Hyphens
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.outline import Entry
from policyproof_assets.corpus.roles import TABLE, TEXT
from policyproof_assets.corpus.typography import LayoutHeadingRules, Line, Typography, prominence

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
        self.type = Typography(self.lines, rules)

    def headings(self) -> list[Found]:
        """Return the headings in document order."""
        found, position = [], 0
        while position < len(self.lines):
            heading = self._at(position)
            if heading:
                found.append(heading)
            position += len(heading.lines) if heading else 1
        return plausible(found, self.type)

    def entries(self, found: list[Found]) -> list[Entry]:
        """Return what the levels of headings are decided by."""
        title = title_of(found, self.type)
        return [
            Entry(
                kind=heading.kind,
                word=heading.word,
                rank=self.rules.words.get(heading.word, 0),
                top=heading.word in self.rules.top_words,
                parts=heading.parts,
                outline=heading.outline,
                prominence=prominence(heading.lines[-1 if heading.marker else 0]),
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
        length = sum(len(line.text) for line in found.lines)
        return found if length <= self.rules.max_label_chars else None

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
        if rest and (rest[0].islower() or not self.type.stands_out(line)):
            return None
        if not rest and not (self.type.stands_out(line) or self.type.is_centred(line)):
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
        if match is None or DATE.fullmatch(line.text) or not self.type.stands_out(line):
            return None
        rest = match["rest"]
        if rest[0].islower() or not any(c.isalpha() for c in rest) or rest.endswith((";", ",")):
            return None
        parts = tuple(match["number"].split("."))
        kind = "number" if match.re is _NUMBER else "letter"
        # A letter alone may be the first word of a title.
        if kind == "letter" and len(parts) == 1 and not self.type.stands_out(line, larger=True):
            return None
        found = Found([line], kind, parts=parts)
        return found if self._wrap(found) else None

    def _styled(self, line: Line) -> Found | None:
        if not self.type.stands_out(line) or not self._reads_as_title(line):
            return None
        if not self.type.is_larger(line) and not self.type.is_apart(line):
            return None
        found = Found([line], "style")
        if not self._wrap(found) or _OPEN_END.search(found.lines[-1].text):
            return None
        if any("://" in text for text in found.texts):
            return None
        return found

    def _reads_as_title(self, line: Line) -> bool:
        if DATE.fullmatch(line.text):
            return True  # so that what stands above it is seen to head no text
        first = next((c for c in line.text if c.isalnum()), "")
        letters = sum(c.isalpha() for c in line.text)
        if (
            CELLS in line.text
            or first.islower()
            or letters < 3
            or letters < 0.5 * len(line.text.replace(" ", ""))
        ):
            return False
        if not self.type.is_larger(line) and _KEY_VALUE.match(line.text):
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
            fits = self.type.is_centred(after) or self.type.stands_out(after)
            same = first or after.style == last.style
            near = after.base - last.base < (2.5 if first else 1.6) * max(after.size, last.size)
            if after.role != TEXT or not (fits and same and near) or self._opens(after):
                break
            if len(after.text) > self.rules.max_chars:
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
