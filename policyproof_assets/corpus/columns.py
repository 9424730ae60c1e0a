"""Reading order: printed lines of a page, and two or more columns of prose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from policyproof_assets.corpus.pieces import Piece

#: Between cells of a table, and pieces of a line far apart.
CELLS = " | "
#: Pieces whose baselines differ by less than this share of their size stand on one line.
_SAME_LINE = 0.4
#: Columns of prose: at least so many lines each, of which this share fills most of the column, with
#: a gutter in the middle of the page.
_MIN_LINES, _FILL, _FULL, _MIDDLE = 5, 0.6, 0.35, (0.3, 0.7)
#: Cells of a table over the whole width take at most this share of it.
_CELL = 0.3
#: Header and footer of a page are so many sizes away from its columns.
_DETACHED = 2.0
#: A number, letter or bullet that is set apart from the text it opens, by at most so many sizes.
_MARKER = re.compile(r"(?:[A-Z]?\d+(?:\.\d+)*[.)]?|\(?[A-Za-z0-9]{1,4}[.)]|[A-Z]|[•‣▪◦●○■□·*–—-])")
_MARKER_GAP = 4.0
#: Pieces further apart than this many sizes are cells or two ends of a line, not words.
_FAR = 2.0

Row = list[Piece]


def rows_of(pieces: Sequence[Piece]) -> list[Row]:
    """Group pieces into printed lines, top to bottom, each from left to right."""
    rows: list[Row] = []
    for piece in sorted(pieces, key=lambda p: (p.base, p.x0)):
        if rows and _on_line(rows[-1], piece):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda p: p.x0) for row in rows]


def _on_line(row: Row, piece: Piece) -> bool:
    if piece.table or row[0].table:
        return False
    largest = max(row, key=lambda p: p.size)
    return abs(piece.base - largest.base) < _SAME_LINE * max(largest.size, piece.size)


def as_line(row: Row) -> Piece:
    """Return a printed line as one piece; pieces far apart stay apart in its text."""
    line = row[0]
    for piece in row[1:]:
        marker = line is row[0] and _MARKER.fullmatch(line.text)
        far = piece.x0 - line.x1 > (_MARKER_GAP if marker else _FAR) * max(piece.size, line.size)
        line = join([line, piece], CELLS if far else " ")
    return line


def join(pieces: Sequence[Piece], separator: str) -> Piece:
    """Return one piece with the texts of ``pieces`` joined, in the style of the longest."""
    first, main = pieces[0], max(pieces, key=lambda p: len(p.text))
    plain = next((i for i, p in enumerate(pieces) if p.lead < len(p.text)), len(pieces) - 1)
    return Piece(
        text=separator.join(p.text for p in pieces),
        x0=min(p.x0 for p in pieces),
        x1=max(p.x1 for p in pieces),
        base=main.base,
        size=main.size,
        bold=all(p.bold for p in pieces),
        italic=all(p.italic for p in pieces),
        lead=sum(p.lead for p in pieces[: plain + 1]) + plain * len(separator),
        table=any(p.table for p in pieces),
        column=first.column,
    )


def reading_order(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Split a page into blocks to be read one after the other; sets each piece's ``column``.

    Between lines that cross the gutter, the left column is read before the right. A page without a
    gutter is one block.
    """
    gutter = _gutter(pieces)
    if gutter is None:
        return [list(pieces)]
    blocks: list[list[Piece]] = []
    across = _across(pieces, gutter)
    ordered = sorted(pieces, key=lambda p: (p.base, p.x0))
    for crosses, group in groupby(ordered, key=lambda p: id(p) in across):
        band = list(group)
        if crosses:
            blocks.append(band)
            continue
        for number in (1, 2):
            column = [p for p in band if (p.x0 >= gutter) == (number == 2)]
            for piece in column:
                piece.column = number
            blocks += reading_order(column) if len(column) > 4 * _MIN_LINES else [column]
    return [block for block in blocks if block]


def _across(pieces: Sequence[Piece], gutter: float) -> set[int]:
    """Return the ids of pieces that belong to neither column.

    They cross the gutter, or stand in a detached first or last line, or in one of several lines of
    three and more short pieces: a table over the whole width.
    """
    across = {id(p) for p in pieces if p.x0 < gutter < p.x1}
    rows = rows_of([p for p in pieces if id(p) not in across])
    for outer, inner in ((rows[0], rows[1]), (rows[-1], rows[-2])):
        size = max(inner[0].size, outer[0].size)
        if abs(inner[0].base - outer[0].base) > _DETACHED * size:
            across |= {id(p) for p in outer}
    width = max(p.x1 for p in pieces) - min(p.x0 for p in pieces)
    tabular = [len(r) > 2 and all(p.x1 - p.x0 < _CELL * width for p in r) for r in rows]
    for index, row in enumerate(rows):
        if tabular[index] and sum(tabular[max(index - 1, 0) : index + 2]) > 1:
            across |= {id(p) for p in row}
    return across


def _gutter(pieces: Sequence[Piece]) -> float | None:
    """Return the x between two columns of prose, or None."""
    if len(pieces) < 2 * _MIN_LINES:
        return None
    starts, ends = (np.array([getattr(p, name) for p in pieces]) for name in ("x0", "x1"))
    left, right = starts.min(), ends.max()
    places = np.linspace(*(left + share * (right - left) for share in _MIDDLE), 100)
    crossing = ((starts[:, None] < places) & (places < ends[:, None])).sum(axis=0)
    best = np.flatnonzero(crossing == crossing.min())
    # The middle of the widest run of best places, so that the choice is stable.
    widest = max(np.split(best, np.flatnonzero(np.diff(best) > 1) + 1), key=len)
    gutter = float(places[widest[len(widest) // 2]])
    sides = [p for p in pieces if p.x1 <= gutter], [p for p in pieces if p.x0 >= gutter]
    prose = _is_prose(sides[0], gutter - left) and _is_prose(sides[1], right - gutter)
    return gutter if prose and 2 * crossing.min() <= len(pieces) else None


def _is_prose(pieces: Sequence[Piece], width: float) -> bool:
    """Say whether enough lines of a column fill it; lines of tables and lists inside do not."""
    lines = rows_of([p for p in pieces if not p.table])
    full = sum(sum(p.x1 - p.x0 for p in row) >= _FILL * width for row in lines)
    return full >= max(_MIN_LINES, _FULL * len(lines))
