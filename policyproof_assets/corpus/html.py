"""HTML documents: one page, whose line n is what a reader sees of line n of the file.

Headings are ``h1`` to ``h6``, cells of a table's row are joined as ``cell | cell``; scripts,
styles, templates, comments and the head are not seen.
"""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict

from policyproof_assets.corpus.columns import CELLS
from policyproof_assets.corpus.markdown import frame_of, read_lines, row
from policyproof_assets.corpus.roles import FURNITURE, TABLE, TEXT

_UNSEEN = frozenset({"script", "style", "template", "head", "noscript", "svg", "math"})
_FRAME = frozenset({"nav", "header", "footer"})
_HEADING = re.compile(r"h([1-6])")
#: Elements that do not part words.
_INLINE = frozenset(
    (
        *("a", "abbr", "b", "bdi", "bdo", "cite", "code", "del", "dfn", "em", "font", "i", "ins"),
        *("kbd", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "u"),
        *("var", "wbr"),
    )
)


class HtmlRules(BaseModel):
    """The section [extract] of a profile for HTML."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    extractor: Literal["html"]


def read_html(path: Path, document_id: str, _rules: HtmlRules | None = None) -> pl.DataFrame:
    """Read an HTML file into PAGES: page 1, with a line for every line of the file.

    Raises ExtractError that names the file: not UTF-8, without text, or over a limit.
    """
    lines = read_lines(path)
    reader = _Reader(len(lines))
    reader.feed("\n".join(lines))
    reader.close()
    texts = [" ".join(text.split()) for text in reader.texts]
    return frame_of(path, document_id, texts, reader.layouts)


class _Reader(HTMLParser):
    """Collects text by line; ``open_`` counts the elements open, by name."""

    def __init__(self, size: int) -> None:
        super().__init__(convert_charrefs=True)
        self.texts = [""] * size
        self.layouts: list[dict[str, Any]] = [row(TEXT) for _ in range(size)]
        self._open = Counter[str]()
        self._heading: tuple[int, int] | None = None
        self._ended = (-1, -1)  # where the last heading ended and began
        self._cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 -- the signature of HTMLParser
        self._open[tag] += 1
        line = self.getpos()[0] - 1
        if match := _HEADING.fullmatch(tag):
            alone = not self.texts[line].strip() or self.layouts[line]["role"] == FURNITURE
            self._heading = (line, int(match[1])) if alone else None
        if tag in ("td", "th"):
            self._cell = bool(self.texts[line].strip()) and not self.texts[line].endswith(CELLS)
        elif tag not in _INLINE:
            self.texts[line] += " "

    def handle_endtag(self, tag: str) -> None:
        self._open[tag] = max(0, self._open[tag] - 1)
        if _HEADING.fullmatch(tag) and self._heading:
            start, level = self._heading
            self._heading = None
            stop = self.getpos()[0]
            first = next((i for i in range(start, stop) if self.texts[i].strip()), None)
            if first is not None and self.layouts[first]["role"] == TEXT:
                self.layouts[first] |= {"outline": level, "outline_lines": stop - first}
                self._ended = (stop - 1, first)
        elif tag not in _INLINE:
            self.texts[self.getpos()[0] - 1] += " "

    def handle_data(self, data: str) -> None:
        if any(self._open[tag] for tag in _UNSEEN):
            return
        line = self.getpos()[0] - 1
        role = FURNITURE if any(self._open[tag] for tag in _FRAME) else TEXT
        role = TABLE if role == TEXT and self._open["table"] else role
        for offset, part in enumerate(data.split("\n")):
            index = line + offset
            if not part.strip() or index >= len(self.texts):
                continue
            if self._cell and self.texts[index].strip():
                self.texts[index] = self.texts[index].rstrip() + CELLS
            self._cell = False
            before = self.layouts[index]["role"] if self.texts[index].strip() else role
            if role == FURNITURE != before:
                continue  # what surrounds the text is not seen on a line of the text
            if before == FURNITURE != role:
                self.texts[index] = ""
            if index == self._ended[0] and not self._heading:  # a line of text is no heading
                self.layouts[self._ended[1]] |= {"outline": None, "outline_lines": None}
            self.texts[index] += part
            self.layouts[index]["role"] = role
