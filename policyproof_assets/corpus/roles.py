"""What part of the page a line belongs to: text, a table, a note, a list of contents, furniture."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from policyproof_assets.corpus.columns import CELLS
from policyproof_assets.corpus.glyphs import Piece

TEXT, TABLE, NOTE, CONTENTS, FURNITURE = "text", "table", "note", "contents", "furniture"
#: Of Markdown and HTML: what is said about the document, and signs that only separate.
METADATA, SEPARATOR = "metadata", "separator"

Pages = Sequence[Sequence[Piece]]
Place = tuple[int, int]  # index of the page, index of the line

#: Lines at the top and at the bottom of a page that may be furniture.
_DEPTH = 3
#: Pages on which a line must repeat, and their share where the whole document is shorter.
_REPEATS = 3
#: What is larger than the text by so much is a heading, although each page may have one.
_LARGE = 1.3
#: A place at the edge that most pages fill with whatever text (running section titles).
_SHARED, _SHARED_PAGES, _SHARED_GAP = 0.6, 4, 1.5
_PAGE_NUMBER = re.compile(
    r"(?i)[-–—\s]*(page\s*)?(\d{1,4}(\s*(/|of|\|)\s*\d{1,4})?|[ivxlc]{1,7})[-–—\s]*"
)

_CONTENTS = re.compile(r"(?i)(table of )?contents|list of (figures|tables)|index")
_LEADER = re.compile(r".*?(\.\s?){3,}\s*\|?\s*(\d{1,4}|[ivxlcdm]{1,7})|.*?\s…+\s*\d{1,4}")
_ENTRY = re.compile(r".*\S\s+(\|\s*)?(\d{1,4}|[ivxlcdm]{1,7})")
#: Lines of a wrapped entry before its page number.
_ENTRY_LINES = 3
_NOTE = re.compile(r"\(?\s?\d{1,3}\s?\)?\s|[*†‡§]")
_NOTE_SIZE = 0.95


def is_contents_title(text: str) -> bool:
    """Say whether a line is the title of a list of contents."""
    return _CONTENTS.fullmatch(text.strip()) is not None


def assign_roles(pages: Pages, body_size: float) -> list[list[str]]:
    """Return the role of every line; ``body_size`` is the font size of most of the text."""
    roles = [[TABLE if line.table else TEXT for line in page] for page in pages]
    for index, page in enumerate(pages):
        _mark_contents(page, roles[index])
    for page, line in _furniture(pages, body_size):
        roles[page][line] = FURNITURE
    _mark_letterheads(pages, roles, body_size)
    for index, page in enumerate(pages):
        _mark_notes(page, roles[index], body_size)
    return roles


def _mark_contents(page: Sequence[Piece], roles: list[str]) -> None:
    for index, line in enumerate(page):
        if is_contents_title(line.text) and roles[index] != CONTENTS:
            stop = _entries(page, index + 1, _ENTRY)
            if stop > index + 2:
                roles[index:stop] = [CONTENTS] * (stop - index)
    for index in range(len(page)):
        if roles[index] != CONTENTS:
            stop = _entries(page, index, _LEADER)
            if stop > index + 2:
                roles[index:stop] = [CONTENTS] * (stop - index)


def _entries(page: Sequence[Piece], start: int, entry: re.Pattern[str]) -> int:
    """Return where a run of entries ends; ``start`` if the line there opens none."""
    stop = start
    for index in range(start, len(page)):
        if index - stop >= _ENTRY_LINES:
            break
        if entry.fullmatch(page[index].text):
            stop = index + 1
    return stop


def _furniture(pages: Pages, body_size: float) -> Iterator[Place]:
    for edge in (_top, _bottom):
        edges = [edge(page) for page in pages]
        shared = _shared_places(pages, edges, body_size)
        for depth in range(_DEPTH):
            repeated = _repeated(pages, edges, depth, _LARGE * body_size)
            for index, order in enumerate(edges):
                place = (index, order[depth]) if depth < len(order) else None
                number = place and _is_page_number(pages[index][place[1]])
                if place and (place in repeated or place in shared or number):
                    yield place
                else:
                    # What lies further in than a line of text is text.
                    del order[depth:]


def _mark_letterheads(pages: Pages, roles: list[list[str]], body_size: float) -> None:
    """Mark lines at an edge that repeat, in part or whole, what an edge of another page says.

    Those are letterheads, and running heads of documents too short for counting. What is larger
    than the text is the title that they repeat.
    """
    first = [line for line, _ in _edge_lines(pages[:1], roles)]
    known = _sayings(line for line, role in _edge_lines(pages, roles) if role == FURNITURE)
    for index, page in enumerate(pages):
        said = known | (_sayings(first) if index else set())
        for edge in (_top(page), _bottom(page)):
            for place in edge:
                line = page[place]
                if line.size > body_size or not _sayings([line]) <= said:
                    break
                roles[index][place] = FURNITURE


def _edge_lines(pages: Pages, roles: list[list[str]]) -> Iterator[tuple[Piece, str]]:
    for page, row in zip(pages, roles, strict=False):
        yield from ((page[i], row[i]) for i in {*_top(page), *_bottom(page)})


def _sayings(lines: Iterable[Piece]) -> set[str]:
    return {part.strip().casefold() for line in lines for part in line.text.split(CELLS)}


def _top(page: Sequence[Piece]) -> list[int]:
    return sorted(range(len(page)), key=lambda i: (page[i].base, page[i].x0))[:_DEPTH]


def _bottom(page: Sequence[Piece]) -> list[int]:
    return sorted(range(len(page)), key=lambda i: (-page[i].base, page[i].x0))[:_DEPTH]


def _is_page_number(line: Piece) -> bool:
    return not line.table and _PAGE_NUMBER.fullmatch(line.text) is not None


def _repeated(pages: Pages, edges: Sequence[list[int]], depth: int, largest: float) -> set[Place]:
    """Return the lines at ``depth`` from the edge whose text repeats, digits aside."""
    found: dict[tuple[str, float], list[Place]] = defaultdict(list)
    for index, order in enumerate(edges):
        for line in order[depth : depth + 1]:
            if not pages[index][line].table and pages[index][line].size <= largest:
                found[_key(pages[index][line])].append((index, line))
    needed = min(_REPEATS, max(2, len(pages) - 1))
    kept = [_in_step(pages, places) for places in found.values() if len(places) >= needed]
    return {place for places in kept if len(places) >= needed for place in places}


def _key(line: Piece) -> tuple[str, float]:
    return re.sub(r"\d+", "#", re.sub(r"\s+", "", line.text)).lower(), line.size


def _in_step(pages: Pages, places: Sequence[Place]) -> list[Place]:
    """Keep the lines whose numbers stay the same or count the pages.

    ``Article 5`` at the top of a page and ``Article 6`` at the top of another are no furniture.
    """
    numbers = [[int(n[:9]) for n in re.findall(r"\d+", pages[p][i].text)] for p, i in places]
    kept = set(range(len(places)))
    for column in zip(*numbers, strict=True):
        offsets = [n - page for n, (page, _) in zip(column, places, strict=True)]
        same, step = (Counter(values).most_common(1)[0] for values in (column, offsets))
        values, usual = (column, same[0]) if same[1] >= step[1] else (offsets, step[0])
        kept &= {i for i, value in enumerate(values) if value == usual}
    return [places[i] for i in sorted(kept)]


def _shared_places(pages: Pages, edges: Sequence[list[int]], body_size: float) -> set[Place]:
    """Return the outermost lines that stand at one height on most pages, apart from the text."""
    heights: dict[float, list[Place]] = defaultdict(list)
    for index, order in enumerate(edges):
        if len(order) < 2 or pages[index][order[0]].table:
            continue
        outer, inner = pages[index][order[0]], pages[index][order[1]]
        if abs(outer.base - inner.base) > _SHARED_GAP * max(outer.size, inner.size, body_size):
            heights[round(outer.base)].append((index, order[0]))
    needed = max(_SHARED_PAGES, _SHARED * len(pages))
    return {place for places in heights.values() if len(places) >= needed for place in places}


def _mark_notes(page: Sequence[Piece], roles: list[str], body_size: float) -> None:
    """Mark the small lines that close each column, from the first with a note's sign on."""
    for column in {line.column for line in page}:
        places = [i for i, p in enumerate(page) if p.column == column and roles[i] != FURNITURE]
        places.sort(key=lambda i: page[i].base)
        first = len(places)
        for back, i in reversed(list(enumerate(places))):
            line = page[i]
            if roles[i] != TEXT or line.size > _NOTE_SIZE * body_size:
                break
            if line.raised or _NOTE.match(line.text):
                first = back
        for i in places[first:]:
            roles[i] = NOTE


def body_size(pages: Pages) -> float:
    """Return the font size of most characters, tables aside if there is other text."""
    sizes: Counter[float] = Counter()
    for table in (False, True):
        for page in pages:
            for line in page:
                if line.table == table:
                    sizes[line.size] += len(line.text)
        if sizes:
            break
    return max(sizes.items(), key=lambda item: (item[1], item[0]))[0] if sizes else 0.0
