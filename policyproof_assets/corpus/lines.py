"""The lines of one document, addressed by (page, line)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import polars as pl

from policyproof_assets.errors import ProvenanceError


@dataclass(frozen=True)
class Lines:
    """Every line of one document in reading order, blank ones included.

    ``page[i]`` and ``line[i]`` (both counted from 1) are the coordinate of ``text[i]``; the index
    ``i`` (from 0) is the line's *position*. Texts are as extracted: not stripped, not normalised.
    ``layout[i]`` has the fields of LAYOUT; it is None for documents read by a profile's patterns.
    """

    document_id: str
    page: tuple[int, ...]
    line: tuple[int, ...]
    text: tuple[str, ...]
    layout: tuple[dict[str, Any], ...] | None = None

    @classmethod
    def from_pages(cls, frame: pl.DataFrame) -> Lines:
        """Split the pages of one document (columns of PAGES, any order) into lines.

        Raises ProvenanceError if a page's layout is not that of its lines.
        """
        rows: list[tuple[int, int, str]] = []
        layout: list[dict[str, Any]] = []
        document_id = frame["document_id"][0]
        has_layout = frame["layout"].null_count() < len(frame)
        for page, text, marks in frame.sort("page").select("page", "text", "layout").iter_rows():
            texts = text.splitlines()
            rows += [(page, line, text) for line, text in enumerate(texts, 1)]
            layout += marks or ()
            if has_layout and len(layout) != len(rows):
                raise ProvenanceError(
                    f"{document_id}: the layout of page {page} is not that of its lines",
                    expected=f"{len(texts)} lines",
                    found=len(marks or ()),
                )
        columns = zip(*rows, strict=True) if rows else ((), (), ())
        return cls(document_id, *columns, layout=tuple(layout) if has_layout else None)

    def __len__(self) -> int:
        return len(self.text)

    @cached_property
    def _ranges(self) -> dict[int, range]:
        starts = [i for i, line in enumerate(self.line) if line == 1]
        return {self.page[a]: range(a, b) for a, b in pairwise([*starts, len(self)])}

    @property
    def pages(self) -> tuple[int, ...]:
        """The numbers of the pages that have lines, ascending."""
        return tuple(self._ranges)

    def on_page(self, page: int) -> range:
        """Return the positions of the lines of ``page``; ProvenanceError if it has none."""
        if page not in self._ranges:
            raise ProvenanceError(f"{self.document_id}: no line on page {page}")
        return self._ranges[page]

    def position(self, page: int, line: int) -> int:
        """Return the position of (``page``, ``line``); ProvenanceError if there is no such line."""
        lines = self.on_page(page)
        if not 1 <= line <= len(lines):
            raise ProvenanceError(
                f"{self.document_id}: page {page} has no line {line}",
                expected=f"lines 1 to {len(lines)}",
                found=line,
            )
        return lines.start + line - 1

    def coordinate(self, position: int) -> tuple[int, int]:
        """Return the (page, line) of ``position``."""
        return self.page[position], self.line[position]

    def segments(self, positions: Iterable[int]) -> list[dict[str, Any]]:
        """Return a row of SEGMENT for every run of adjacent lines of one page."""
        runs: list[tuple[int, int]] = []
        for position in positions:
            if runs and self._adjacent(runs[-1][1], position):
                runs[-1] = (runs[-1][0], position)
            else:
                runs.append((position, position))
        return [self.extent(*run) for run in runs]

    def extent(self, first: int, last: int) -> dict[str, Any]:
        """Return the positions ``first`` to ``last`` (included) under the names of SEGMENT."""
        start, end = self.coordinate(first), self.coordinate(last)
        return {
            "start_page": start[0],
            "start_line": start[1],
            "end_page": end[0],
            "end_line": end[1],
        }

    def positions_of(self, segments: Iterable[Mapping[str, Any]]) -> list[int]:
        """Return the positions of all lines of rows of SEGMENT, SLICE or SPAN, in order."""
        found: list[int] = []
        for row in segments:
            start = self.position(row["start_page"], row["start_line"])
            found += range(start, self.position(row["end_page"], row["end_line"]) + 1)
        return found

    def joined(self, positions: Sequence[int], texts: Sequence[str]) -> str:
        """Join the texts of lines: a blank line where lines of one page are not adjacent."""
        text = texts[0]
        for (before, after), following in zip(pairwise(positions), texts[1:], strict=True):
            gap = self.page[before] == self.page[after] and not self._adjacent(before, after)
            text += ("\n\n" if gap else "\n") + following
        return text

    def _adjacent(self, before: int, after: int) -> bool:
        return after == before + 1 and self.page[before] == self.page[after]
