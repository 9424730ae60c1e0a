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

# Up to so many passages the plain sum is the fastest.
_SMALL = 10_000
# A term in more than one of so many passages is kept as a row of all passages once it is asked for.
_COMMON = 4
# Sums of 32 bits differ from those of 64 in their last digits; a weight is never so small.
_SAFE = 0.99999
_TINY = 1e-6

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Weights = npt.NDArray[np.float32]


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
        self._common: dict[str, Weights] = {}

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

        In a large corpus sums of 32 bits, which take half the time, find the passages that may be
        among the best; only those are added up in full. The result is the same.
        """
        known = [term for term in dict.fromkeys(terms) if term in self._rows]
        if self.count <= _SMALL:
            return best(self.scores(known), k)
        rough = np.zeros(self.count, np.float32)
        for term in known:
            start, stop = self._slice(term)
            if self._is_common(term):
                rough += self._row(term)
            else:
                np.add.at(rough, self._passages[start:stop], self._weights[start:stop])
        found = np.flatnonzero(rough >= max(_kth(rough, k) * _SAFE, _TINY)).astype(np.int32)
        scores = np.zeros(len(found))
        for term in known:
            scores += self._row(term)[found] if self._is_common(term) else self._at(term, found)
        return [(int(found[i]), score) for i, score in best(scores, k)]

    def _is_common(self, term: str) -> bool:
        return self.df(term) * _COMMON > self.count

    def _row(self, term: str) -> Weights:
        """Return the weight of a common term in every passage: added at once, not one by one."""
        if term not in self._common:
            start, stop = self._slice(term)
            row = np.zeros(self.count, np.float32)
            row[self._passages[start:stop]] = self._weights[start:stop]
            self._common[term] = row
        return self._common[term]

    def _at(self, term: str, found: Ints) -> Weights:
        """Return what ``term`` weighs in the passages ``found``."""
        start, stop = self._slice(term)
        passages = self._passages[start:stop]
        at = np.minimum(np.searchsorted(passages, found), len(passages) - 1)
        return np.where(passages[at] == found, self._weights[start:stop][at], np.float32(0))

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
