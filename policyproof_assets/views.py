"""What people want to see of a phase: counts, a table by document, a sample, an outline."""

from collections.abc import Sequence
from typing import Any

import polars as pl

_SAMPLE_ROWS = 5
_CELL = 90
_OUTLINE_LINES = 400


def by_document(frame: pl.DataFrame) -> str:
    """Return a Markdown table of the rows of each document."""
    counts = frame.group_by("document_id", maintain_order=True).len("rows")
    return markdown_table(counts.columns, counts.rows())


def sample(frame: pl.DataFrame) -> str:
    """Return a Markdown table of a few rows, spread over the frame, long values cut."""
    step = max(1, len(frame) // _SAMPLE_ROWS)
    rows = frame.gather_every(step).head(_SAMPLE_ROWS)
    return markdown_table(rows.columns, rows.rows())


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


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table; numbers are aligned to the right."""
    numeric = [all(isinstance(row[i], int | float) for row in rows) for i in range(len(header))]
    lines = [
        _row(header),
        _row(["---:" if is_number else "---" for is_number in numeric]),
        *(_row([_cell(value) for value in row]) for row in rows),
    ]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(value: Any) -> str:
    text = " ".join(str(value).split()).replace("|", "\\|")
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"
