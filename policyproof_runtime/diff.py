"""What differs between two sets of passages: two releases, or two versions of a document.

Words decide, not lines: passages with the same words are the same however their lines break. What
changed under a heading between two passages that did not is compared as one text, because one more
sentence moves the ends of all passages after it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
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
_JOIN = 2  # words between two differences that are shown as one
_SHINGLE = 4  # words; texts under different headings are compared if they share such a run
# Above this many words the matcher may skip the commonest ones, or it would take minutes.
_MANY_WORDS = 6_000
_HYPHENATED = re.compile(r"\w+(?:-\w+)+")
_WRAPPED = re.compile(r"(\w+(?:-\w+)*)-[ \t]*\n\s*(\w+(?:-\w+)*)")

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

    kind: Literal["changed", "added", "removed", "moved", "same_words"]
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
    paths = passages.column("path")
    return [
        Piece(c.document_id if scoped else "", tuple(path or (c.label,)), c)
        for c, path in zip(citations, paths, strict=True)
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
        blocks = SequenceMatcher(
            None, _keys(self._old, self._a), _keys(self._new, self._b), autojunk=False
        ).get_opcodes()
        equal = [
            (i, j)
            for tag, i, i_end, j, j_end in blocks
            if tag == "equal"
            for i, j in zip(range(i, i_end), range(j, j_end), strict=True)
        ]  # 1
        other_lines = [(i, j) for i, j in equal if self._lines_differ(i, j)]
        moved = self._moved(dict(equal))  # 2
        found: list[tuple[float, Change]] = [
            *((j, self._change("same_words", [i], [j])) for i, j in other_lines),
            *((j, self._change("moved", [i], [j])) for i, j in moved.items()),
            *self._left_over(blocks, moved),  # 3
        ]
        changes = tuple(change for _, change in sorted(found, key=lambda item: item[0]))
        return Comparison(changes, len(equal) - len(other_lines))

    def _moved(self, equal: dict[int, int]) -> dict[int, int]:
        """Pair passages of the same words that are not ``equal``, the first with the first."""
        places: dict[Any, deque[int]] = defaultdict(deque)
        for j in sorted(set(range(len(self._b))).difference(equal.values())):
            places[self._b[j]].append(j)
        free = [(i, places.get(words)) for i, words in enumerate(self._a) if i not in equal]
        return {i: js.popleft() for i, js in free if js}

    def _lines_differ(self, i: int, j: int) -> bool:
        return self._old[i].citation.excerpt != self._new[j].citation.excerpt

    def _change(self, kind: Any, left: _Run, right: _Run, *words: Words) -> Change:
        old, new = [self._old[i] for i in left], [self._new[j] for j in right]
        return Change(kind, tuple(old), tuple(new), words)

    def _left_over(
        self, blocks: Sequence[_Block], moved: dict[int, int]
    ) -> Iterator[tuple[float, Change]]:
        taken = set(moved.values())
        olds: dict[Any, _Run] = {}
        news: dict[Any, _Run] = {}
        place: dict[int, int] = {}  # where on the new side an old passage would stand
        for n, (_, i, i_end, j, j_end) in enumerate(b for b in blocks if b[0] != "equal"):
            place |= dict.fromkeys(range(i, i_end), j)
            _group(olds, n, self._old, [k for k in range(i, i_end) if k not in moved])
            _group(news, n, self._new, [k for k in range(j, j_end) if k not in taken])
        pairs = [(run, news[key]) for key, run in olds.items() if key in news]
        pairs += self._alike(
            [run for key, run in olds.items() if key not in news],
            [run for key, run in news.items() if key not in olds],
        )
        removed = [i for run in olds.values() for i in run]
        added = [j for run in news.values() for j in run]
        for left, right in pairs:
            if change := self._compare(left, right):
                removed = sorted(set(removed).difference(left))
                added = sorted(set(added).difference(right))
                yield right[0], change
            else:
                place |= dict.fromkeys(left, right[0])
        yield from ((place[i] - 0.5, self._change("removed", [i], [])) for i in removed)
        yield from ((j, self._change("added", [], [j])) for j in added)

    def _alike(self, removed: list[_Run], added: list[_Run]) -> list[tuple[_Run, _Run]]:
        """Pair each run with the one elsewhere that shares most of its words' order."""
        places = defaultdict(set)
        for n, run in enumerate(added):
            for shingle in _shingles(self._b, run):
                places[shingle].add(n)
        pairs = []
        for left in removed:
            shared = Counter(n for s in _shingles(self._a, left) for n in places.get(s, ()))
            if shared:
                best = min(shared, key=lambda n: (-shared[n], n))
                pairs.append((left, added[best]))
                for numbers in places.values():
                    numbers.discard(best)
        return pairs

    def _compare(self, left: _Run, right: _Run) -> Change | None:
        """Return how the words of one run became those of another; None if they did not."""
        a = [word for i in left for word in self._a[i]]
        b = [word for j in right for word in self._b[j]]
        matcher = SequenceMatcher(None, a, b, autojunk=len(b) > _MANY_WORDS)
        common = sum(block.size for block in matcher.get_matching_blocks())
        if common < LIKENESS * min(len(a), len(b)):
            return None
        words = _differences(a, b, matcher.get_opcodes())
        return self._change("changed" if words else "same_words", left, right, *words)


def _words(text: str, known: frozenset[str]) -> tuple[str, ...]:
    """Return the words; one cut by a line's end is as the documents print it inside a line."""

    def join(match: re.Match[str]) -> str:
        hyphenated = f"{match[1]}-{match[2]}"
        return hyphenated if hyphenated in known else match[1] + match[2]

    return tuple(_WRAPPED.sub(join, text).split())


def _keys(side: Sequence[Piece], words: Sequence[tuple[str, ...]]) -> list[Any]:
    return [(piece.scope, piece.heading, w) for piece, w in zip(side, words, strict=True)]


def _group(runs: dict[Any, _Run], block: int, side: Sequence[Piece], positions: _Run) -> None:
    for i in positions:
        runs.setdefault((block, side[i].scope, side[i].heading), []).append(i)


def _shingles(words: Sequence[Sequence[str]], run: _Run) -> set[tuple[str, ...]]:
    text = [word for i in run for word in words[i]]
    return {tuple(text[i : i + _SHINGLE]) for i in range(max(1, len(text) - _SHINGLE + 1))}


def _differences(a: Sequence[str], b: Sequence[str], codes: Sequence[_Block]) -> list[Words]:
    merged: list[list[int]] = []
    for tag, i, i_end, j, j_end in codes:
        if tag != "equal":
            if merged and i - merged[-1][1] <= _JOIN:
                merged[-1][1], merged[-1][3] = i_end, j_end
            else:
                merged.append([i, i_end, j, j_end])
    found = []
    for i, i_end, j, j_end in merged:
        parts = a[max(0, i - _CONTEXT) : i], a[i:i_end], b[j:j_end], a[i_end : i_end + _CONTEXT]
        found.append(Words(*map(" ".join, parts)))
    return found
