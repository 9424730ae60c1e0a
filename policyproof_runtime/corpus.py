"""A loaded release: verified, ready to retrieve and to answer."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from policyproof_runtime.answer import Answerer
from policyproof_runtime.bm25 import Bm25
from policyproof_runtime.objects import ObjectStore
from policyproof_runtime.passages import Passages
from policyproof_runtime.release import Release, load_release, objects_of
from policyproof_runtime.retrieve import RETRIEVAL_INDEXES, Method, Retriever, make_methods
from policyproof_runtime.sufficiency import Gate
from policyproof_runtime.types import Answer, Hit

if TYPE_CHECKING:
    from policyproof_runtime.dense import Neural

BM25_INDEX = "bm25"
NEURAL_METHODS = ("dense", "hybrid", "rerank")


class Corpus:
    """One release of a corpus; safe to share between threads."""

    def __init__(self, store: ObjectStore, release: Release) -> None:
        """Read and verify every object of ``release``; raises StoreError on the first fault."""
        self.release = release
        phase = store.snapshot(release.phase("passages").snapshot)
        bm25 = release.index_object(BM25_INDEX)
        served = {*(release.index[n] for n in release.index if n in RETRIEVAL_INDEXES)}
        served |= {*(part.object for part in phase.parts)}
        titles = {document.id: document.title for document in release.documents}
        self.passages = Passages(store.phase(phase.digest), titles)
        self._bm25 = Bm25(store.table(bm25), len(self.passages))
        for digest in objects_of(release, store.read):
            if digest not in served:  # those were verified when they were read above
                store.read(digest)
        tables = {n: store.table(d) for n, d in release.index.items() if n in RETRIEVAL_INDEXES}
        methods = make_methods(tables, self.passages, release.retrieval, release.documents)
        self._store, self._lexical = store, methods["bm25"]
        methods |= {name: self._neural_method(name) for name in NEURAL_METHODS}
        default = release.retrieval.get("method", "bm25")
        self._retriever = Retriever(self.passages, methods, default)

    @property
    def name(self) -> str:
        """The corpus id."""
        return self.release.corpus

    @cached_property
    def _answerer(self) -> Answerer:
        gate = Gate.from_params(self.release.gate)
        digest = str(self.release.digest)
        return Answerer(self._retriever, gate, self._bm25, self.name, digest)

    def _neural_method(self, name: str) -> Method:
        def rank(question: str, k: int) -> list[tuple[int, float]]:
            method: Method = getattr(self._neural, name)
            return method(question, k)

        return rank

    @cached_property
    def _neural(self) -> Neural:
        # Imported when such a method is asked for: a question without it waits for nothing.
        from policyproof_runtime.dense import Neural

        return Neural(
            self.release.retrieval,
            lambda: self._store.phase(self.release.phase("embeddings").snapshot),
            self.passages.retrieval_text,
            self._lexical,
        )

    def retrieve(self, question: str, top_k: int = 10, method: str | None = None) -> list[Hit]:
        """Return up to ``top_k`` passages, best first.

        Raises QueryError if the question or ``top_k`` cannot be served or the release has no such
        ``method``.
        """
        return self._retriever.retrieve(question, top_k, method)

    def ask(self, question: str) -> Answer:
        """Return an answer in the words of the source or an abstention with its reasons.

        Raises QueryError if the question is empty, too long or no text.
        """
        return self._answerer.ask(question)


def open_corpus(corpus: str, store: str | Path | ObjectStore | None = None) -> Corpus:
    """Load the newest accepted release of ``corpus``; raises ReleaseError or StoreError."""
    objects = store if isinstance(store, ObjectStore) else ObjectStore(store)
    return Corpus(objects, load_release(objects, corpus))
