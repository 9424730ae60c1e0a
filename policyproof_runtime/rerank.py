"""Reranking: a cross-encoder reads the question and each candidate together."""

from __future__ import annotations

from collections.abc import Sequence

from policyproof_runtime.encoder import BertGraph, Vectors, expect_role
from policyproof_runtime.errors import QueryError
from policyproof_runtime.models import Model

#: How many of each retriever's best are read.
CANDIDATES = 20


class Reranker:
    """A cross-encoder: raw logits of (question, passage) pairs."""

    def __init__(self, model: Model) -> None:
        """Load ``model``; raises ModelError if it is not to be had or of another role."""
        expect_role(model, "reranker")
        self._graph = BertGraph(model)

    def scores(self, question: str, texts: Sequence[str]) -> Vectors:
        """Return one logit per text; raises QueryError if a pair is over-long."""
        pairs = [self._graph.inputs(question, text, error=QueryError) for text in texts]
        return self._graph.run(pairs, lambda logits: logits[0])
