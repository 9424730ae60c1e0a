"""The passages of a release: columns in Arrow, one row turned into Python when it is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import pyarrow as pa

from policyproof_runtime.errors import QueryError
from policyproof_runtime.sentences import sentences
from policyproof_runtime.terms import stems
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

    def __init__(
        self,
        table: pa.Table,
        titles: Mapping[str, str],
        versions: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        """Wrap ``table`` (the columns of the passages phase).

        ``titles`` and ``versions`` (number, status) go by document id.
        """
        self._table = table
        self._titles = titles
        self._versions = versions or {}

    def __len__(self) -> int:
        return int(self._table.num_rows)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.column("passage_id"))}

    def column(self, name: str) -> list[Any]:
        """Return a whole column as Python values."""
        values: list[Any] = self._table[name].to_pylist()
        return values

    def position(self, passage_id: str) -> int:
        """Return where ``passage_id`` stands; raises QueryError if the release has no such id."""
        if passage_id not in self._positions:
            raise QueryError("the release has no such passage", found=passage_id)
        return self._positions[passage_id]

    def value(self, position: int, name: str) -> Any:
        """Return one value of one passage."""
        return self._table[name][position].as_py()

    def title(self, position: int) -> str:
        """Return the title of the passage's document."""
        document_id: str = self.value(position, "document_id")
        return self._titles.get(document_id, document_id)

    def citation_text(self, position: int) -> str:
        """Return the passage's text as it is shown and cited, without its label."""
        text: str = self.value(position, "citation_text")
        return text

    def retrieval_text(self, position: int) -> str:
        """Return the passage's text as it is ranked: label, blank line, text."""
        text: str = self.value(position, "retrieval_text")
        return text

    def context(self, position: int) -> str:
        """Return what a reader knows of a passage before its text: title and heading path."""
        return "\n".join([self.title(position), *(self.value(position, "path") or [])])

    @lru_cache(maxsize=4096)  # noqa: B019 lives as long as the release it belongs to
    def said(self, position: int) -> list[tuple[str, frozenset[str]]]:
        """Return the sentences, items and rows of a passage, each with its and the context's stems.

        What a sentence speaks of is often said only above it: by the title or a heading.
        """
        before = stems(self.context(position))
        said = sentences(self.citation_text(position))
        return [(sentence, frozenset(before + stems(sentence))) for sentence in said]

    def hit(self, position: int, rank: int, score: float) -> Hit:
        """Return the passage as a hit."""
        path = tuple(self.value(position, "path") or ())
        version, status = self._versions.get(self.value(position, "document_id"), ("", ""))
        return Hit(
            rank=rank,
            heading_path=path,
            score=score,
            title=self.title(position),
            version=version,
            status=status,
            **self._fields(position),
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
        text, fields = self.citation_text(position), self._fields(position)
        if extent is not None:
            first, last = extent
            fields |= {"page_start": first.page, "line_start": first.number}
            fields |= {"page_end": last.page, "line_end": last.number}
            text = text[first.start : last.end]
        return Citation(title=self.title(position), excerpt=text, **fields)

    def heading(self, position: int) -> Citation | None:
        """Return the label as a citation of the heading's own lines; None if it is put together.

        The words are those of the source; lines that the source wraps are joined.
        """
        lines = self.value(position, "heading") if "heading" in self._table.column_names else None
        if lines is None:
            return None
        fields = self._fields(position) | _place(lines, lines)
        return Citation(title=self.title(position), excerpt=fields["label"], **fields)

    def _fields(self, position: int) -> dict[str, Any]:
        slices = self.value(position, "slices")
        names = ("passage_id", "document_id", "label")
        return {n: self.value(position, n) for n in names} | _place(slices[0], slices[-1])


def _place(first: Mapping[str, int], last: Mapping[str, int]) -> dict[str, Any]:
    return {
        "page_start": first["start_page"],
        "line_start": first["start_line"],
        "page_end": last["end_page"],
        "line_end": last["end_line"],
    }
