"""What differs between two sets of passages: two releases, or two versions of a document.

Words decide, not lines: passages with the same words are the same however their lines break. What
changed under a heading between two passages that did not is compared as one text, because one more
sentence moves the ends of all passages after it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from policyproof_runtime.passages import Passages
from policyproof_runtime.types import Citation

#: Share of the words of the shorter text that two texts have in common if one became the other.
#: Unrelated texts of one subject share about a third: articles and prepositions in the same order.
LIKENESS = 0.5
_CONTEXT = 5  # words shown before and after a difference
# Above this many words the matcher may skip the commonest ones, or it would take minutes.
_MANY_WORDS = 6_000
_HYPHENATED = re.compile(r"\w+(?:-\w+)+")
_WRAPPED = re.compile(r"(\w+(?:-\w+)*)-[ \t]*\n\s*(\w+(?:-\w+)*)")

Kind = Literal["changed", "added", "removed", "moved", "same_words"]
# Positions of passages of one side, in order.
_Run = list[int]
# As difflib gives them: tag, first and end of the old side, first and end of the new side.
_Block = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class Piece:
    """A passage under its heading path; ``scope`` is its document where several are compared."""

    scope: str
    heading: tuple[str, ...]
    citation: Citation


@dataclass(frozen=True)
class Words:
    """Words that differ, with the equal words around them; ``old`` or ``new`` may be empty."""

    before: str
    old: str
    new: str
    after: str


@dataclass(frozen=True)
class Change:
    """One difference: the passages it concerns on either side, and the words that differ."""

    kind: Kind
    old: tuple[Piece, ...] = ()
    new: tuple[Piece, ...] = ()
    words: tuple[Words, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """All differences in the order of the new side, and how many passages are the same."""

    changes: tuple[Change, ...]
    same: int


def pieces(passages: Passages, *, scoped: bool) -> list[Piece]:
    """Return the passages of a table; ``scoped`` if it holds several documents."""
    citations = map(passages.citation, range(len(passages)))
    return [
        Piece(c.document_id if scoped else "", tuple(path or (c.label,)), c)
        for c, path in zip(citations, passages.column("path"), strict=True)
    ]


def compare(old: Sequence[Piece], new: Sequence[Piece]) -> Comparison:
    """Compare two lists of passages, each in the order of its documents."""
    return _Comparer(old, new).run()


class _Comparer:
    """(1) the same words under the same heading, in order; (2) elsewhere; (3) what is left."""

    def __init__(self, old: Sequence[Piece], new: Sequence[Piece]) -> None:
        self._old, self._new = old, new
        texts = [piece.citation.excerpt for piece in (*old, *new)]
        known = frozenset(word for text in texts for word in _HYPHENATED.findall(text))
        words = [_words(text, known) for text in texts]
        self._a, self._b = words[: len(old)], words[len(old) :]

    def run(self) -> Comparison:
        a, b = _keys(self._old, self._a), _keys(self._new, self._b)
        blocks = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
        equal = {
            i + n: j + n for tag, i, end, j, _ in blocks if tag == "equal" for n in range(end - i)
        }
        moved = self._moved(equal)
        changes = [
            *((j, self._change("same_words", [i], [j])) for i, j in equal.items()),  # 1
            *((j, self._change("moved", [i], [j])) for i, j in moved.items()),  # 2
            *self._left_over(blocks, moved),  # 3
        ]
        changes.sort(key=lambda item: item[0])
        shown = [c for _, c in changes if c.kind != "same_words" or _text(c.old) != _text(c.new)]
        return Comparison(tuple(shown), len(changes) - len(shown))

    def _moved(self, equal: dict[int, int]) -> dict[int, int]:
        """Pair passages of the same words that are not ``equal``, the first with the first."""
        places: dict[Any, _Run] = defaultdict(list)
        for j in sorted(set(range(len(self._b))).difference(equal.values()), reverse=True):
            places[self._b[j]].append(j)
        free = [(i, places.get(words)) for i, words in enumerate(self._a) if i not in equal]
        return {i: js.pop() for i, js in free if js}

    def _left_over(
        self, blocks: Sequence[_Block], moved: dict[int, int]
    ) -> Iterator[tuple[float, Change]]:
        """Yield what changed, by heading, in each stretch between passages that did not."""
        taken = set(moved.values())
        for tag, i, i_end, j, j_end in blocks:
            if tag != "equal":
                olds = _by_heading(self._old, [n for n in range(i, i_end) if n not in moved])
                news = _by_heading(self._new, [n for n in range(j, j_end) if n not in taken])
                for key in olds | news:
                    yield from self._compare(olds.get(key, []), news.get(key, []), j)

    def _compare(self, left: _Run, right: _Run, place: int) -> Iterator[tuple[float, Change]]:
        """Yield how the words of one run became those of another, or that they did not."""
        a = [word for i in left for word in self._a[i]]
        b = [word for j in right for word in self._b[j]]
        matcher = SequenceMatcher(None, a, b, autojunk=len(b) > _MANY_WORDS)
        common = sum(block.size for block in matcher.get_matching_blocks())
        if left and right and common >= LIKENESS * min(len(a), len(b)):
            words = _differences(matcher, a, b)
            kind: Kind = "changed" if words else "same_words"
            yield right[0], self._change(kind, left, right, *words)
            return
        before = (right[0] if right else place) - 0.5
        yield from ((before, self._change("removed", [i], [])) for i in left)
        yield from ((j, self._change("added", [], [j])) for j in right)

    def _change(self, kind: Kind, left: _Run, right: _Run, *words: Words) -> Change:
        old, new = [self._old[i] for i in left], [self._new[j] for j in right]
        return Change(kind, tuple(old), tuple(new), words)


def _words(text: str, known: frozenset[str]) -> tuple[str, ...]:
    """Return the words; one cut by a line's end is as the documents print it inside a line."""

    def join(match: re.Match[str]) -> str:
        hyphenated = f"{match[1]}-{match[2]}"
        return hyphenated if hyphenated in known else match[1] + match[2]

    return tuple(_WRAPPED.sub(join, text).split())


def _keys(side: Sequence[Piece], words: Sequence[tuple[str, ...]]) -> list[Any]:
    return [(piece.scope, piece.heading, w) for piece, w in zip(side, words, strict=True)]


def _text(side: Sequence[Piece]) -> list[str]:
    return [piece.citation.excerpt for piece in side]


def _by_heading(side: Sequence[Piece], positions: _Run) -> dict[tuple[Any, ...], _Run]:
    runs: dict[tuple[Any, ...], _Run] = {}
    for i in positions:
        runs.setdefault((side[i].scope, side[i].heading), []).append(i)
    return runs


def _differences(matcher: SequenceMatcher[str], a: Sequence[str], b: Sequence[str]) -> list[Words]:
    found = []
    for group in matcher.get_grouped_opcodes(n=1):  # joins differences up to two words apart
        codes = [code for code in group if code[0] != "equal"]
        (_, i, _, j, _), (_, _, i_end, _, j_end) = codes[0], codes[-1]
        parts = a[max(0, i - _CONTEXT) : i], a[i:i_end], b[j:j_end], a[i_end : i_end + _CONTEXT]
        found.append(Words(*map(" ".join, parts)))
    return found
