"""BM25 with frozen weights: scoring a query adds up the postings of its terms and nothing else.

The weight of a term in a passage (Robertson and Zaragoza 2009, with the idf of Lucene)::

    idf(t) · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / mean length))
    idf(t) = ln(1 + (N − df + 0.5) / (df + 0.5))

depends on the corpus alone, so a build computes it once and a release carries it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from policyproof_runtime.terms import contract_terms

K1 = 1.2
B = 0.75
# Weights are rounded to 32 bits: half the memory, and the last bit of a logarithm, which differs
# between C libraries, is gone before a digest is taken.
SCHEMA = pa.schema(
    [
        pa.field("term", pa.string(), nullable=False),
        pa.field("passages", pa.list_(pa.int32()), nullable=False),
        pa.field("weights", pa.list_(pa.float32()), nullable=False),
    ]
)

# Up to so many postings, adding them all up costs less than leaving some out.
_FEW_POSTINGS = 1_000_000
# The k-th best of so many passages with the rarest terms comes close to the k-th best of all.
_SAMPLE = 2_000
# Sums in another order or of 32 bits differ in their last digits.
_SAFE = 1.00001
_TINY = 1e-6

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


def freeze(
    texts: Iterable[str],
    terms: Callable[[str], Sequence[str]] = contract_terms,
    *,
    k1: float = K1,
    b: float = B,
) -> pa.Table:
    """Return the weights of a corpus as rows of (term, passages, weights), sorted by term.

    ``texts`` holds the text of each passage in accepted passage order; ``terms`` takes one apart.
    ``passages`` are 0-based positions in that order, ascending; ``weights`` are parallel to them.
    """
    counts = [Counter(terms(text)) for text in texts]
    lengths = np.array([c.total() for c in counts], np.float64)
    relative = lengths / lengths.mean() if lengths.any() else lengths
    return weigh(counts, lambda passage, tf: tf / (1 - b + b * relative[passage]), k1)


Frequencies = Sequence[Mapping[str, float]]


def weigh(
    counts: Frequencies,
    normalise: Callable[[Ints, Floats], Floats] = lambda _, tf: tf,
    k1: float = K1,
    prior: Sequence[float] | None = None,
) -> pa.Table:
    """Return the table of weights from the term frequencies of each passage.

    ``normalise`` maps the passages and frequencies of all pairs of a term and a passage, parallel
    arrays, to frequencies for a passage of mean length. ``prior`` multiplies all weights of a
    passage.
    """
    vocabulary = sorted(set().union(*counts))
    rows = {term: row for row, term in enumerate(vocabulary)}
    term_of = np.array([rows[t] for c in counts for t in c], np.int64)
    passage_of = np.repeat(np.arange(len(counts), dtype=np.int32), [len(c) for c in counts])
    tf = normalise(passage_of, np.array([n for c in counts for n in c.values()], np.float64))
    df = np.bincount(term_of, minlength=len(vocabulary))
    # math.log: numpy's vectorised logarithm may differ in the last bit between processors.
    idf = np.array([inverse_document_frequency(int(n), len(counts)) for n in df], np.float64)
    weights = idf[term_of] * (tf * (k1 + 1) / (tf + k1))
    if prior is not None:
        weights *= np.array(prior, np.float64)[passage_of]
    by_term = np.argsort(term_of, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(df)]).astype(np.int32)
    columns = [
        pa.array(vocabulary, pa.string()),
        pa.ListArray.from_arrays(offsets, passage_of[by_term]),
        pa.ListArray.from_arrays(offsets, weights[by_term].astype(np.float32)),
    ]
    return pa.table(columns, SCHEMA)


def inverse_document_frequency(df: int, count: int) -> float:
    """Return ln(1 + (count − df + 0.5) / (df + 0.5)); the largest value belongs to df 0."""
    return math.log(1 + (count - df + 0.5) / (df + 0.5))


class Bm25:
    """Frozen weights, ready to rank."""

    def __init__(self, table: pa.Table, count: int) -> None:
        """Read ``table`` as `freeze` returned it, of ``count`` passages; buffers stay in place."""
        table = table.combine_chunks()
        self.count = count
        self._rows = {term: row for row, term in enumerate(table["term"].to_pylist())}
        self._offsets, self._passages = _flat(table["passages"])
        _, self._weights = _flat(table["weights"])
        self._bounds: dict[str, float] = {}

    def terms(self) -> Iterable[str]:
        """Return every term of the corpus."""
        return self._rows.keys()

    def idf(self, term: str) -> float:
        """Return the term's inverse document frequency; an unknown term has the largest."""
        return inverse_document_frequency(self.df(term), self.count)

    def df(self, term: str) -> int:
        """Return in how many passages ``term`` occurs."""
        start, stop = self._slice(term)
        return stop - start

    def scores(self, terms: Iterable[str]) -> Floats:
        """Return the score of every passage; a term counts once, in first-seen order."""
        scores = np.zeros(self.count)
        for term in dict.fromkeys(terms):
            start, stop = self._slice(term)
            # Several times faster than indexed addition, where both have one type.
            weights = self._weights[start:stop].astype(np.float64)
            np.add.at(scores, self._passages[start:stop], weights)
        return scores

    def weighted(self, terms: Mapping[str, float]) -> Floats:
        """Return the score of every passage, each term with the weight it has in the question."""
        scores = np.zeros(self.count)
        for term, weight in terms.items():
            start, stop = self._slice(term)
            weights = weight * self._weights[start:stop].astype(np.float64)
            np.add.at(scores, self._passages[start:stop], weights)
        return scores

    def top(self, terms: Iterable[str], k: int) -> list[tuple[int, float]]:
        """Return up to ``k`` (passage, score) with a positive score, best first.

        Where there are many postings, those of common terms are read only for passages that can
        still be among the best (MaxScore, Turtle and Flood 1995); the result is the same.
        """
        known = [term for term in dict.fromkeys(terms) if term in self._rows]
        if sum(map(self.df, known)) <= _FEW_POSTINGS:
            return best(self.scores(known), k)
        found = self._candidates(sorted(known, key=self._bound, reverse=True), k)
        scores = np.zeros(len(found))
        for term in known:
            self._add(scores, found, term)
        return [(int(found[i]), score) for i, score in best(scores, k)]

    def _candidates(self, terms: Sequence[str], k: int) -> Ints:
        """Return, ascending, every passage that may be among the ``k`` best.

        Lists are merged, those that can add most first, until a passage not yet met can no longer
        reach the k-th best of a sample; from there on the others only sort out those met.
        """
        rest = sum(map(self._bound, terms))
        scores = np.zeros(self.count, np.float32)
        sample = np.empty(0, np.int32)
        least, done = 0.0, 0
        while done < len(terms) and least <= rest * _SAFE:
            start, stop = self._slice(terms[done])
            passages = self._passages[start:stop]
            np.add.at(scores, passages, self._weights[start:stop])
            if len(sample) < _SAMPLE:
                sample = np.union1d(sample, passages[:_SAMPLE])
            rest -= self._bound(terms[done])
            done += 1
            least = _kth(scores[sample], k)
        found = np.flatnonzero(scores >= max(least - rest * _SAFE - _TINY, _TINY)).astype(np.int32)
        partial = scores[found].astype(np.float64)
        for term in terms[done:]:
            self._add(partial, found, term)
            rest -= self._bound(term)
            keep = partial >= _kth(partial, k) - rest * _SAFE - _TINY
            found, partial = found[keep], partial[keep]
        return found

    def _add(self, scores: Floats, found: Ints, term: str) -> None:
        """Add to the ``scores`` of the passages ``found`` what ``term`` weighs there."""
        start, stop = self._slice(term)
        passages = self._passages[start:stop]
        at = np.minimum(np.searchsorted(passages, found), len(passages) - 1)
        scores += np.where(passages[at] == found, self._weights[start:stop][at], 0.0)

    def _bound(self, term: str) -> float:
        """Return the largest weight of ``term``."""
        if term not in self._bounds:
            start, stop = self._slice(term)
            self._bounds[term] = float(self._weights[start:stop].max(initial=0.0))
        return self._bounds[term]

    def _slice(self, term: str) -> tuple[int, int]:
        row = self._rows.get(term)
        return (0, 0) if row is None else (self._offsets[row], self._offsets[row + 1])


def best(scores: npt.NDArray[np.floating], k: int) -> list[tuple[int, float]]:
    """Return the ``k`` best positive scores as (position, score); ties go to the earlier position.

    Passage positions are distinct and follow the accepted order, so the last tie-breaker of the
    contract, the passage id, is never needed.
    """
    found = np.flatnonzero(scores >= max(_kth(scores, k), np.nextafter(0, 1)))
    order = np.lexsort((found, -scores[found]))[:k]
    return [(int(i), float(scores[i])) for i in found[order]]


def _kth(scores: npt.NDArray[np.floating], k: int) -> float:
    """Return the ``k``-th largest score; 0 where there are fewer."""
    if len(scores) <= k:
        return 0.0
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


def _flat(column: pa.ChunkedArray) -> tuple[list[int], npt.NDArray[Any]]:
    lists = column.chunk(0) if column.num_chunks else pa.array([], column.type)
    return lists.offsets.to_pylist(), lists.values.to_numpy()
