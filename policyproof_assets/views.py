"""What people want to see of a phase: a table by document, a sample, an outline."""

from collections.abc import Sequence
from typing import Any

import polars as pl

_SAMPLE_ROWS = 5
_CELL = 90
_OUTLINE_LINES = 400


def by_document(frame: pl.DataFrame) -> str:
    """Return a Markdown table of the rows of each document."""
    return frame_table(frame.group_by("document_id", maintain_order=True).len("rows"))


def sample(frame: pl.DataFrame) -> str:
    """Return a Markdown table of a few rows, spread over the frame, long values cut."""
    return frame_table(frame.gather_every(max(1, len(frame) // _SAMPLE_ROWS)).head(_SAMPLE_ROWS))


def outline(hierarchy: pl.DataFrame) -> str:
    """Return the headings of every document as nested Markdown lists."""
    lines: list[str] = []
    for (document_id,), nodes in hierarchy.group_by("document_id", maintain_order=True):
        lines.append(f"\n**{document_id}**\n")
        for depth, heading, page in nodes.select("depth", "heading", "page").iter_rows():
            place = f" · p. {page}" if page else ""
            lines.append(f"{'  ' * (depth - 1)}- {_cell(heading)}{place}")
    if len(lines) > _OUTLINE_LINES:
        lines = [*lines[:_OUTLINE_LINES], f"\n… and {len(lines) - _OUTLINE_LINES} more"]
    return "\n".join(lines)


def frame_table(frame: pl.DataFrame) -> str:
    """Return all of a frame as a Markdown table."""
    return markdown_table(frame.columns, frame.rows())


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table."""
    cells = [header, ["---"] * len(header), *(map(_cell, row) for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _cell(value: Any) -> str:
    text = " ".join(str(value).split()).replace("|", "\\|")
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"
