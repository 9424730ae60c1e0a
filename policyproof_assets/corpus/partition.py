"""Where passages end: pieces of lines, and the best way to cut their row into parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from policyproof_assets.corpus.lines import Lines

# Kinds of cut with their penalty in the partition; a cut at a safe boundary has none.
SENTENCE = ("after_sentence_in_line", 1)
LINE = ("at_line_end", 2)
WORD = ("at_word_in_line", 3)
CHARACTER = ("at_character_in_line", 4)

_SENTENCE_END = re.compile(r"(?<=[.!?;:])[\"'”’)\]]*\s+")
_WORD_END = re.compile(r"\s+")


class Piece(NamedTuple):
    """Part of a line: characters ``start`` to ``stop`` (exclusive; None: the line's end).

    ``cut`` is the kind and penalty of a passage's end after the piece; None where none may end.
    """

    position: int
    start: int | None = None
    stop: int | None = None
    cut: tuple[str, int] | None = None

    def text(self, lines: Lines) -> str:
        """Return the piece's text, stripped."""
        return lines.text[self.position][self.start : self.stop].strip()


def line_pieces(
    positions: Sequence[int], boundaries: Sequence[str | None], anchors: Mapping[int, int]
) -> Iterator[Piece]:
    """Yield the pieces of a source's lines; ``anchors``: the character to cut at, by position."""
    for position, boundary in zip(positions, [*boundaries, None], strict=True):
        anchor = anchors.get(position)
        if anchor is not None:
            yield Piece(position, None, anchor, SENTENCE)
        yield Piece(position, anchor, None, (boundary, 0) if boundary else None)


def loosened(
    lines: Lines, pieces: Sequence[Piece], tokens: Sequence[int], limit: int
) -> Iterator[Piece]:
    """Yield pieces that may be cut at any line's end, and inside where ``tokens`` pass ``limit``.

    A long piece is cut after sentences and, lest one sentence is too long, between words; a word
    that is too long in itself, between characters.
    """
    for piece, count in zip(pieces, tokens, strict=True):
        before = piece.start
        for end, kind in _ends_inside(lines.text[piece.position], piece, limit, count):
            yield Piece(piece.position, before, end, kind)
            before = end
        yield Piece(piece.position, before, piece.stop, piece.cut or LINE)


def _ends_inside(
    text: str, piece: Piece, limit: int, tokens: int
) -> Iterator[tuple[int, tuple[str, int]]]:
    if tokens <= limit:
        return
    start, stop = piece.start or 0, len(text) if piece.stop is None else piece.stop
    sentences = {match.end() for match in _SENTENCE_END.finditer(text, start, stop)}
    words = {match.end() for match in _WORD_END.finditer(text, start, stop)}
    ends = (sentences | words) - {start, stop}
    for a, b in pairwise([start, *sorted(words), stop]):
        if b - a > limit:  # characters, of which a token has at least one
            ends.update(range(a + limit, b, limit))
    for end in sorted(ends):
        yield end, SENTENCE if end in sentences else WORD if end in words else CHARACTER


def partition(
    weights: Sequence[int], cuts: Mapping[int, int], *, label: int, hard: int, target: int
) -> list[int] | None:
    """Return the ends (exclusive, ascending) of the parts, or None if a part cannot fit.

    A part of the pieces ``i`` to ``j`` weighs ``label`` plus the sum of their ``weights`` and may
    weigh at most ``hard``. ``cuts`` maps each index a part may end before (1 to
    ``len(weights) - 1``) to its penalty. Chosen are the fewest parts, then the least penalty, then
    the smallest sum of ``|target - weight|``; on a tie the last part starts earliest, and so on for
    what precedes it.
    Dynamic programming over the cuts; every part looks back only as far as ``hard`` allows.
    """
    total = [0, *accumulate(weights)]
    places = [0, *sorted(cuts), len(weights)]
    # The cost of the best partition up to a place, and its ends.
    best: dict[int, tuple[tuple[int, int, int], list[int]]] = {0: ((0, 0, 0), [])}
    first = 0
    for j, end in enumerate(places[1:], 1):
        while first < j and label + total[end] - total[places[first]] > hard:
            first += 1
        for start in places[first:j]:
            if start not in best:
                continue
            (parts, penalty, distance), ends = best[start]
            weight = label + total[end] - total[start]
            cost = (parts + 1, penalty + cuts.get(end, 0), distance + abs(target - weight))
            if end not in best or cost < best[end][0]:
                best[end] = cost, [*ends, end]
    return best[len(weights)][1] if len(weights) in best else None
