"""What a PDF page prints: pieces of text with position and style, and the file's bookmarks.

Characters come from pdfplumber. Distances are points (1/72 inch) from the top left of the page.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

import pypdfium2
from pdfplumber.page import Page
from pdfplumber.utils.text import LIGATURES, WordExtractor

#: Names of bold and italic faces: plain words, and those of TeX and Nimbus.
_BOLD = re.compile(r"bold|black|heavy|demi|medi(?!um)|bx\d", re.IGNORECASE)
_ITALIC = re.compile(r"ital|oblique|slant|ti\d|sl\d", re.IGNORECASE)
#: A gap of this share of the font size is a word space, of a whole size another piece of the line.
_SPACE, _PIECE = 0.15, 1.0
_MAX_SIZE = 10_000.0
#: Controls, surrogates, noncharacters, zero-width and direction marks: nothing a reader sees. The
#: joiners U+200C and U+200D stay, since some scripts need them.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    r"\ufff0-\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
#: What ``splitlines`` takes for the end of a line, besides LF and CR.
_BREAKS = re.compile(r"[\v\f\x1c-\x1e\x85\u2028\u2029]")
#: Codes that WinAnsiEncoding leaves open, which are bullets (ISO 32000-1, D.2), as pdfminer says.
_BULLETS = re.compile(r"\(cid:(?:127|129|141|143|144|157)\)")
#: Bookmarks read: more, or deeper, is damage or an attack.
_MAX_BOOKMARKS, _MAX_DEPTH = 20_000, 12


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
    table: bool = False  # a row of a table
    column: int = 0


@dataclass(frozen=True)
class Bookmark:
    """A bookmark; ``level`` from 1, ``page`` from 1, or None if it leads nowhere."""

    level: int
    title: str
    page: int | None


def visible(text: str) -> str:
    """Return ``text`` without what has no glyph, as one line for ``splitlines``."""
    return _INVISIBLE.sub("", _BREAKS.sub(" ", text))


def read_pieces(page: Page) -> dict[int, list[Piece]]:
    """Return the pieces of text of a page by the direction they run in, most of them first.

    A direction is in degrees against the clock; positions run along and across it.
    """
    extractor = WordExtractor(x_tolerance_ratio=_PIECE)
    turned: dict[int, list[dict[str, Any]]] = {}
    for char in _characters(page):
        turned.setdefault(char["angle"], []).append(char)
    ordered = sorted(turned.items(), key=lambda item: (-len(item[1]), item[0]))
    return {
        angle: [_piece(chars) for _, chars in extractor.iter_extract_tuples(group)]
        for angle, group in ordered
    }


def _characters(page: Page) -> Iterator[dict[str, Any]]:
    """Yield the visible characters, each with whether a space follows; none beside the page."""
    last: dict[str, Any] = {}
    left, top, right, bottom = page.bbox
    for char in page.chars:
        text = visible(LIGATURES.get(char["text"]) or _BULLETS.sub("•", char["text"]))
        if char["x1"] < left or char["x0"] > right or char["bottom"] < top or char["top"] > bottom:
            continue
        if not text.strip():
            last["spaced"] = bool(text) or last.get("spaced", False)
            continue
        a, b, _, _, x, y = char["matrix"]
        angle, width = math.atan2(b, a), char["adv"] * math.hypot(a, b)
        cos, sin = math.cos(angle), math.sin(angle)
        # The box of a turned character holds its width and its height at once.
        size = char["height"] * abs(cos) + char["width"] * abs(sin) - 2 * width * abs(sin * cos)
        # pdfminer's origin is the corner of the media box, that of pdfplumber's boxes is not.
        x, y = x + page.mediabox[0], page.height + page.mediabox[1] - y
        start, base = x * cos - y * sin, x * sin + y * cos
        if not all(map(math.isfinite, (start, base, width, size))):
            continue
        size = min(round(size, 1), _MAX_SIZE)
        last = {
            "text": text,
            "x0": start,
            "x1": start + width,
            "top": base - size,
            "bottom": base,
            "doctop": base - size,
            "upright": True,
            "size": size,
            "font": char["fontname"].rpartition("+")[2],
            "angle": round(math.degrees(angle)),
            "spaced": False,
        }
        yield last


def _piece(chars: list[dict[str, Any]]) -> Piece:
    size = _most(char["size"] for char in chars)
    bold = [bool(_BOLD.search(char["font"])) for char in chars]
    italic = sum(bool(_ITALIC.search(char["font"])) for char in chars)
    spelled = [chars[0]["text"]]
    for before, char in pairwise(chars):
        gap = char["x0"] - before["x1"] > _SPACE * max(before["size"], char["size"])
        spelled.append((" " if gap or before["spaced"] else "") + char["text"])
    leading = bold.index(False) if False in bold else len(bold)
    return Piece(
        text="".join(spelled),
        x0=round(chars[0]["x0"], 1),
        x1=round(max(char["x1"] for char in chars), 1),
        base=_most(round(char["bottom"], 1) for char in chars if char["size"] == size),
        size=size,
        bold=sum(bold) >= 0.8 * len(chars),
        italic=italic >= 0.8 * len(chars),
        lead=len("".join(spelled[:leading])),
    )


def _most(values: Iterable[float]) -> float:
    """Return the commonest value; the larger one on a tie, whatever the order."""
    return max(Counter(values).items(), key=lambda item: (item[1], item[0]))[0]


def read_outline(document: pypdfium2.PdfDocument) -> list[Bookmark]:
    """Return the bookmarks of a PDF in order, at most 20,000 and twelve levels deep."""
    bookmarks = []
    for item in islice(document.get_toc(max_depth=_MAX_DEPTH), _MAX_BOOKMARKS):
        destination = item.get_dest()
        index = destination.get_index() if destination else None
        page = None if index is None or index < 0 else index + 1
        bookmarks.append(Bookmark(item.level + 1, visible(item.get_title()).strip(), page))
    return bookmarks
