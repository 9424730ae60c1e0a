"""The passages of a release: columns in Arrow, one row turned into Python when it is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from policyproof_runtime.errors import QueryError
from policyproof_runtime.types import Citation, Hit

_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a passage's citation text: its place in the source and in the text."""

    page: int
    number: int
    start: int  # characters of the citation text, end exclusive
    end: int


class Passages:
    """The passages table with the titles of its documents; positions are 0-based accepted order."""

    def __init__(self, table: pa.Table, titles: Mapping[str, str]) -> None:
        """Wrap ``table`` (the columns of the passages phase); ``titles`` go by document id."""
        self._table = table
        self._titles = titles
        self._positions: dict[str, int] | None = None

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def column(self, name: str) -> list[Any]:
        """Return a whole column as Python values."""
        values: list[Any] = self._table[name].to_pylist()
        return values

    def position(self, passage_id: str) -> int:
        """Return where ``passage_id`` stands; raises QueryError if the release has no such id."""
        if self._positions is None:
            self._positions = {name: i for i, name in enumerate(self.column("passage_id"))}
        try:
            return self._positions[passage_id]
        except KeyError:
            raise QueryError("the release has no such passage", found=passage_id) from None

    def value(self, position: int, name: str) -> Any:
        """Return one value of one passage."""
        return self._table[name][position].as_py()

    def title(self, position: int) -> str:
        """Return the title of the passage's document."""
        document_id: str = self.value(position, "document_id")
        return self._titles.get(document_id, document_id)

    def context(self, position: int) -> str:
        """Return what a reader knows of a passage before its text: title and heading path."""
        return "\n".join([self.title(position), *(self.value(position, "path") or [])])

    def hit(self, position: int, rank: int, score: float) -> Hit:
        """Return the passage as a hit."""
        first, last = self._ends(position)
        return Hit(
            rank=rank,
            passage_id=self.value(position, "passage_id"),
            document_id=self.value(position, "document_id"),
            label=self.value(position, "label"),
            heading_path=tuple(self.value(position, "path") or ()),
            page_start=first["start_page"],
            line_start=first["start_line"],
            page_end=last["end_page"],
            line_end=last["end_line"],
            score=score,
        )

    def lines(self, position: int) -> list[Line]:
        """Return the lines of the citation text that hold text, each with its page and line.

        Empty where the text is not made of whole lines: the normalised heading of a heading_only
        passage is one line wherever the source wraps it, so only the whole of it has a place.
        """
        places = [
            (part["start_page"], number)
            for part in self.value(position, "slices")
            if part["start_page"] == part["end_page"]
            for number in range(part["start_line"], part["end_line"] + 1)
        ]
        extents = [m.span() for m in _LINE.finditer(self.citation_text(position))]
        if len(places) != len(extents):
            return []
        return [Line(*place, *extent) for place, extent in zip(places, extents, strict=True)]

    def citation(self, position: int, extent: tuple[Line, Line] | None = None) -> Citation:
        """Return the passage, or only its first to last line of ``extent``, as a citation."""
        text = self.citation_text(position)
        if extent is None:
            hit = self.hit(position, rank=0, score=0.0)
            start, end = (hit.page_start, hit.line_start), (hit.page_end, hit.line_end)
        else:
            first, last = extent
            start, end = (first.page, first.number), (last.page, last.number)
            text = text[first.start : last.end]
        return Citation(
            passage_id=self.value(position, "passage_id"),
            document_id=self.value(position, "document_id"),
            title=self.title(position),
            label=self.value(position, "label"),
            page_start=start[0],
            line_start=start[1],
            page_end=end[0],
            line_end=end[1],
            excerpt=text,
        )

    def _ends(self, position: int) -> tuple[dict[str, int], dict[str, int]]:
        slices = self.value(position, "slices")
        return slices[0], slices[-1]

    def citation_text(self, position: int) -> str:
        """Return the passage's text as it is shown and cited, without its label."""
        text: str = self.value(position, "citation_text")
        return text

    def retrieval_text(self, position: int) -> str:
        """Return the passage's text as it is ranked: label, blank line, text."""
        text: str = self.value(position, "retrieval_text")
        return text
