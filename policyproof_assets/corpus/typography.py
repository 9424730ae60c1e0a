"""How a document sets its text: sizes, distances and margins, and lines that differ from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.roles import TABLE, TEXT, main_size

#: Sizes that differ by less than this share are one size.
_LARGER = 1.08
#: A line set apart is this many sizes below the one before it; the next line of a paragraph less.
_APART = 1.5
_MARGIN = 12.0


@dataclass(frozen=True)
class Line:
    """A line with its layout (fields of LAYOUT); ``position`` among the document's lines."""

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

    def precedes(self, after: Line) -> bool:
        """Say whether ``after`` is the next line of the same paragraph."""
        return 0 < after.base - self.base <= _APART * max(self.size, after.size)


class Typography:
    """The lines of a document, how it sets its text, and how a line differs from that."""

    def __init__(self, lines: Lines) -> None:
        texts = zip(lines.page, lines.text, lines.layout or (), strict=True)
        self.lines = [
            Line(i, page, text.strip(), **own) for i, (page, text, own) in enumerate(texts)
        ]
        self.text = [line for line in self.lines if line.role == TEXT]
        #: The size of most of the text.
        self.size = main_size(self.text or self.lines)

    def following(self, line: Line, count: int) -> list[Line]:
        """Return at most ``count`` lines after ``line`` on its page, in its column."""
        after = self.lines[line.position + 1 : line.position + 1 + count]
        # A line over both columns (0) may wrap into one that looks like one of a column.
        stops = (
            i
            for i, a in enumerate(after)
            if a.page != line.page or line.column not in (0, a.column)
        )
        return after[: next(stops, count)]

    def is_larger(self, line: Line) -> bool:
        """Say whether a line is set larger than the text."""
        return line.size >= _LARGER * self.size

    def stands_out(self, line: Line) -> bool:
        """Say whether a line is bookmarked, larger than the text, or bold and no smaller."""
        bold = line.bold and line.size >= self.size / _LARGER
        return self.is_larger(line) or bold or line.outline is not None

    def is_apart(self, line: Line) -> bool:
        """Say whether more space than between lines is above, or nothing."""
        before = self.lines[line.position - 1] if line.position else None
        if before is None or (before.page, before.column) != (line.page, line.column):
            return True
        return before.role not in (TEXT, TABLE) or not (
            0 < line.base - before.base < _APART * before.size
        )

    def is_centred(self, line: Line) -> bool:
        """Say whether a line stands in the middle of its column, away from both edges."""
        left, right = self._margins.get(line.column, (line.x0, line.x1))
        middle = abs((line.x0 + line.x1) - (left + right)) / 2
        return middle < _MARGIN / 2 and line.x0 > left + _MARGIN and line.x1 < right - _MARGIN

    @cached_property
    def _margins(self) -> dict[int, tuple[float, float]]:
        """The left and right edge of the text, by column."""
        edges = {}
        for column in {line.column for line in self.text}:
            inside = [line for line in self.text if line.column == column]
            starts = sorted(line.x0 for line in inside)
            ends = sorted(line.x1 for line in inside)
            edges[column] = starts[len(starts) // 20], ends[len(ends) * 19 // 20]
        return edges
