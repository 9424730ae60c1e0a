"""How a document sets its text: sizes, distances and margins, and lines that differ from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict, PositiveFloat, PositiveInt

from policyproof_assets.corpus.roles import TABLE, TEXT

_MARGIN = 12.0


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
    max_label_chars: PositiveInt = 1_000
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


class Typography:
    """How a document sets its text, and how a line differs from that."""

    def __init__(self, lines: Sequence[Line], rules: LayoutHeadingRules) -> None:
        self._rules = rules
        self._all = lines
        self.text = [line for line in lines if line.role == TEXT]
        sizes = Counter[float]()
        for line in self.text or lines:
            sizes[line.size] += len(line.text)
        #: The size of most of the text.
        self.size = max(sizes.items(), key=lambda item: (item[1], item[0]))[0] if sizes else 0.0

    def is_larger(self, line: Line) -> bool:
        """Say whether a line is set larger than the text."""
        return line.size >= self._rules.larger * self.size

    def stands_out(self, line: Line, *, larger: bool = False) -> bool:
        """Say whether a line is larger than the text, or bold where the text is not."""
        bold = line.bold and not self._text_is_bold and line.size >= self.size / self._rules.larger
        return self.is_larger(line) or (bold and not larger) or line.outline is not None

    @cached_property
    def _text_is_bold(self) -> bool:
        bold = sum(len(line.text) for line in self.text if line.bold)
        return 2 * bold > sum(len(line.text) for line in self.text)

    def is_apart(self, line: Line) -> bool:
        """Say whether more space than between lines is above, or nothing."""
        before = self._all[line.position - 1] if line.position else None
        if before is None or (before.page, before.column) != (line.page, line.column):
            return True
        distance = line.base - before.base
        return before.role not in (TEXT, TABLE) or not (
            0 < distance < self._rules.apart * max(self._leading, before.size)
        )

    @cached_property
    def _leading(self) -> float:
        """The commonest distance between two lines of text."""
        steps = Counter[float]()
        for before, after in zip(self.text, self.text[1:], strict=False):
            same = before.page == after.page and before.column == after.column
            if same and before.size == after.size == self.size and after.base > before.base:
                steps[round(after.base - before.base, 1)] += 1
        return max(steps.items(), key=lambda i: (i[1], -i[0]))[0] if steps else 1.2 * self.size

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


def prominence(line: Line) -> tuple[float, bool, bool]:
    """Return how much a line is set off: size, bold, capitals."""
    letters = [c for c in line.text if c.isalpha()]
    return line.size, line.bold, bool(letters) and all(c.isupper() for c in letters)
