"""Dense retrieval: the exact inner product of a question with every passage, and what builds on it.

The models are loaded when such a method is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from policyproof_runtime.encoder import Encoder, Reranker, Vectors
from policyproof_runtime.errors import ReleaseError
from policyproof_runtime.models import Model, read_model

Ranking = list[tuple[int, float]]
Scores = npt.NDArray[np.float64]

RRF_K = 60
# Ranks that fusion reads; one beyond it adds less than the difference of neighbours at the top.
RRF_DEPTH = 100
# How many of each retriever's best a cross-encoder reads.
CANDIDATES = 20
# Vectors kept of questions, 1.5 kB each.
_QUESTIONS = 10_000


def vectors_of(table: pa.Table) -> Vectors:
    """Return the column ``embedding``, lists of one size, as rows of one matrix."""
    column = table["embedding"].combine_chunks()
    flat: Vectors = column.flatten().to_numpy()
    return flat.reshape(len(column), column.type.list_size)


def nearest(vectors: Vectors, query: Vectors, k: int) -> Ranking:
    """Return the ``k`` largest inner products as (position, score); ties go to the earlier."""
    scores = vectors @ query
    least = np.partition(scores, -k)[-k] if k < len(scores) else -np.inf
    found = np.flatnonzero(scores >= least).tolist()
    return _best(((i, float(scores[i])) for i in found), k)


def fuse(rankings: Iterable[Ranking], k: int) -> Ranking:
    """Return the ``k`` best by Σ 1 / (60 + rank) (Cormack et al. 2009); ties go to the earlier."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, (position, _) in enumerate(ranking, start=1):
            scores[position] = scores.get(position, 0.0) + 1 / (RRF_K + rank)
    return _best(scores.items(), k)


def _best(scores: Iterable[tuple[int, float]], k: int) -> Ranking:
    return sorted(scores, key=lambda item: (-item[1], item[0]))[:k]


class Neural:
    """The methods that run a model over a release: dense, hybrid and rerank."""

    def __init__(
        self,
        rules: Mapping[str, Any],
        embeddings: Callable[[], pa.Table],
        text: Callable[[int], str],
        lexical: Callable[[str, int], Ranking],
        asks: Callable[[], pa.Table] | None = None,
    ) -> None:
        """Keep what the methods need; nothing is loaded yet.

        ``rules`` are the parameters of retrieval, with the description of each model under its
        role. ``embeddings`` reads the embeddings phase, ``text`` is the retrieval text of a
        passage, ``lexical`` the other method of a hybrid, ``asks`` reads the embeddings of the
        questions of finding aids, if there are any.
        """
        self._asks = asks
        self._rules = rules
        self._kept: dict[str, Vectors] = {}
        self._embeddings = embeddings
        self._text = text
        self._lexical = lexical

    def dense(self, question: str, k: int) -> Ranking:
        """Rank by the inner product with the question's vector."""
        return nearest(self.vectors, self.query(question), k)

    def similarity(self, question: str) -> tuple[Scores, Scores | None]:
        """Return the inner products with every passage, and with every question of finding aids."""
        query = self.query(question)
        asked = self.ask_vectors
        passages: Scores = (self.vectors @ query).astype(np.float64)
        return passages, None if asked is None else (asked @ query).astype(np.float64)

    def hybrid(self, question: str, k: int) -> Ranking:
        """Rank by reciprocal ranks in the lexical and the dense ranking, equal weights."""
        depth = max(k, RRF_DEPTH)
        return fuse([self._lexical(question, depth), self.dense(question, depth)], k)

    def rerank(self, question: str, k: int) -> Ranking:
        """Rank the union of the best 20 of both retrievers by the cross-encoder's logits."""
        reranker = self._reranker
        both = [*self._lexical(question, CANDIDATES), *self.dense(question, CANDIDATES)]
        positions = sorted({position for position, _ in both})
        scores = reranker.scores(question, [self._text(position) for position in positions])
        return _best(zip(positions, scores.tolist(), strict=True), k)

    def query(self, question: str) -> Vectors:
        """Return the vector of ``question``, kept from before if it was asked lately."""
        kept = self._kept.get(question)
        if kept is None:
            kept = self._encode([question])[question]
        return kept

    def prepare(self, questions: Iterable[str]) -> None:
        """Encode all of ``questions`` at once, which takes less time than one by one."""
        self._encode([q for q in dict.fromkeys(questions) if q not in self._kept])

    def _encode(self, questions: Sequence[str]) -> dict[str, Vectors]:
        new = dict(zip(questions, self._encoder.questions(questions), strict=True))
        if len(self._kept) + len(new) > _QUESTIONS:
            self._kept = {}
        self._kept.update(new)
        return new

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder(self._model("dense"))

    @cached_property
    def _reranker(self) -> Reranker:
        return Reranker(self._model("reranker"))

    @cached_property
    def vectors(self) -> Vectors:
        """The vectors of the passages, a row each."""
        self._model("dense")
        return vectors_of(self._embeddings())

    @cached_property
    def ask_vectors(self) -> Vectors | None:
        """The vectors of the questions of finding aids, a row each, if there are any."""
        return vectors_of(self._asks()) if self._asks else None

    def _model(self, role: str) -> Model:
        if role not in self._rules:
            raise ReleaseError(
                f"the release names no {role} model, so it has not this method",
                action=f"name {role}_model in manifests/policy/retrieval.toml and build again,"
                " or choose another --method",
            )
        return read_model(self._rules[role])
