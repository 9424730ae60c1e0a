"""A loaded release: verified, ready to retrieve and to answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from policyproof_runtime.answer import Answerer
from policyproof_runtime.bm25 import Bm25
from policyproof_runtime.features import Cues, Reader
from policyproof_runtime.objects import ObjectStore
from policyproof_runtime.passages import Passages
from policyproof_runtime.references import SCHEMA as REFERENCES
from policyproof_runtime.references import References
from policyproof_runtime.release import Document, Release, load_release, objects_of
from policyproof_runtime.retrieve import RETRIEVAL_INDEXES, Method, Retriever, make_methods
from policyproof_runtime.sufficiency import Gate
from policyproof_runtime.thesaurus import SCHEMA as THESAURUS
from policyproof_runtime.thesaurus import Thesaurus
from policyproof_runtime.types import Answer, Hit

if TYPE_CHECKING:
    from policyproof_runtime.dense import Neural, Scores
    from policyproof_runtime.encoder import Vectors
    from policyproof_runtime.meaning import Meaning

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
        titles = {document.id: _title(document) for document in release.documents}
        versions = {d.id: (d.version, d.status) for d in release.documents}
        self.passages = Passages(store.phase(phase.digest), titles, versions)
        self._bm25 = Bm25(store.table(bm25), len(self.passages))
        for digest in objects_of(release, store.read):
            if digest not in served:  # those were verified when they were read above
                store.read(digest)
        tables = {n: store.table(d) for n, d in release.index.items() if n in RETRIEVAL_INDEXES}
        self._thesaurus = Thesaurus(tables.get("thesaurus", THESAURUS.empty_table()))
        self._references = References(tables.get("references", REFERENCES.empty_table()))
        methods = make_methods(
            tables,
            self.passages,
            release.retrieval,
            release.documents,
            self._similarity if "embeddings" in release.phases else None,
        )
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
        return self.answerer(self.reader(gate.cues), gate)

    def answerer(self, reader: Reader, gate: Gate) -> Answerer:
        """Return what answers by ``gate``; training calls it before the release has one."""
        return Answerer(reader, gate, self.name, str(self.release.digest))

    def reader(
        self, cues: Cues, readable: Collection[str] | None = None, *, aided: bool = True
    ) -> Reader:
        """Return what reads questions against this corpus, in training as in serving.

        ``readable`` are the ids of the documents that may be cited: all unless given. What is not
        ``aided`` reads as in a corpus without finding aids: a gate for such is trained with it.
        """
        publishers = {document.id: document.publisher for document in self.release.documents}
        rank = self._retriever.rank
        if readable is not None:
            rank = self._retriever.within(readable).rank
        return Reader(
            self.passages,
            rank,
            self._bm25,
            self._references,
            self._thesaurus,
            cues,
            publishers,
            self._meaning(readable) if aided else None,
        )

    def _meaning(self, readable: Collection[str] | None) -> Meaning | None:
        if "ask_vectors" not in self.release.index or self._neural.ask_vectors is None:
            return None
        from policyproof_runtime.meaning import Meaning

        owner, passages = self.passages.column("document_id"), self.index_table("asks")["passage"]
        within = None
        if readable is not None:
            within = [i for i, document in enumerate(owner) if document in readable]
        known = self._neural.ask_vectors
        return Meaning(self._vector_of_subject, known, passages.to_numpy(), len(owner), within)

    def _vector_of_subject(self, question: str) -> Vectors:
        return self._neural.query(self._references.subject(question))

    def prepare(self, questions: Iterable[str]) -> None:
        """Encode ``questions`` that will be asked, faster than one by one, if there is a model."""
        if "embeddings" in self.release.phases:
            self._neural.prepare(map(self._references.subject, questions))

    def index_table(self, name: str) -> pa.Table:
        """Return an index object of the release; raises ReleaseError if it has no such object."""
        return self._store.table(self.release.index_object(name))

    def assess(self, question: str, passage_ids: Sequence[str]) -> dict[str, Any]:
        """Return what the gate says of ``passage_ids`` as evidence for ``question``.

        Raises QueryError if the question cannot be served or a passage is unknown.
        """
        return self._answerer.assess(question, passage_ids)

    def _similarity(self, question: str) -> tuple[Scores, Scores | None]:
        return self._neural.similarity(question)

    def _neural_method(self, name: str) -> Method:
        def rank(question: str, k: int) -> list[tuple[int, float]]:
            method: Method = getattr(self._neural, name)
            return method(question, k)

        return rank

    @cached_property
    def _neural(self) -> Neural:
        # Imported when such a method is asked for: a question without it waits for nothing.
        from policyproof_runtime.dense import Neural

        asks = self.release.index.get("ask_vectors")
        return Neural(
            self.release.retrieval,
            lambda: self._store.phase(self.release.phase("embeddings").snapshot),
            self.passages.retrieval_text,
            self._lexical,
            (lambda: self._store.table(asks)) if asks else None,
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


def _title(document: Document) -> str:
    """Return the title of a document as one of several versions, and whether it is in force."""
    if document.family is None:
        return document.title
    state = "" if document.status == "active" else f", {document.status}"
    return f"{document.title} (v{document.version}{state})"


def open_corpus(corpus: str, store: str | Path | ObjectStore | None = None) -> Corpus:
    """Load the newest accepted release of ``corpus``; raises ReleaseError or StoreError."""
    objects = store if isinstance(store, ObjectStore) else ObjectStore(store)
    return Corpus(objects, load_release(objects, corpus))
