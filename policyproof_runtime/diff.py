"""What differs between two sets of passages: two releases, or two versions of a document.

Words decide, not lines: passages with the same words are the same however their lines break. What
changed under a heading between two passages that did not is compared as one text, because one more
sentence moves the ends of all passages after it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
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
        exact = self._match({}, by_heading=True)  # 1
        anchors = _ascending(exact)
        moved = self._match(exact, by_heading=False)  # 2
        moved |= {i: j for i, j in exact.items() if i not in anchors}
        other_lines = [(i, j) for i, j in anchors.items() if self._lines_differ(i, j)]
        found: list[tuple[float, Change]] = [
            *((j, self._change("same_words", [i], [j])) for i, j in other_lines),
            *((j, self._change("moved", [i], [j])) for i, j in moved.items()),
            *self._left_over(anchors, moved),  # 3
        ]
        changes = tuple(change for _, change in sorted(found, key=lambda item: item[0]))
        return Comparison(changes, len(anchors) - len(other_lines))

    def _match(self, taken: dict[int, int], *, by_heading: bool) -> dict[int, int]:
        """Pair passages of the same words that are not ``taken``, the first with the first."""

        def key(piece: Piece, words: tuple[str, ...]) -> Any:
            return (piece.scope, piece.heading, words) if by_heading else words

        places: dict[Any, deque[int]] = defaultdict(deque)
        for j in sorted(set(range(len(self._new))).difference(taken.values())):
            places[key(self._new[j], self._b[j])].append(j)
        free = [(i, places.get(key(p, self._a[i]))) for i, p in enumerate(self._old)]
        return {i: js.popleft() for i, js in free if i not in taken and js}

    def _lines_differ(self, i: int, j: int) -> bool:
        return self._old[i].citation.excerpt != self._new[j].citation.excerpt

    def _change(self, kind: Any, left: _Run, right: _Run, *words: Words) -> Change:
        old, new = [self._old[i] for i in left], [self._new[j] for j in right]
        return Change(kind, tuple(old), tuple(new), words)

    def _left_over(
        self, anchors: dict[int, int], moved: dict[int, int]
    ) -> Iterator[tuple[float, Change]]:
        olds = _gaps(self._old, anchors, moved)
        news = _gaps(self._new, anchors.values(), moved.values())
        pairs = [(olds[gap], news[gap]) for gap in olds if gap in news]
        pairs += self._alike(
            [run for gap, run in olds.items() if gap not in news],
            [run for gap, run in news.items() if gap not in olds],
        )
        removed = {i for run in olds.values() for i in run}
        added = {j for run in news.values() for j in run}
        replaced: dict[int, int] = {}
        for left, right in pairs:
            if change := self._compare(left, right):
                removed.difference_update(left)
                added.difference_update(right)
                yield right[0], change
            else:
                replaced |= dict.fromkeys(left, right[0])
        yield from ((j, self._change("added", [], [j])) for j in added)
        for i in sorted(removed):
            before = max((k for k in anchors if k < i), default=None)
            place = -1 if before is None else anchors[before]
            yield replaced.get(i, place + 1) - 0.5, self._change("removed", [i], [])

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


def _ascending(pairs: dict[int, int]) -> dict[int, int]:
    """Return the longest part of ``pairs`` that keeps its order (patience sorting)."""
    ends: list[int] = []  # the smallest right side that ends a run of each length
    runs: list[Any] = []  # such a run, as (pair, the run before it)
    for i, j in sorted(pairs.items()):
        length = bisect_left(ends, j)
        run = ((i, j), runs[length - 1] if length else None)
        ends[length : length + 1], runs[length : length + 1] = [j], [run]
    found, rest = [], runs[-1] if runs else None
    while rest:
        pair, rest = rest
        found.append(pair)
    return dict(reversed(found))


def _gaps(side: Sequence[Piece], anchors: Any, moved: Any) -> dict[Any, _Run]:
    """Group what is neither same nor moved by heading and the number of anchors before it."""
    anchors, moved = set(anchors), set(moved)
    passed: Counter[Any] = Counter()
    gaps: dict[Any, _Run] = {}
    for i, piece in enumerate(side):
        place = piece.scope, piece.heading
        passed[place] += i in anchors
        if i not in anchors and i not in moved:
            gaps.setdefault((place, passed[place]), []).append(i)
    return gaps


def _shingles(words: Sequence[Sequence[str]], run: _Run) -> set[tuple[str, ...]]:
    text = [word for i in run for word in words[i]]
    return {tuple(text[i : i + _SHINGLE]) for i in range(max(1, len(text) - _SHINGLE + 1))}


def _differences(
    a: Sequence[str], b: Sequence[str], codes: Sequence[tuple[str, int, int, int, int]]
) -> list[Words]:
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
