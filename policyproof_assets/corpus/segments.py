"""Runs of adjacent lines of one page, and the text they form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policyproof_assets.corpus.lines import Lines


def runs(lines: Lines, positions: Iterable[int]) -> list[tuple[int, int]]:
    """Return (first, last) position of every run of adjacent lines of one page."""
    found: list[tuple[int, int]] = []
    for position in positions:
        if found and _adjacent(lines, found[-1][1], position):
            found[-1] = (found[-1][0], position)
        else:
            found.append((position, position))
    return found


def segment(lines: Lines, first: int, last: int) -> dict[str, int]:
    """Return the run from ``first`` to ``last`` as a row of SEGMENT."""
    return {
        "start_page": lines.page[first],
        "start_line": lines.line[first],
        "end_page": lines.page[last],
        "end_line": lines.line[last],
    }


def segment_positions(lines: Lines, rows: Iterable[Mapping[str, int]]) -> Iterator[int]:
    """Return the positions of all lines of rows of SEGMENT or SLICE, in order."""
    for row in rows:
        start = lines.position(row["start_page"], row["start_line"])
        yield from range(start, lines.position(row["end_page"], row["end_line"]) + 1)


def joined(lines: Lines, positions: Sequence[int], texts: Sequence[str]) -> str:
    """Join the texts of lines: a blank line where lines of one page are not adjacent."""
    parts = list(texts[:1])
    for before, after, text in zip(positions, positions[1:], texts[1:], strict=False):
        gap = lines.page[before] == lines.page[after] and not _adjacent(lines, before, after)
        parts += ["\n\n" if gap else "\n", text]
    return "".join(parts)


def _adjacent(lines: Lines, before: int, after: int) -> bool:
    return after == before + 1 and lines.page[before] == lines.page[after]
