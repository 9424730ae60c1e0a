"""Tables of a page as rows that read well in a citation: ``cell | cell | cell``.

A table with ruling lines is found by its grid (pdfplumber's algorithm over edges), one without by
white space that stays empty over several lines. A cell that stands beside several rows becomes a
line of its own above them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from pdfplumber import table as grid

from policyproof_assets.corpus.columns import CELLS, Row, join, rows_of
from policyproof_assets.corpus.glyphs import Edge, Piece
from policyproof_assets.corpus.hyphens import Hyphens

Box = tuple[float, float, float, float]  # x0, top, x1, bottom

#: More ruling lines than this on a page are a drawing; the grid takes time with their square.
_MAX_EDGES = 1500
#: Lines nearer than this are one line (Word draws a border as several thin boxes).
_SNAP = 4.0
_MIN_RULE = 8.0
#: Rows of a table are this many line heights apart, lines of one cell are less.
_ROW_GAP = 1.2
#: The white space between the columns of a table without lines, in sizes of its font.
_GAP = 0.9
#: An empty stretch of so many line heights ends a table without lines.
_END = 3.0
#: A line this much larger is a heading below or between tables.
_TITLE = 1.15
#: The next line of a cell is at most so many sizes lower.
_NEXT_LINE = 1.5
#: Lines are rows if this share has most columns; a column wraps if this share of its lines goes on
#: from one that fills this share of the width.
_FULL, _WRAPPED, _FILLED = 0.8, 0.2, 0.75
_MIN_WIDTH = 40


class Tables:
    """Turns tables into rows, joining what a cell wraps; ``width`` caps the characters of a row."""

    def __init__(self, hyphens: Hyphens, width: int) -> None:
        self._hyphens = hyphens
        self._width = max(width, _MIN_WIDTH)

    def ruled(self, pieces: Sequence[Piece], edges: Sequence[Edge]) -> list[Piece]:
        """Return ``pieces`` with those inside ruled tables replaced by rows."""
        rest, rows = list(pieces), []
        for cells in _grids(edges):
            inside = [(p, c) for p in rest for c in (_cell_of(p, cells),) if c is not None]
            if not _has_row({cell for _, cell in inside}):
                continue
            taken = {id(piece) for piece, _ in inside}
            rest = [p for p in rest if id(p) not in taken]
            rows += _in_order(list(self._ruled_rows(inside, cells)))
        return rest + rows

    def _ruled_rows(self, inside: list[tuple[Piece, Box]], cells: list[Box]) -> Iterator[Piece]:
        texts = {cell: [p for p, c in inside if c == cell] for cell in cells}
        tops = sorted({round(cell[1], 1) for cell in cells})
        for top, below in zip(tops, [*tops[1:], float("inf")], strict=True):
            row = sorted(c for c in cells if round(c[1], 1) == top and texts[c])
            # A cell beside several rows reaches beyond the next row's top; alone it is its own row.
            tall = [c for c in row if c[3] > below + _SNAP and len(row) > 1]
            for cell in tall:
                yield from self._line([texts[cell]])
            yield from self._line([texts[c] for c in row if c not in tall])

    def unruled(self, rows: Sequence[Row]) -> list[Row]:
        """Return the printed lines of a block with its tables without lines as rows."""
        found: list[Row] = []
        start = 0
        while start < len(rows):
            stop, gaps = _region(rows, start)
            if stop - start > 1 and not _hides_columns(rows, start, stop, gaps):
                for cells in _unruled_rows(rows[start:stop], gaps):
                    found += [[row] for row in self._line(cells)]
            else:
                found.append(rows[start])
                stop = start + 1
            start = stop
        return [row for i in range(len(found)) for row in self._beside(found, i)]

    def _beside(self, rows: Sequence[Row], index: int) -> list[Row]:
        """Return one printed line; next to a table, its pieces are the cells of one more row."""
        near = [rows[i][0] for i in (index - 1, index + 1) if 0 <= i < len(rows)]
        if not _gaps(rows[index]) or not any(piece.table for piece in near):
            return [rows[index]]
        return [[row] for row in self._line([[piece] for piece in rows[index]])]

    def _line(self, cells: Sequence[Sequence[Piece]]) -> Iterator[Piece]:
        texts = [self._cell(cell) for cell in cells if cell]
        if any(0 < text.lead < len(text.text) for text in texts[1:]):
            # A cell that opens with a label in bold says what it is without its neighbours.
            for text in texts:
                yield from self._row([text])
        elif texts:
            yield from self._row(texts)

    def _row(self, texts: Sequence[Piece]) -> Iterator[Piece]:
        first = replace(join(texts, CELLS), table=True, base=min(p.base for p in texts))
        for count, text in enumerate(_wrap(first.text, self._width)):
            lead = first.lead if count == 0 else 0
            base = round(first.base + 0.1 * count, 1)
            yield replace(first, text=text, base=base, lead=min(lead, len(text)))

    def _cell(self, pieces: Sequence[Piece]) -> Piece:
        lines = [join(row, " ") for row in rows_of([replace(p, table=False) for p in pieces])]
        whole = join(lines, " ")
        return replace(whole, text=self._hyphens.join([p.text for p in lines]), base=lines[0].base)


def _in_order(rows: list[Piece]) -> list[Piece]:
    """Return rows with baselines that ascend, so that a tall cell stays above those beside it."""
    for row, below in reversed(list(pairwise(rows))):
        row.base = min(row.base, round(below.base - 0.1, 1))
    return rows


def _wrap(text: str, width: int) -> Iterator[str]:
    """Cut a long row at the last cell, sentence or word that ends within ``width``."""
    while len(text) > width:
        for mark in (CELLS, ". ", " "):
            cut = text.rfind(mark, width // 2, width)
            if cut > 0:
                break
        else:
            cut, mark = width, ""
        yield text[: cut + len(mark)].strip()
        text = text[cut + len(mark) :].strip()
    yield text


def _grids(edges: Sequence[Edge]) -> list[list[Box]]:
    """Return the cells of every ruled table with at least two columns, outermost left out."""
    lines = [line for edge in edges if (line := _line_of(edge))]
    if not lines or len(lines) > _MAX_EDGES:
        return []
    merged = grid.merge_edges(lines, _SNAP, _SNAP, _SNAP, _SNAP)
    crossings = grid.edges_to_intersections(merged, _SNAP, _SNAP)
    tables = grid.cells_to_tables(grid.intersections_to_cells(crossings))
    return [cells for cells in tables if len({cell[0] for cell in cells}) > 1]


def _has_row(cells: set[Box]) -> bool:
    """Say whether two of the cells with text stand side by side; else it is a frame or a list."""
    return any(a[0] < b[0] and a[1] < b[3] and b[1] < a[3] for a in cells for b in cells)


def _line_of(edge: Edge) -> dict[str, object] | None:
    width, height = edge.x1 - edge.x0, edge.bottom - edge.top
    if max(width, height) < _MIN_RULE:
        return None
    across = width >= height
    x, y = (edge.x0 + edge.x1) / 2, (edge.top + edge.bottom) / 2
    return {
        "x0": edge.x0 if across else x,
        "x1": edge.x1 if across else x,
        "top": y if across else edge.top,
        "bottom": y if across else edge.bottom,
        "width": width if across else 0,
        "height": 0 if across else height,
        "orientation": "h" if across else "v",
    }


def _cell_of(piece: Piece, cells: Sequence[Box]) -> Box | None:
    x, y = (piece.x0 + piece.x1) / 2, piece.base - 0.3 * piece.size
    return next((c for c in cells if c[0] <= x <= c[2] and c[1] <= y <= c[3]), None)


Gap = tuple[float, float]


def _region(rows: Sequence[Row], start: int) -> tuple[int, list[Gap]]:
    """Return where the table without lines that begins at ``start`` ends, and its column gaps.

    The end is ``start + 1`` where no table begins. A table has two rows of several pieces, and
    every line between its first and its last keeps the gaps empty.
    """
    gaps = _gaps(rows[start])
    stop, kept = start + 1, gaps
    for index in range(start + 1, len(rows)):
        row, before = rows[index], rows[index - 1]
        distance = row[0].base - before[0].base
        if not gaps or row[0].table or distance > _END * min(row[0].size, before[0].size):
            break
        if len(row) == 1 and row[0].size > _TITLE * rows[start][0].size:
            break
        gaps = [g for gap in gaps for g in _free(gap, row)]
        if gaps and len(row) > 1:
            stop, kept = index + 1, gaps
    return (_with_last_cell(rows, stop, kept) if stop > start + 1 else stop), kept


def _hides_columns(rows: Sequence[Row], start: int, stop: int, gaps: Sequence[Gap]) -> bool:
    """Say whether the line at ``start``, say a centred title row, hides columns of those below."""
    below, inner = _region(rows, start + 1)
    return below >= stop and below > start + 2 and len(inner) > len(gaps)


def _with_last_cell(rows: Sequence[Row], stop: int, gaps: Sequence[Gap]) -> int:
    """Return the end of a table with the lines of its last cells that stand alone."""
    step = rows[stop - 1][0].base - rows[stop - 2][0].base
    while stop < len(rows):
        row, before = rows[stop], rows[stop - 1]
        near = row[0].base - before[0].base <= max(_ROW_GAP * step, _NEXT_LINE * row[0].size)
        clear = all(any(_free(gap, row)) for gap in gaps)
        # A line from the left edge may be the paragraph after the table: the cell must go on.
        goes_on = row[0].text[:1].islower() or row[0].x0 > before[0].x0 + row[0].size
        goes_on = goes_on or row[0].base - before[0].base < step / _ROW_GAP
        if row[0].table or not near or not clear or not goes_on:
            break
        stop += 1
    return stop


def _gaps(row: Row) -> list[Gap]:
    if row[0].table:
        return []
    return [(a.x1, b.x0) for a, b in pairwise(row) if b.x0 - a.x1 >= _GAP * a.size]


def _free(gap: Gap, row: Row) -> Iterator[Gap]:
    """Yield what ``row`` leaves of a gap, if that is wide enough to part columns."""
    left, right = gap
    for piece in row:
        if piece.x0 < right and piece.x1 > left:
            if piece.x0 <= left:
                left = max(left, piece.x1)
            else:
                right = min(right, piece.x0)
    if right - left >= _GAP * row[0].size:
        yield left, right


def _unruled_rows(rows: Sequence[Row], gaps: Sequence[Gap]) -> Iterator[list[list[Piece]]]:
    """Yield the cells of each row of a table without lines."""
    bounds = sorted((a + b) / 2 for a, b in gaps)
    leading = _leading(rows, bounds)
    for group in _groups(rows, leading):
        if _one_line_each(group, bounds):
            yield from (_cells(row, bounds) for row in group)
            continue
        cells = _cells([p for row in group for p in row], bounds)
        first, others = cells[0], [c for c in cells[1:] if c]
        parts = _groups(rows_of(others[0]), leading) if len(others) == 1 else []
        if first and len(parts) > 1:
            yield [first]
            for part in parts:
                yield [[p for row in part for p in row]]
        else:
            yield cells


def _one_line_each(rows: Sequence[Row], bounds: Sequence[float]) -> bool:
    """Say whether lines are rows: most have something in most columns, and no column wraps."""
    full = sum(len(row) > (len(bounds) + 1) / 2 for row in rows)
    columns = zip(*(_cells(row, bounds) for row in rows), strict=True)
    return full >= _FULL * len(rows) and not any(_wraps([c for c in col if c]) for col in columns)


def _wraps(cells: Sequence[Sequence[Piece]]) -> bool:
    """Say whether a column's lines go on from one to the next: lower case after a filled line."""
    if not cells:
        return False
    left = min(cell[0].x0 for cell in cells)
    width = max(cell[-1].x1 for cell in cells) - left
    going = [
        " " in before[-1].text
        and after[0].text[:1].islower()
        and before[-1].x1 - left >= _FILLED * width
        for before, after in pairwise(cells)
    ]
    return sum(going) > max(1, _WRAPPED * len(cells))


def _cells(pieces: Sequence[Piece], bounds: Sequence[float]) -> list[list[Piece]]:
    cells: list[list[Piece]] = [[] for _ in range(len(bounds) + 1)]
    for piece in pieces:
        cells[sum(piece.x0 > bound for bound in bounds)].append(piece)
    return cells


def _leading(rows: Sequence[Row], bounds: Sequence[float]) -> float:
    """Return the distance of the lines inside cells: the least step down any column."""
    columns = zip(*(_cells(row, bounds) for row in rows), strict=True)
    filled = [[cell[0] for cell in column if cell] for column in columns]
    steps = [b.base - a.base for cells in filled for a, b in pairwise(cells)]
    return min((step for step in steps if step > 0.9 * rows[0][0].size), default=0.0)


def _groups(rows: Sequence[Row], leading: float) -> list[list[Row]]:
    """Cut lines where the distance is wider than between the lines of one cell."""
    groups: list[list[Row]] = []
    for before, row in zip([None, *rows], rows, strict=False):
        if before is None or row[0].base - before[0].base > _ROW_GAP * leading:
            groups.append([])
        groups[-1].append(row)
    return groups
