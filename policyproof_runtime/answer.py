"""Answering by citation: the retrieved words of the source, or an abstention."""

from __future__ import annotations

import re
from collections.abc import Sequence

from policyproof_runtime.passages import Passages
from policyproof_runtime.retrieve import Retriever
from policyproof_runtime.sufficiency import Gate, Lexicon
from policyproof_runtime.terms import content_terms, contract_terms, stem
from policyproof_runtime.types import Answer, Citation

MAX_CITATIONS = 3
MAX_RELATED = 3
# A passage that scores less than this share of the best one rarely adds to its answer.
CITATION_SHARE = 0.75
# What a person reads at a glance; a longer passage is cut to its most relevant lines.
MAX_EXCERPT_LINES = 16

_SENTENCE_END = re.compile(r"[.!?;:][\"'”’)\]]*\s*$")
_ITEM_START = re.compile(r"\s*(?:\(?[a-z0-9]{1,4}[.)]\s|\([a-z0-9]{1,4}\)|[•\-–—]\s|[A-Z]{2}-\d)")


class Answerer:
    """Answers questions over one release."""

    def __init__(
        self, retriever: Retriever, gate: Gate, lexicon: Lexicon, corpus: str, release: str
    ) -> None:
        self._retriever = retriever
        self._gate = gate
        self._lexicon = lexicon
        self._corpus = corpus
        self._release = release

    def ask(self, question: str) -> Answer:
        """Return an answer or an abstention; raises QueryError if the question cannot be served."""
        ranked = self._retriever.rank(question, max(MAX_CITATIONS, MAX_RELATED))
        passages = self._retriever.passages
        chosen = _strong(ranked)
        evidence = [f"{passages.context(i)}\n{passages.retrieval_text(i)}" for i in chosen]
        assessment = self._gate.assess(question, evidence, self._lexicon)
        shown = chosen if assessment.sufficient else [i for i, _ in ranked[:MAX_RELATED]]
        citations = tuple(excerpt(passages, i, question, self._lexicon) for i in shown)
        return Answer(
            question=question,
            decision="answer" if assessment.sufficient else "abstain",
            probability=assessment.probability,
            threshold=self._gate.threshold,
            reason_codes=assessment.reason_codes,
            missing=assessment.missing,
            citations=citations if assessment.sufficient else (),
            corpus=self._corpus,
            release=self._release,
            related=() if assessment.sufficient else citations,
        )


def _strong(ranked: Sequence[tuple[int, float]]) -> list[int]:
    if not ranked:
        return []
    floor = CITATION_SHARE * ranked[0][1]
    return [position for position, score in ranked[:MAX_CITATIONS] if score >= floor]


def excerpt(passages: Passages, position: int, question: str, lexicon: Lexicon) -> Citation:
    """Cite the passage, or, if it is long, its most relevant run of whole sentences or items.

    The run has at most MAX_EXCERPT_LINES lines, covers the most idf mass of the question's content
    terms and, among equals, is the longest, then the earliest.
    """
    lines = passages.lines(position)
    if len(lines) <= MAX_EXCERPT_LINES:
        return passages.citation(position)
    text = passages.citation_text(position)
    texts = [text[line.start : line.end] for line in lines]
    wanted = {stem(term): lexicon.idf(term) for term in content_terms(question)}
    held = [{stem(t) for t in contract_terms(line)} & wanted.keys() for line in texts]

    def weight(run: tuple[int, int]) -> tuple[float, int, int]:
        found = set().union(*held[run[0] : run[1]])
        return sum(wanted[term] for term in sorted(found)), run[1] - run[0], -run[0]

    first, end = max(_runs(texts), key=weight)
    return passages.citation(position, (lines[first], lines[end - 1]))


def _runs(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return the runs of lines (first, end exclusive) that begin and end where a sentence does."""
    starts = [0, *(i for i in range(1, len(texts)) if _begins(texts[i - 1], texts[i]))]
    ends = [*starts[1:], len(texts)]
    runs = [(s, e) for s in starts for e in ends if 0 < e - s <= MAX_EXCERPT_LINES]
    # A text without any boundary in reach is cut at the limit.
    return runs or [(0, MAX_EXCERPT_LINES)]


def _begins(before: str, line: str) -> bool:
    return bool(_SENTENCE_END.search(before) or _ITEM_START.match(line))
