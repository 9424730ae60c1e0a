"""Pieces: the lines of a logical source, split where a passage may end inside a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from policyproof_assets.corpus.lines import Lines

# Kinds of cut with their penalty in the partition; a cut at a safe boundary has none.
SENTENCE = ("after_sentence_in_line", 1)
LINE = ("at_line_end", 2)
WORD = ("at_word_in_line", 3)
CHARACTER = ("at_character_in_line", 4)

_SENTENCE_END = re.compile(r"(?<=[.!?;:])[\"'”’)\]]*\s+")
_WORD_END = re.compile(r"\s+")


@dataclass(frozen=True)
class Piece:
    """Part of a line: characters ``start`` to ``stop`` (exclusive; null: the line's end).

    ``cut`` is the kind and penalty of a passage's end after the piece; null where none may end.
    """

    position: int
    start: int | None = None
    stop: int | None = None
    cut: tuple[str, int] | None = None

    def text(self, lines: Lines) -> str:
        """Return the piece's text, stripped."""
        return lines.text[self.position][self.start : self.stop].strip()


def line_pieces(
    positions: Sequence[int],
    boundaries: Sequence[str | None],
    anchors: Mapping[int, int],
) -> list[Piece]:
    """Return the pieces of a source's lines; ``anchors``: the character to cut at, by position."""
    found = []
    for position, boundary in zip(positions, [*boundaries, None], strict=True):
        cut = (boundary, 0) if boundary else None
        if (char := anchors.get(position)) is not None:
            found.append(Piece(position, None, char, SENTENCE))
        found.append(Piece(position, char, None, cut))
    return found


def loosened(
    lines: Lines, pieces: Sequence[Piece], tokens: Sequence[int], limit: int
) -> Iterator[Piece]:
    """Yield pieces that may be cut at any line's end, and inside where ``tokens`` pass ``limit``.

    A long piece is cut after sentences and, lest one sentence is too long, between words; a word
    that is too long in itself, between characters.
    """
    for piece, count in zip(pieces, tokens, strict=True):
        if count > limit:
            yield from _split(lines, piece, limit)
        else:
            yield Piece(piece.position, piece.start, piece.stop, piece.cut or LINE)


def _split(lines: Lines, piece: Piece, limit: int) -> Iterator[Piece]:
    text = lines.text[piece.position]
    start, stop = piece.start or 0, len(text) if piece.stop is None else piece.stop
    sentences = {match.end() for match in _SENTENCE_END.finditer(text, start, stop)}
    words = {match.end() for match in _WORD_END.finditer(text, start, stop)}
    ends = sorted((sentences | words) - {start, stop} | _characters(start, stop, words, limit))
    before = piece.start
    for end in ends:
        kind = SENTENCE if end in sentences else WORD if end in words else CHARACTER
        yield Piece(piece.position, before, end, kind)
        before = end
    yield Piece(piece.position, before, piece.stop, piece.cut or LINE)


def _characters(start: int, stop: int, words: set[int], limit: int) -> set[int]:
    """Return cuts inside words of more than ``limit`` characters: a token has at least one."""
    places = [start, *sorted(words), stop]
    return {cut for a, b in pairwise(places) if b - a > limit for cut in range(a + limit, b, limit)}
