"""The lines of one document, addressed by (page, line)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
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

        Raises ProvenanceError if the frame holds no document, several, or a page twice.
        """
        documents = frame["document_id"].unique().sort().to_list()
        if len(documents) != 1:
            raise ProvenanceError(
                "lines are of one document", expected="1 document id", found=documents
            )
        frame = frame.sort("page")
        if not frame["page"].is_unique().all():
            raise ProvenanceError(f"{documents[0]}: a page occurs twice")
        texts = [text.splitlines() for text in frame["text"]]
        return cls(
            document_id=documents[0],
            page=tuple(p for p, rows in zip(frame["page"], texts, strict=True) for _ in rows),
            line=tuple(i for rows in texts for i in range(1, len(rows) + 1)),
            text=tuple(row for rows in texts for row in rows),
            layout=_layout(documents[0], frame, texts),
        )

    def __len__(self) -> int:
        return len(self.text)

    @cached_property
    def _ranges(self) -> dict[int, range]:
        counts, ranges, start = Counter(self.page), {}, 0
        for page, count in counts.items():
            ranges[page] = range(start, start + count)
            start += count
        return ranges

    @property
    def pages(self) -> tuple[int, ...]:
        """The numbers of the pages that have lines, ascending."""
        return tuple(self._ranges)

    def on_page(self, page: int) -> range:
        """Return the positions of the lines of ``page``; ProvenanceError if it has none."""
        try:
            return self._ranges[page]
        except KeyError:
            raise ProvenanceError(
                f"{self.document_id}: no line on page {page}", expected=self._extent(), found=page
            ) from None

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

    def slice(self, first_page: int, last_page: int) -> Lines:
        """Return the lines of the pages ``first_page`` to ``last_page``, both included."""
        start, stop = self.on_page(first_page).start, self.on_page(last_page).stop
        part = slice(start, stop)
        layout = self.layout and self.layout[part]
        return Lines(self.document_id, self.page[part], self.line[part], self.text[part], layout)

    def _extent(self) -> str:
        pages = self.pages
        return f"pages {pages[0]} to {pages[-1]}" if pages else "a page with text"


def _layout(
    document_id: str, frame: pl.DataFrame, texts: list[list[str]]
) -> tuple[dict[str, Any], ...] | None:
    if "layout" not in frame.columns or frame["layout"].null_count() == len(frame):
        return None
    rows = [layout or [] for layout in frame["layout"].to_list()]
    for page, row, text in zip(frame["page"], rows, texts, strict=True):
        if len(row) != len(text):
            raise ProvenanceError(
                f"{document_id}: the layout of page {page} is not that of its lines",
                expected=f"{len(text)} lines",
                found=len(row),
            )
    return tuple(line for row in rows for line in row)
