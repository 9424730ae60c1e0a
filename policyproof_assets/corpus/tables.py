"""Tables of a page as rows that read well in a citation: ``cell | cell | cell``.

A table is known by its ruling lines: by the cells they enclose, or by three or more level lines of
one length with white space between columns. A cell that stands beside several rows becomes a line
of its own above them. What has no lines is read row by row.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from pdfplumber.page import Page

from policyproof_assets.corpus.columns import CELLS, join, rows_of
from policyproof_assets.corpus.hyphens import Hyphens
from policyproof_assets.corpus.pieces import Piece

Box = tuple[float, float, float, float]  # x0, top, x1, bottom

#: More ruling lines than this on a page are a drawing; finding cells takes time with their square.
_MAX_EDGES = 1500
#: Lines nearer than this are one line (Word draws a border as several thin boxes).
_SNAP = 4.0
_SETTINGS = {
    "snap_tolerance": _SNAP,
    "join_tolerance": _SNAP,
    "intersection_tolerance": _SNAP,
    "edge_min_length": 8.0,
}
#: The white space between columns without lines, in points.
_GAP = 6.0
#: A row that is longer is cut into several lines, at a cell or a sentence.
_MAX_ROW, _MARKS = 900, (CELLS, ". ", " ")


def find_cells(page: Page, pieces: Sequence[Piece]) -> list[list[Box]]:
    """Return the cells of every table of a page with at least two columns."""
    if not 0 < len(page.edges) <= _MAX_EDGES:
        return []
    finder = page.debug_tablefinder(_SETTINGS)
    boxed = [table.cells for table in finder.tables]
    boxed = [cells for cells in boxed if len({cell[0] for cell in cells}) > 1]
    return [*boxed, *_between_rules(finder.edges, pieces)]


def _between_rules(
    edges: Sequence[Mapping[str, Any]], pieces: Sequence[Piece]
) -> Iterator[list[Box]]:
    """Yield the cells between level lines of one length, parted by white space."""
    rules: dict[tuple[int, int], set[int]] = defaultdict(set)
    for edge in edges:
        if edge["orientation"] == "h":
            rules[round(edge["x0"]), round(edge["x1"])].add(round(edge["top"]))
    for (left, right), tops in rules.items():
        found: list[Box] = []
        bands = [(left, top, right, bottom) for top, bottom in pairwise(sorted(tops))]
        for band in bands:
            # The first row parts columns, and no row after it fills the space between them.
            if found and not _columns([*found, band], pieces):
                yield _cells(found, pieces)
                found = []
            if found or _columns([band], pieces):
                found.append(band)
        yield _cells(found, pieces)


def _cells(bands: Sequence[Box], pieces: Sequence[Piece]) -> list[Box]:
    """Return the cells of two or more bands; a single one may be a frame around any lines."""
    if len(bands) < 2:
        return []
    left, _, right, _ = bands[0]
    columns = list(pairwise([left, *_columns(bands, pieces), right]))
    return [(x0, top, x1, bottom) for _, top, _, bottom in bands for x0, x1 in columns]


def _columns(bands: Sequence[Box], pieces: Sequence[Piece]) -> list[float]:
    """Return the middle of each stretch from left to right that no piece in ``bands`` takes."""
    inside = sorted((p.x0, p.x1) for p in pieces if any(_is_in(p, band) for band in bands))
    found, end = [], math.inf
    for x0, x1 in inside:
        if x0 - end >= _GAP:
            found.append((x0 + end) / 2)
        end = x1 if end == math.inf else max(end, x1)
    return found


def with_rows(
    pieces: Sequence[Piece], tables: Sequence[list[Box]], hyphens: Hyphens
) -> list[Piece]:
    """Return ``pieces`` with those in the cells of tables replaced by rows."""
    rest, rows = list(pieces), []
    for cells in tables:
        inside = [(p, cell) for p in rest for cell in cells if _is_in(p, cell)]
        filled: dict[Box, list[Piece]] = defaultdict(list)
        for piece, cell in inside:
            filled[cell].append(piece)
        if _has_row(filled):
            taken = {id(piece) for piece, _ in inside}
            rest = [p for p in rest if id(p) not in taken]
            texts = {cell: _statements(found, hyphens) for cell, found in filled.items()}
            rows += _in_order(list(_rows(texts)))
    return rest + rows


def _is_in(piece: Piece, cell: Box) -> bool:
    x, y = (piece.x0 + piece.x1) / 2, piece.base - 0.3 * piece.size
    return cell[0] <= x < cell[2] and cell[1] <= y < cell[3]


def _has_row(cells: Sequence[Box]) -> bool:
    """Say whether two of the cells with text stand side by side; else it is a frame or a list."""
    return any(a[0] < b[0] and a[1] < b[3] and b[1] < a[3] for a in cells for b in cells)


def _statements(pieces: Sequence[Piece], hyphens: Hyphens) -> list[Piece]:
    """Return the text of a cell, cut where a line opens with a label in bold."""
    lines = [join(row, " ") for row in rows_of(pieces)]
    starts = [i for i, line in enumerate(lines) if i == 0 or _has_label(line)]
    parts = [lines[start:stop] for start, stop in pairwise([*starts, len(lines)])]
    return [
        replace(join(part, " "), text=hyphens.join([p.text for p in part]), base=part[0].base)
        for part in parts
    ]


def _has_label(piece: Piece) -> bool:
    return 0 < piece.lead < len(piece.text)


def _rows(texts: dict[Box, list[Piece]]) -> Iterator[Piece]:
    tops = sorted({round(cell[1], 1) for cell in texts})
    for top, below in zip(tops, [*tops[1:], math.inf], strict=True):
        row = sorted(cell for cell in texts if round(cell[1], 1) == top)
        # A cell beside several rows reaches beyond the next row's top; alone it is its own row.
        tall = [cell for cell in row if cell[3] > below + _SNAP and len(row) > 1]
        alone = [part for cell in tall for part in texts[cell]]
        cells = [part for cell in row if cell not in tall for part in texts[cell]]
        if any(_has_label(part) for part in cells[1:]):
            # What opens with a label says what it is without its neighbours.
            alone, cells = [*alone, *cells], []
        for parts in (*([part] for part in alone), cells):
            yield from _line(parts)


def _line(cells: Sequence[Piece]) -> Iterator[Piece]:
    if not cells:
        return
    first = replace(join(cells, CELLS), table=True, base=min(cell.base for cell in cells))
    for count, text in enumerate(_cut(first.text)):
        lead = min(first.lead, len(text)) if count == 0 else 0
        yield replace(first, text=text, base=first.base + 0.1 * count, lead=lead)


def _cut(text: str) -> Iterator[str]:
    """Cut a long row at the last cell, sentence or word that ends within the limit."""
    while len(text) > _MAX_ROW:
        marks = ((text.rfind(mark, _MAX_ROW // 2, _MAX_ROW), mark) for mark in _MARKS)
        cut = next((end + len(mark) for end, mark in marks if end > 0), _MAX_ROW)
        yield text[:cut].strip()
        text = text[cut:].strip()
    yield text


def _in_order(rows: list[Piece]) -> list[Piece]:
    """Return rows with baselines that ascend, so that a tall cell stays above those beside it."""
    for row, below in reversed(list(pairwise(rows))):
        row.base = min(row.base, below.base - 0.1)
    return rows
