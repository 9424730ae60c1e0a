"""Levels of headings: which of two headings contains the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: Sizes that differ by less are one size.
_SAME_SIZE = 0.4


@dataclass(frozen=True)
class Entry:
    """What the level of a heading is decided by.

    ``parts`` are those of its number, ``rank`` and ``top`` of the word that opens it, ``outline``
    the level of its bookmark, ``prominence`` (size, bold, capitals) how it is set.
    """

    kind: str
    word: str
    rank: int
    top: bool
    parts: tuple[str, ...]
    outline: int | None
    prominence: tuple[float, bool, bool]
    title: bool = False


def levels(entries: Sequence[Entry]) -> list[int]:
    """Return the level of each heading, from 1: one below the nearest that contains it."""
    restarts = sum(e.kind == "number" and e.parts == ("1",) for e in entries) > 1
    found: list[int] = []
    open_: list[Entry] = []
    for entry in entries:
        while open_ and not _contains(open_[-1], entry, restarts=restarts):
            open_.pop()
        open_.append(entry)
        found.append(len(open_))
    return found


def _contains(above: Entry, below: Entry, *, restarts: bool) -> bool:  # noqa: PLR0911 -- a list of cases
    if above.title:
        return True
    if below.title or below.top:
        return False
    if above.kind == below.kind and above.kind in ("number", "letter", "label", "word"):
        return _contains_kin(above, below)
    if below.kind == "label" or above.kind == "label":
        return below.kind == "label"
    if above.outline is not None and below.outline is not None:
        return above.outline < below.outline
    if above.kind == "word" or below.kind == "word":
        return above.kind == "word" or _is_more_prominent(above, below)
    # Numbers that begin again do so below an unnumbered heading; else those run beside it.
    beside = below.kind == "number" and len(below.parts) == 1 and not restarts
    return not beside and _is_more_prominent(above, below)


def _contains_kin(above: Entry, below: Entry) -> bool:
    """Decide between two headings that are numbered in the same way."""
    if above.kind == "word" and above.word != below.word:
        return above.rank < below.rank
    same = above.word == below.word
    shorter = len(above.parts) < len(below.parts)
    return same and shorter and below.parts[: len(above.parts)] == above.parts


def _is_more_prominent(above: Entry, below: Entry) -> bool:
    (size, bold, capitals), (size_, bold_, capitals_) = above.prominence, below.prominence
    if abs(size - size_) >= _SAME_SIZE:
        return size > size_
    return (bold, capitals) > (bold_, capitals_)
