"""Reading order: printed lines of a page, and two or more columns of prose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from policyproof_assets.corpus.glyphs import Piece

#: Between cells of a table, and pieces of a line far apart.
CELLS = " | "
#: Pieces whose baselines differ by less than this share of their size stand on one line.
_SAME_LINE = 0.4
#: Raised signs, smaller than this share, may be further off.
_SMALL, _RAISED = 0.85, 0.65
#: Columns of prose: at least so many lines each, of which this share fills most of the column, with
#: a gutter in the middle of the page.
_MIN_LINES, _FILL, _FULL, _MIDDLE = 5, 0.6, 0.35, (0.3, 0.7)
_STEP, _MAX_PLACES = 2.0, 500
#: Header and footer of a page are so many sizes away from its columns.
_DETACHED = 2.0
#: A number, letter or bullet that is set apart from the text it opens.
_MARKER = re.compile(r"(?:[A-Z]?\d+(?:\.\d+)*[.)]?|\(?[A-Za-z0-9]{1,4}[.)]|[A-Z]|[•‣▪◦●○■□·*–—-])")
_MARKER_GAP = 4.0

Row = list[Piece]


def rows_of(pieces: Sequence[Piece]) -> list[Row]:
    """Group pieces into printed lines, top to bottom, each from left to right."""
    rows: list[Row] = []
    for piece in sorted(pieces, key=lambda p: (p.base, p.x0)):
        if rows and _on_line(rows[-1], piece):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [_joined_marker(sorted(row, key=lambda p: p.x0)) for row in rows]


def _on_line(row: Row, piece: Piece) -> bool:
    if piece.table or row[0].table:
        return False
    largest = max(row, key=lambda p: p.size)
    size = max(largest.size, piece.size)
    shift = _RAISED if min(largest.size, piece.size) < _SMALL * size else _SAME_LINE
    return abs(piece.base - largest.base) < shift * size


def _joined_marker(row: Row) -> Row:
    """Join a number or bullet with the text it opens, which is no column of its own."""
    if len(row) < 2 or not _MARKER.fullmatch(row[0].text):
        return row
    first, second = row[0], row[1]
    if second.x0 - first.x1 > _MARKER_GAP * max(first.size, second.size):
        return row
    return [join([first, second], " "), *row[2:]]


#: Pieces further apart than this many sizes are cells or two ends of a line, not words.
_FAR = 2.0


def as_line(row: Row) -> Piece:
    """Return a printed line as one piece; pieces far apart stay apart in its text."""
    line = row[0]
    for piece in row[1:]:
        far = piece.x0 - line.x1 > _FAR * max(piece.size, line.size)
        line = join([line, piece], CELLS if far else " ")
    return line


def join(pieces: Sequence[Piece], separator: str) -> Piece:
    """Return one piece with the texts of ``pieces`` joined, in the style of the longest."""
    first = pieces[0]
    main = max(pieces, key=lambda p: len(p.text))
    bold = all(p.bold for p in pieces)
    lead = 0
    for count, piece in enumerate(pieces):
        lead += piece.lead + (len(separator) if count else 0)
        if piece.lead < len(piece.text):
            break
    text = separator.join(p.text for p in pieces)
    return Piece(
        text=text,
        x0=min(p.x0 for p in pieces),
        x1=max(p.x1 for p in pieces),
        base=main.base,
        size=main.size,
        bold=bold,
        italic=all(p.italic for p in pieces),
        lead=min(lead, len(text)),
        raised=first.raised,
        upright=first.upright,
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
        for right in (False, True):
            column = [p for p in band if (p.x0 >= gutter) == right]
            for piece in column:
                piece.column = 2 if right else 1
            blocks += reading_order(column) if len(column) > 4 * _MIN_LINES else [column]
    return [block for block in blocks if block]


def _across(pieces: Sequence[Piece], gutter: float) -> set[int]:
    """Return the ids of pieces that belong to neither column.

    They cross the gutter, or stand in lines of three and more short pieces, one line after the
    other: a table over the whole width.
    """
    left, right = min(p.x0 for p in pieces), max(p.x1 for p in pieces)
    across = {id(p) for p in pieces if p.x0 < gutter < p.x1}
    rows = rows_of([p for p in pieces if id(p) not in across])
    tabular = [
        len(row) > 2 and all(p.x1 - p.x0 < _FILL * _width(p, gutter, left, right) for p in row)
        for row in rows
    ]
    for index, row in enumerate(rows):
        if index in (0, len(rows) - 1) and _is_detached(rows, index):
            across |= {id(p) for p in row}
        if tabular[index] and any(tabular[i] for i in (index - 1, index + 1) if 0 <= i < len(rows)):
            across |= {id(p) for p in pieces if any(_overlaps(p, q) for q in row)}
    return across


def _is_detached(rows: Sequence[Row], index: int) -> bool:
    """Say whether the first or last line of a page stands apart from both columns."""
    if len(rows) < 2:
        return False
    inner = rows[1] if index == 0 else rows[-2]
    size = max(inner[0].size, rows[index][0].size)
    return abs(inner[0].base - rows[index][0].base) > _DETACHED * size


def _overlaps(piece: Piece, other: Piece) -> bool:
    return piece is other or (piece.base == other.base and piece.x0 <= other.x0 <= piece.x1)


def _width(piece: Piece, gutter: float, left: float, right: float) -> float:
    return gutter - left if piece.x1 <= gutter else right - gutter


def _gutter(pieces: Sequence[Piece]) -> float | None:
    """Return the x between two columns of prose, or None."""
    upright = [p for p in pieces if p.upright]
    if len(upright) < 2 * _MIN_LINES:
        return None
    left, right = min(p.x0 for p in upright), max(p.x1 for p in upright)
    low, high = (left + share * (right - left) for share in _MIDDLE)
    step = max(_STEP, (high - low) / _MAX_PLACES)
    places = [low + step * i for i in range(int((high - low) / step) + 1)]
    crossing = [sum(p.x0 < x < p.x1 for p in upright) for x in places]
    fewest = min(crossing)
    # The middle of the widest run of best places, so that the choice is stable.
    runs = [list(g) for few, g in groupby(zip(crossing, places, strict=True), _is(fewest)) if few]
    widest = max(runs, key=len)
    gutter = widest[len(widest) // 2][1]
    return gutter if _separates_prose(upright, gutter, left, right) else None


def _is(fewest: int):  # noqa: ANN202 -- a key function
    return lambda item: item[0] == fewest


def _separates_prose(pieces: Sequence[Piece], gutter: float, left: float, right: float) -> bool:
    one = [p for p in pieces if p.x1 <= gutter and not p.table]
    two = [p for p in pieces if p.x0 >= gutter and not p.table]
    crossing = len(pieces) - len(one) - len(two)
    if min(len(one), len(two)) < _MIN_LINES or crossing > len(one) + len(two):
        return False
    sides = (one, gutter - left), (two, right - gutter)
    return all(_is_prose(side, width) for side, width in sides)


def _is_prose(pieces: Sequence[Piece], width: float) -> bool:
    """Say whether enough lines of a column fill it; lines of tables and lists inside do not."""
    lines = rows_of(pieces)
    full = sum(sum(p.x1 - p.x0 for p in row) >= _FILL * width for row in lines)
    return full >= max(_MIN_LINES, _FULL * len(lines))
