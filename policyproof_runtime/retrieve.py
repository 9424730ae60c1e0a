"""Ranking the passages of a release by named methods behind one interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from policyproof_runtime.bm25 import Bm25
from policyproof_runtime.errors import QueryError
from policyproof_runtime.passages import Passages
from policyproof_runtime.questions import check_question, check_top_k
from policyproof_runtime.terms import contract_terms
from policyproof_runtime.types import Hit

# A method ranks: (question, k) to at most k (position, score), best first.
Method = Callable[[str, int], list[tuple[int, float]]]


class Retriever:
    """The passages of a release and the methods that rank them, one of them by default."""

    def __init__(self, passages: Passages, methods: Mapping[str, Method], default: str) -> None:
        self.passages = passages
        self._methods = methods
        self._default = default

    def rank(self, question: str, top_k: int, method: str | None = None) -> list[tuple[int, float]]:
        """Return up to ``top_k`` (position, score), best first.

        Raises QueryError if the question or ``top_k`` cannot be served or ``method`` is unknown.
        """
        name = method or self._default
        if name not in self._methods:
            raise QueryError(
                "the release has no such retrieval method",
                expected=" or ".join(sorted(self._methods)),
                found=name,
            )
        return self._methods[name](check_question(question), check_top_k(top_k))

    def retrieve(self, question: str, top_k: int = 10, method: str | None = None) -> list[Hit]:
        """Return up to ``top_k`` hits, best first; raises QueryError as `rank` does."""
        ranked = self.rank(question, top_k, method)
        return [
            self.passages.hit(position, rank, score)
            for rank, (position, score) in enumerate(ranked, start=1)
        ]


def bm25_method(index: Bm25) -> Method:
    """Return the accepted BM25 contract as a method."""
    return lambda question, k: index.top(contract_terms(question), k)
