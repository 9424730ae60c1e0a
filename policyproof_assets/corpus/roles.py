"""What part of the page a line belongs to: text, a table, a list of contents, furniture."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Protocol

from policyproof_assets.corpus.columns import CELLS
from policyproof_assets.corpus.pieces import Piece

TEXT, TABLE, CONTENTS, FURNITURE = "text", "table", "contents", "furniture"
#: Of Markdown and HTML: what is said about the document, and signs that only separate.
METADATA, SEPARATOR = "metadata", "separator"


class _Sized(Protocol):
    text: str
    size: float


Pages = Sequence[Sequence[Piece]]

#: Lines at the top and at the bottom of a page that may be furniture, and pages they repeat on.
_DEPTH, _REPEATS = 3, 3
#: What is larger than the text by so much is a heading, although each page may have one.
_LARGE = 1.3
_PAGE_NUMBER = re.compile(
    r"(?i)[-–—\s]*(page\s*)?(\d{1,4}(\s*(/|of|\|)\s*\d{1,4})?|[ivxlc]{1,7})[-–—\s]*"
)
_CONTENTS = re.compile(r"(?i)(table of )?contents|list of (figures|tables)|index")
_LEADER = re.compile(r".*?(\.\s?){3,}\s*\|?\s*(\d{1,4}|[ivxlcdm]{1,7})|.*?\s…+\s*\d{1,4}")
_ENTRY = re.compile(r".*\S\s+(\|\s*)?(\d{1,4}|[ivxlcdm]{1,7})")
#: Lines of a wrapped entry before its page number.
_ENTRY_LINES = 3


def assign_roles(pages: Pages) -> list[list[str]]:
    """Return the role of every line."""
    lines = [line for page in pages for line in page]
    size = main_size([line for line in lines if not line.table] or lines)
    roles = [[TABLE if line.table else TEXT for line in page] for page in pages]
    for page, row in zip(pages, roles, strict=True):
        _mark_contents(page, row)
    _mark_furniture(pages, roles, _LARGE * size)
    return roles


def main_size(lines: Iterable[_Sized]) -> float:
    """Return the font size of most characters, 0 if there are none."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    return max(sizes.items(), key=lambda item: (item[1], item[0]))[0] if sizes else 0.0


def _mark_contents(page: Sequence[Piece], roles: list[str]) -> None:
    """Mark runs of entries with leaders, and of entries with numbers below a title."""
    start = 0
    while start < len(page):
        titled = _CONTENTS.fullmatch(page[start].text.strip()) is not None
        opens = titled or _LEADER.fullmatch(page[start].text)
        stop = _entries(page, start + titled, _ENTRY if titled else _LEADER) if opens else start
        if stop > start + 2:
            roles[start:stop] = [CONTENTS] * (stop - start)
        start = max(stop, start + 1)


def _entries(page: Sequence[Piece], start: int, entry: re.Pattern[str]) -> int:
    """Return where a run of entries ends; ``start`` if the line there opens none."""
    stop = start
    for index in range(start, len(page)):
        if index - stop >= _ENTRY_LINES:
            break
        if entry.fullmatch(page[index].text):
            stop = index + 1
    return stop


def _mark_furniture(pages: Pages, roles: list[list[str]], largest: float) -> None:
    """Mark the outermost lines whose every part repeats at edges of pages, or numbers the page."""
    edges = [(_outermost(page, 1), _outermost(page, -1)) for page in pages]
    said: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, (page, (top, bottom)) in enumerate(zip(pages, edges, strict=True)):
        for part in {part for i in {*top, *bottom} for part in _parts(page[i])}:
            said[_key(part)].append((number, part))
    needed = min(_REPEATS, max(2, len(pages) - 1))
    repeated = {key: _in_step(places) for key, places in said.items()}
    repeated = {key: pages for key, pages in repeated.items() if len(pages) >= needed}
    for number, (page, sides) in enumerate(zip(pages, edges, strict=True)):
        known = {key for key, pages in repeated.items() if number in pages}
        for place in (i for side in sides for i in _until_text(page, side, known)):
            if page[place].size <= largest:
                roles[number][place] = FURNITURE


def _until_text(page: Sequence[Piece], side: Sequence[int], known: Set[str]) -> Iterator[int]:
    """Yield the places of furniture; what lies further in than a line of text is text."""
    for place in side:
        line = page[place]
        repeats = known.issuperset(map(_key, _parts(line)))
        if line.table or not (repeats or _PAGE_NUMBER.fullmatch(line.text)):
            return
        yield place


def _outermost(page: Sequence[Piece], sign: int) -> list[int]:
    return sorted(range(len(page)), key=lambda i: (sign * page[i].base, page[i].x0))[:_DEPTH]


def _parts(line: Piece) -> list[str]:
    return line.text.casefold().split(CELLS)


def _key(part: str) -> str:
    return re.sub(r"\d+", "#", part)


def _in_step(places: Sequence[tuple[int, str]]) -> set[int]:
    """Return the pages of texts whose numbers all stay the same or count the pages.

    ``Article 5`` at the top of a page and ``Article 6`` at the top of another are no furniture.
    """
    pages = [page for page, _ in places]
    kept = set(pages)
    for numbers in zip(
        *([int(n[:9]) for n in re.findall(r"\d+", t)] for _, t in places), strict=True
    ):
        steps = [number - page for number, page in zip(numbers, pages, strict=True)]
        values = max(numbers, steps, key=lambda v: Counter(v).most_common(1)[0][1])
        usual = Counter(values).most_common(1)[0][0]
        kept &= {page for page, value in zip(pages, values, strict=True) if value == usual}
    return kept
