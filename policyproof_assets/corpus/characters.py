"""pdfplumber's text of a page, without building the page's other objects.

pdfplumber has pdfminer build an object for every character, line, rectangle and image of a page,
and read its content one small token at a time. Text needs none of that. Here plain tokens are read
by one regular expression (``content``) and all others by pdfminer's parser; every operator is
executed by pdfminer's own interpreter; character boxes follow pdfminer's formulas in the same order
of operations, so that floats are equal to the bit; and pdfplumber's own WordExtractor groups them.
On the 144 pages of the EU AI Act this takes a seventh of the time.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from pdfminer.layout import LTChar
from pdfminer.pdfdevice import PDFTextDevice
from pdfminer.pdffont import PDFFont, PDFUnicodeNotDefined
from pdfminer.pdfinterp import PDFContentParser, PDFPageInterpreter
from pdfminer.pdftypes import stream_value
from pdfminer.psparser import KWD, LIT, PSEOF, PSKeyword, keyword_name
from pdfplumber.page import Page
from pdfplumber.utils.clustering import cluster_objects
from pdfplumber.utils.text import WordExtractor

from policyproof_assets.corpus.content import PlainReader

_Matrix = tuple[float, float, float, float, float, float]


class ContentParser(PDFContentParser):
    """Yields the objects pdfminer's parser yields, most of them read by one expression."""

    BUFSIZ = 1 << 30  # a whole stream at once; the inherited 4096 splits tokens

    def objects(self) -> Iterator[Any]:
        """Yield operands and keywords in order; keywords are PSKeyword."""
        reader = PlainReader(lambda raw: LIT(raw.decode("ascii")), KWD)
        while True:
            if not (self.results or self._tokens or self.context or self.eof):
                yield from reader.objects(self.buf, self.charpos)
                self.charpos = reader.position
            try:
                yield self.nextobject()[1]
            except PSEOF:
                return


@cache
def _operator(keyword: PSKeyword) -> tuple[Callable[..., None], int] | None:
    """Return pdfminer's method for an operator and its operand count; None if unknown."""
    name = str(keyword_name(keyword)).replace("*", "_a").replace('"', "_w").replace("'", "_q")
    method = getattr(_Interpreter, f"do_{name}", None)
    return None if method is None else (method, method.__code__.co_argcount - 1)


class _Interpreter(PDFPageInterpreter):
    """pdfminer's interpreter over the fast parser."""

    def execute(self, streams: Sequence[object]) -> None:
        """Execute content streams as the inherited method does, circular references left out."""
        known = [s for s in map(stream_value, streams) if s.objid is not None]
        fresh = [s for s in known if s.objid not in self.parent_stream_ids]
        self.stream_ids = {s.objid for s in fresh if s.objid is not None}
        for item in ContentParser(fresh).objects():
            if not isinstance(item, PSKeyword):
                self.argstack.append(item)
            elif known_operator := _operator(item):
                method, count = known_operator
                operands = self.pop(count)
                if len(operands) == count:
                    method(self, *operands)

    def do_TJ(self, seq: Any) -> None:  # noqa: N802 - the operator's name
        """Show text; unlike the inherited method, without a copy of the graphics state."""
        if self.textstate.font is not None:
            state = self.graphicstate
            self.device.render_string(self.textstate, seq, state.ncs, state)


class _Glyphs(dict[int, tuple[str, float]]):
    """Text and width of a font's characters by code, each asked of pdfminer once."""

    def __init__(self, font: PDFFont) -> None:
        super().__init__()
        self._font = font

    def __missing__(self, code: int) -> tuple[str, float]:
        try:
            text = self._font.to_unichr(code)
        except PDFUnicodeNotDefined:
            text = f"(cid:{code})"  # as pdfminer prints it
        self[code] = glyph = (text, self._font.char_width(code))
        return glyph


class _Device(PDFTextDevice):
    """Collects the characters of one page as the dictionaries pdfplumber's grouping reads."""

    def __init__(self, page: Page, glyphs: Callable[[PDFFont], _Glyphs]) -> None:
        super().__init__(page.pdf.rsrcmgr)
        self.characters: list[dict[str, Any]] = []
        self._glyphs = glyphs
        self._page = page
        self._shift = page.mediabox[0]

    def _vertical(self, y0: float, y1: float) -> tuple[float, float, float]:
        """Return top, bottom and document top of a box, as pdfplumber turns them over."""
        page, above = self._page, self._page.mediabox[1]
        top = (page.height - y1) + above
        return top, (page.height - y0) + above, page.initial_doctop + top

    def render_string_horizontal(  # noqa: PLR0913, PLR0917 - inherited
        self,
        seq: Any,
        matrix: _Matrix,
        pos: tuple[float, float],
        font: PDFFont,
        fontsize: float,
        scaling: float,
        charspace: float,
        wordspace: float,
        rise: float,
        dxscale: float,
        *state: Any,
    ) -> tuple[float, float]:
        """Place the characters of one string that is neither rotated nor slanted.

        Such a string has one baseline: what LTChar computes for each character is the same for all
        but for their left and right edges.
        """
        a, b, c, d, e, f = matrix
        if b or c:
            spacing = (fontsize, scaling, charspace, wordspace, rise, dxscale)
            return super().render_string_horizontal(seq, matrix, pos, font, *spacing, *state)
        (x, y), low = pos, font.get_descent() * fontsize + rise
        y0, y1 = sorted((d * low + y * d + f, d * (low + fontsize) + y * d + f))
        top, bottom, doctop = self._vertical(y0, y1)
        upright, size = a * d * scaling > 0, y1 - y0
        glyphs, add, shift, spaced = self._glyphs(font), self.characters.append, self._shift, False
        for item in seq:
            if isinstance(item, int | float):
                x -= item * dxscale
                spaced = True
                continue
            for code in font.decode(item) if isinstance(item, bytes) else ():
                if spaced:
                    x += charspace
                text, width = glyphs[code]
                advance = width * fontsize * scaling
                x0 = x * a + e
                x1 = a * advance + x0
                if x1 < x0:
                    x0, x1 = x1, x0
                add(
                    {"text": text, "x0": x0 + shift, "x1": x1 + shift, "top": top, "bottom": bottom,
                     "doctop": doctop, "upright": upright, "size": size}
                )  # fmt: skip
                x += advance
                if code == 32 and wordspace:
                    x += wordspace
                spaced = True
        return x, y

    def render_char(
        self,
        matrix: _Matrix,
        font: PDFFont,
        fontsize: float,
        scaling: float,
        rise: float,
        cid: int,
        *state: Any,
    ) -> float:
        """Place one character of a rotated, slanted or vertical string: pdfminer's own LTChar."""
        text, width = self._glyphs(font)[cid]
        place = (text, width, font.char_disp(cid))
        shape = LTChar(matrix, font, fontsize, scaling, rise, *place, *state)
        top, bottom, doctop = self._vertical(shape.y0, shape.y1)
        x0, x1 = shape.x0 + self._shift, shape.x1 + self._shift
        self.characters.append(
            {"text": text, "x0": x0, "x1": x1, "top": top, "bottom": bottom,
             "doctop": doctop, "upright": shape.upright, "size": shape.size}
        )  # fmt: skip
        return shape.adv


class TextReader:
    """Reads the text of pages of one pdfplumber PDF; equal to ``page.extract_text()``."""

    def __init__(self) -> None:
        self._words = WordExtractor()
        self._glyphs = cache(_Glyphs)

    def text(self, page: Page) -> str:
        """Return the text of ``page``; whatever pdfminer raises for it is passed on."""
        device = _Device(page, self._glyphs)
        _Interpreter(page.pdf.rsrcmgr, device).process_page(page.page_obj)
        words = [word for word, _ in self._words.iter_extract_tuples(device.characters)]
        # Clustered by their tops, as pdfplumber's text map does.
        tops = operator.itemgetter("top")
        lines = cluster_objects(words, tops, self._words.y_tolerance, preserve_order=True)
        return "\n".join(" ".join(word["text"] for word in line) for line in lines)
