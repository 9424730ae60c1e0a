"""What a PDF page prints: pieces of text with position and style, ruling lines, bookmarks.

The characters come from PDFium, which reads damaged files in bounded time and knows the widths that
decide where a word ends. Distances are points (1/72 inch), measured from the top left corner of the
page, held so that most of its text is upright.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pypdfium2 as pdfium
from pypdfium2 import raw

#: Names of bold faces whose descriptor states no weight: TeX's BX, Nimbus' Medi, and plain words.
_BOLD = re.compile(r"bold|black|heavy|semibold|demi|medi(?!um)|bx\d", re.IGNORECASE)
_ITALIC = re.compile(r"ital|oblique|slant|ti\d|sl\d", re.IGNORECASE)
_ITALIC_FLAG = 1 << 6
_BOLD_WEIGHT = 600
#: A gap of this share of the font size is a word space, of a whole size another piece of the line.
_SPACE, _PIECE = 0.2, 1.0
#: A raised or lowered character stays in its line up to this share of the font size.
_SHIFT = 0.6
#: Rounding at the edge of a page, in points.
_MARGIN = 2.0
#: A character of less than this share of its line's size is raised or lowered.
_SMALL = 0.8
#: Controls, surrogates, noncharacters, zero-width and direction marks: nothing a reader sees. The
#: joiners U+200C and U+200D stay, since some scripts need them.
INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    r"\ufff0-\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029\xa0]")


def visible(text: str) -> str:
    """Return ``text`` on one line, without characters that have no glyph."""
    return INVISIBLE.sub("", _BREAKS.sub(" ", text))


@dataclass(slots=True)
class Piece:
    """Characters of one line without a wide gap between them."""

    text: str
    x0: float
    x1: float
    base: float  # baseline, from the top of the page
    size: float  # of most characters
    bold: bool
    italic: bool
    lead: int  # leading characters in bold, for labels that run into their text
    raised: bool = False  # opens with a raised sign, as a footnote does
    upright: bool = True
    table: bool = False  # a row of a table
    column: int = 0


@dataclass(slots=True)
class Edge:
    """A thin ruling line."""

    x0: float
    x1: float
    top: float
    bottom: float


@dataclass(frozen=True)
class Bookmark:
    """A bookmark; ``level`` from 1, ``page`` from 1, or None if it leads nowhere."""

    level: int
    title: str
    page: int | None


@dataclass(slots=True)
class _Glyph:
    char: str
    x0: float
    x1: float
    base: float
    size: float
    bold: bool
    italic: bool
    upright: bool


@dataclass
class _Frame:
    """Maps PDF coordinates to what the reader sees."""

    left: float
    bottom: float
    width: float
    height: float
    rotation: int

    def __call__(self, x: float, y: float) -> tuple[float, float]:
        x, y = x - self.left, y - self.bottom
        match self.rotation:
            case 90:
                return y, x
            case 180:
                return self.width - x, y
            case 270:
                return self.height - y, self.width - x
        return x, self.height - y

    def shows(self, x: float, y: float) -> bool:
        """Say whether a point is on the page; what lies beside it no reader sees."""
        width, height = self.width, self.height
        if self.rotation in (90, 270):
            width, height = height, width
        return -_MARGIN <= x <= width + _MARGIN and -_MARGIN <= y <= height + _MARGIN


def _frame(page: pdfium.PdfPage, rotation: int) -> _Frame:
    left, bottom, right, top = page.get_cropbox()
    return _Frame(left, bottom, right - left, top - bottom, rotation)


#: Characters looked at to see which way a page's text runs.
_SAMPLE = 2000


def _rotation(text: pdfium.PdfTextPage) -> int:
    """Return the direction of most text: 0, 90, 180 or 270."""
    sample = range(min(count_characters(text), _SAMPLE))
    angles = Counter(_angle(text, index) for index in sample)
    return max((0, 90, 180, 270), key=lambda angle: angles[angle])


def _angle(text: pdfium.PdfTextPage, index: int) -> int:
    """Return the direction of a character's line in degrees, against the clock from the right."""
    clockwise = math.degrees(raw.FPDFText_GetCharAngle(text, index))
    return -round(clockwise) % 360 if math.isfinite(clockwise) else 0


def _along(x: float, y: float, angle: int) -> tuple[float, float]:
    """Return a point in coordinates that run along text turned by ``angle``."""
    turn = math.radians(angle)
    return x * math.cos(turn) + y * math.sin(turn), x * math.sin(turn) - y * math.cos(turn)


@dataclass
class _Styles:
    """Fonts by text object, asked once per object rather than once per character."""

    text: pdfium.PdfTextPage
    last: int | None = None
    style: tuple[float, bool, bool] = (0.0, False, False)
    _name: ctypes.Array[ctypes.c_char] = field(
        default_factory=lambda: ctypes.create_string_buffer(256)
    )

    def at(self, index: int) -> tuple[float, bool, bool]:
        """Return (size, bold, italic) of the character at ``index``."""
        owner = raw.FPDFText_GetTextObject(self.text, index)
        key = ctypes.cast(owner, ctypes.c_void_p).value
        if key is None or key != self.last:
            self.last, self.style = key, self._ask(index)
        return self.style

    def _ask(self, index: int) -> tuple[float, bool, bool]:
        flags, matrix = ctypes.c_int(), raw.FS_MATRIX()
        raw.FPDFText_GetFontInfo(self.text, index, self._name, len(self._name), flags)
        raw.FPDFText_GetMatrix(self.text, index, matrix)
        name = self._name.value.decode("utf-8", "replace").rpartition("+")[2]
        # The matrix scales the nominal size; rotated text has its scale off the diagonal.
        scale = (matrix.c**2 + matrix.d**2) ** 0.5 or 1.0
        size = min(raw.FPDFText_GetFontSize(self.text, index) * scale, 10_000.0)
        weight = raw.FPDFText_GetFontWeight(self.text, index)
        bold = weight >= _BOLD_WEIGHT or bool(_BOLD.search(name))
        italic = bool(flags.value & _ITALIC_FLAG) or bool(_ITALIC.search(name))
        return round(size, 1), bold, italic


def count_characters(text: pdfium.PdfTextPage) -> int:
    """Return the number of characters of a text page, before any is read."""
    return max(0, text.count_chars())


def read_pieces(page: pdfium.PdfPage, text: pdfium.PdfTextPage) -> list[Piece]:
    """Return the pieces of text of a page in the order the file draws them."""
    pieces: list[Piece] = []
    run: list[_Glyph] = []
    for glyph in _glyphs(page, text):
        if run and _breaks(run, glyph):
            pieces += _piece(run)
            run = []
        run.append(glyph)
    return pieces + _piece(run)


def _glyphs(page: pdfium.PdfPage, text: pdfium.PdfTextPage) -> Iterator[_Glyph]:
    frame, styles = _frame(page, _rotation(text)), _Styles(text)
    for index in range(count_characters(text)):
        code = raw.FPDFText_GetUnicode(text, index)
        # PDFium writes U+0002 for a hyphen at the end of a line, and makes up the line ends itself.
        char = "-" if code == 2 else visible(chr(min(code, 0x10FFFF)))
        if code in (10, 13) or not char:
            continue
        points = _points(text, index)
        if points is None or not frame.shows(*frame(*points[0])):
            continue
        angle = _angle(text, index)
        upright = angle == frame.rotation
        places = [frame(*p) if upright else _along(*p, angle) for p in points]
        left, right = sorted(place[0] for place in places[1:])
        size, bold, italic = styles.at(index)
        if angle % 90:
            # The box of a slanted character says little about its width.
            left, right = places[0][0], places[0][0] + 0.9 * size
        yield _Glyph(char, left, right, places[0][1], size, bold, italic, upright)


def _points(text: pdfium.PdfTextPage, index: int) -> list[tuple[float, float]] | None:
    """Return the origin of a character and two corners of its box; None if it has none."""
    box, x, y = raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    if not raw.FPDFText_GetCharOrigin(text, index, x, y):
        return None
    if not raw.FPDFText_GetLooseCharBox(text, index, box):
        return None
    points = [(x.value, y.value), (box.left, box.bottom), (box.right, box.top)]
    return points if all(math.isfinite(v) for point in points for v in point) else None


def _breaks(run: list[_Glyph], glyph: _Glyph) -> bool:
    """Say whether ``glyph`` opens another piece: another line, or beyond a wide gap."""
    last = run[-1]
    size = max(last.size, glyph.size, 1.0)
    if glyph.upright != last.upright or abs(glyph.base - last.base) > _SHIFT * size:
        return True
    if glyph.char == " ":
        return False
    inked = next((g for g in reversed(run) if g.char != " "), last)
    gap = glyph.x0 - inked.x1
    return gap > _PIECE * size or gap < -_PIECE * size


def _piece(run: list[_Glyph]) -> list[Piece]:
    inked = [g for g in run if g.char != " "]
    if not inked:
        return []
    size = _most(g.size for g in inked)
    main = [g for g in inked if g.size == size]
    text, lead = _spell(run)
    return [
        Piece(
            text=text,
            x0=round(inked[0].x0, 1),
            x1=round(max(g.x1 for g in inked), 1),
            base=round(_most(round(g.base, 1) for g in main), 1),
            size=size,
            bold=sum(g.bold for g in inked) >= 0.8 * len(inked),
            italic=sum(g.italic for g in inked) >= 0.8 * len(inked),
            lead=lead,
            raised=inked[0].size < _SMALL * size,
            upright=inked[0].upright,
        )
    ]


def _most(values: Iterator[float]) -> float:
    """Return the commonest value; the larger one on a tie, whatever the order."""
    return max(Counter(values).items(), key=lambda item: (item[1], item[0]))[0]


def _spell(run: list[_Glyph]) -> tuple[str, int]:
    """Return the text of a run, with the spaces its gaps mean, and its leading bold characters."""
    text, lead, leading, last = "", 0, True, None
    for glyph in run:
        if glyph.char == " ":
            text += "" if text.endswith(" ") else " "
            continue
        wide = last is not None and glyph.x0 - last.x1 > _SPACE * max(glyph.size, last.size)
        if wide and not text.endswith(" "):
            text += " "
        text += glyph.char
        leading = leading and glyph.bold
        lead = len(text) if leading else lead
        last = glyph
    stripped = text.strip()
    return stripped, max(0, min(lead - (len(text) - len(text.lstrip())), len(stripped)))


#: Segments of paths looked at on one page; a drawing of more is a picture, not a table's grid.
_MAX_SEGMENTS = 8_000
#: A line leans less than this, in points.
_STRAIGHT = 1.0


def read_edges(page: pdfium.PdfPage, text: pdfium.PdfTextPage) -> list[Edge]:
    """Return the level and upright lines of a page, sides of boxes too; none for a drawing."""
    frame, edges, count = _frame(page, _rotation(text)), [], 0
    for item in page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=3):
        count += max(0, raw.FPDFPath_CountSegments(item.raw))
        if count > _MAX_SEGMENTS:
            return []
        for (x0, y0), (x1, y1) in _strokes(item):
            ends = sorted((frame(x0, y0), frame(x1, y1)))
            if all(map(math.isfinite, (*ends[0], *ends[1]))):
                (left, one), (right, two) = ends
                if min(right - left, abs(two - one)) <= _STRAIGHT:
                    edges.append(Edge(left, right, min(one, two), max(one, two)))
    return edges


_Point = tuple[float, float]


def _strokes(item: pdfium.PdfObject) -> Iterator[tuple[_Point, _Point]]:
    """Yield the straight segments of a path, in coordinates of the page."""
    matrix, x, y = item.get_matrix(), ctypes.c_float(), ctypes.c_float()
    start = last = None
    for index in range(raw.FPDFPath_CountSegments(item.raw)):
        segment = raw.FPDFPath_GetPathSegment(item.raw, index)
        if not raw.FPDFPathSegment_GetPoint(segment, x, y):
            return
        point = matrix.on_point(x.value, y.value)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == raw.FPDF_SEGMENT_LINETO and last is not None:
            yield last, point
        if raw.FPDFPathSegment_GetClose(segment) and start is not None:
            yield point, start
        last = point


#: Bookmarks read: more, or deeper, is damage or an attack.
_MAX_BOOKMARKS, _MAX_DEPTH = 20_000, 12


def read_outline(document: pdfium.PdfDocument) -> list[Bookmark]:
    """Return the bookmarks of a PDF in order, at most 20,000 and twelve levels deep."""
    bookmarks = []
    for item in document.get_toc(max_depth=_MAX_DEPTH):
        destination = item.get_dest()
        index = destination.get_index() if destination else None
        page = None if index is None or index < 0 else index + 1
        bookmarks.append(Bookmark(item.level + 1, visible(item.get_title()).strip(), page))
        if len(bookmarks) == _MAX_BOOKMARKS:
            break
    return bookmarks
