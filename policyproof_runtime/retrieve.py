"""Ranking the passages of a release by named methods behind one interface."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from policyproof_runtime.asks import Asks
from policyproof_runtime.bm25 import Bm25, Floats
from policyproof_runtime.errors import QueryError
from policyproof_runtime.fields import priors
from policyproof_runtime.fused import Fused, Fusion
from policyproof_runtime.passages import Passages
from policyproof_runtime.questions import check_question, check_top_k
from policyproof_runtime.references import References
from policyproof_runtime.release import Document
from policyproof_runtime.structured import Structured, Weights
from policyproof_runtime.terms import contract_terms
from policyproof_runtime.thesaurus import Thesaurus
from policyproof_runtime.types import Hit
from policyproof_runtime.versions import Versions

# Index objects of a release that rank passages.
RETRIEVAL_INDEXES = ("bm25", "fields", "references", "thesaurus", "asks", "ask_terms")

# A method ranks: (question, k) to at most k (position, score), best first.
Method = Callable[[str, int], list[tuple[int, float]]]


class Retriever:
    """The passages of a release and the methods that rank them, one of them by default."""

    def __init__(self, passages: Passages, methods: Mapping[str, Method], default: str) -> None:
        self.passages = passages
        self._methods = methods
        self._default = default

    def within(self, readable: Collection[str]) -> Retriever:
        """Return what ranks only the passages of the documents ``readable``."""
        allowed = [d in readable for d in self.passages.column("document_id")]

        def only(method: Method) -> Method:
            def rank(question: str, k: int) -> list[tuple[int, float]]:
                return [hit for hit in method(question, len(allowed)) if allowed[hit[0]]][:k]

            return rank

        methods = {name: only(method) for name, method in self._methods.items()}
        return Retriever(self.passages, methods, self._default)

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


# Similarity of a question to every passage, and to every question of the finding aids.
Similarity = Callable[[str], tuple[Floats, Floats | None]]


def make_methods(
    tables: Mapping[str, pa.Table],
    passages: Passages,
    rules: Mapping[str, Any],
    documents: Iterable[Document],
    similarity: Similarity | None = None,
) -> dict[str, Method]:
    """Return the methods of our own and the accepted BM25, by name.

    ``tables`` are the index objects of a release by name, ``rules`` its parameters of retrieval,
    ``similarity`` compares by a dense model, if the release has one.
    """
    count = len(passages)
    methods = {"bm25": bm25_method(Bm25(tables["bm25"], count))}
    if "fields" not in tables:
        return methods
    asks = Asks(tables["asks"], tables["ask_terms"], count) if "asks" in tables else None
    prior = np.array(
        priors(passages.column("kind"), passages.column("entry_first"), rules["kinds"])
    )
    references = References(tables["references"])
    structured = Structured(
        Bm25(tables["fields"], count),
        references,
        Thesaurus(tables["thesaurus"]),
        Weights.of(rules["weights"]),
        passages,
        asks,
        prior,
        Versions(documents, passages.column("document_id")),
    )
    methods["structured"] = structured.rank
    if similarity is not None:
        fusion = Fusion.of(rules["fusion"])
        methods["fused"] = Fused(structured, similarity, fusion, references, asks, prior).rank
    return methods
