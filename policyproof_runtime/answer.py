"""Answering by citation: the retrieved words of the source, or an abstention that says why.

Evidence is retrieved and graded. While the gate finds it wanting, the question is put differently,
at most twice: its parts are asked one by one, then defined terms and cited provisions are looked
up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from policyproof_runtime.excerpts import excerpts
from policyproof_runtime.features import CUE_CODES, Reader
from policyproof_runtime.parts import asked_parts
from policyproof_runtime.questions import check_question
from policyproof_runtime.sufficiency import Assessment, Gate, out_of_scope
from policyproof_runtime.types import Answer, Citation, Step

MAX_CITED = 4
MAX_RELATED = 3
# A passage that scores less than this share of the best one rarely adds to its answer.
CITED_SHARE = 0.6
# A question that is further out of reach than this share of the threshold has no part answered.
PARTLY = 1 / 3


class Answerer:
    """Answers questions over one release."""

    def __init__(self, reader: Reader, gate: Gate, corpus: str, release: str) -> None:
        self._reader = reader
        self._gate = gate
        self._corpus = corpus
        self._release = release

    def ask(self, question: str) -> Answer:
        """Return an answer or an abstention; raises QueryError if the question cannot be served."""
        question = check_question(question)
        evidence, assessment, trace = self._graded(question)
        partial: tuple[str, ...] = ()
        codes, missing = assessment.reason_codes, assessment.missing
        if assessment.scope < self._gate.scope_threshold:  # whatever the evidence is worth
            reach = self._gate.reach(self._reader, question)
            codes, missing = out_of_scope(self._reader, question, reach)
        answered = bool(evidence) and assessment.scope >= self._gate.scope_threshold
        if not answered and assessment.scope >= PARTLY * self._gate.scope_threshold:
            evidence, partial = self._answerable_parts(question)
            answered = bool(evidence)
        related = () if answered else self._related(question)
        return Answer(
            question=question,
            decision="answer" if answered else "abstain",
            probability=assessment.scope,
            threshold=self._gate.scope_threshold,
            reason_codes=() if answered and not partial else codes,
            missing=() if answered and not partial else missing,
            citations=self._cite(question, evidence) if answered else (),
            corpus=self._corpus,
            release=self._release,
            partial=partial,
            label_status=self._gate.label_status,
            trace=trace,
            related=related,
        )

    def assess(self, question: str, passage_ids: Sequence[str]) -> dict[str, Any]:
        """Return what the gate says of given evidence, as the object of a batch line.

        Raises QueryError if the question cannot be served or a passage is unknown.
        """
        question = check_question(question)
        evidence = [self._reader.passages.position(name) for name in passage_ids]
        found = self._gate.assess(self._reader, question, evidence)
        return {
            "probability": found.probability,
            "sufficient": found.sufficient,
            "reason_codes": list(found.reason_codes),
            "missing": list(found.missing),
        }

    def _graded(self, question: str) -> tuple[list[int], Assessment, tuple[Step, ...]]:
        """Return the evidence graded best, its assessment and what was tried."""
        tried: list[tuple[list[int], Assessment]] = []
        steps: list[Step] = []
        for name, evidence in self._attempts(question):
            found = self._gate.assess(self._reader, question, evidence)
            tried.append((evidence, found))
            ids = tuple(self._reader.passages.value(i, "passage_id") for i in evidence)
            within_reach = found.scope >= self._gate.scope_threshold
            steps.append(Step(name, ids, found.probability, found.sufficient and within_reach))
            if found.sufficient or not within_reach:
                break
        evidence, best = max(tried, key=lambda pair: pair[1].probability)
        return evidence, best, tuple(steps)

    def _attempts(self, question: str) -> Iterable[tuple[str, list[int]]]:
        reader = self._reader
        scores = reader.scores(question)
        words = reader.weights(question).keys()
        close = [i for i in reader.top(scores, MAX_CITED) if scores[i] >= CITED_SHARE]
        # What shares no word with the question but the likes of "for" is no second source.
        found = close[:1] + [i for i in close[1:] if words & reader.held(i)]
        yield "as asked", found
        leading = [i for part in reader.parts(question) for i in reader.top(part.scores, 1)]
        apart = _first_of(leading, found)
        yield "parts asked separately", apart
        named = reader.references.named(question)
        cited = [max(held, key=scores.__getitem__) for held in self._cited(found[:1])]
        resolved = _first_of(named.definitions, apart[:2], cited, apart)
        yield "terms and references resolved", [i for i in resolved if scores[i] > 0 or i in apart]

    def _cited(self, positions: Iterable[int]) -> Iterator[Sequence[int]]:
        for position in positions:
            yield from self._reader.references.cited(position)

    def _answerable_parts(self, question: str) -> tuple[list[int], tuple[str, ...]]:
        """Return evidence for the parts within reach, and the parts that are not.

        Only a part that itself names a document or provision of the corpus is answered alone, and
        none of a question that asks for advice or for news.
        """
        reach = {part: self._gate.reach(self._reader, part) for part in asked_parts(question)}
        if len(reach) < 2 or any(self._reader.cues(question)[code] for code in CUE_CODES):
            return [], ()
        within = [
            part
            for part, found in reach.items()
            if found.features["names_corpus"] and found.probability >= self._gate.scope_threshold
        ]
        best = [i for part in within for i in self._reader.top(self._reader.scores(part), 2)]
        without = tuple(part for part in reach if part not in within)
        return (_first_of(best), without) if best and without else ([], ())

    def _cite(self, question: str, evidence: Sequence[int]) -> tuple[Citation, ...]:
        weights = self._reader.weights(question)
        return tuple(
            citation
            for position in evidence
            for citation in excerpts(self._reader.passages, position, weights)
        )

    def _related(self, question: str) -> tuple[Citation, ...]:
        closest = self._reader.top(self._reader.scores(question), MAX_RELATED)
        return self._cite(question, closest)


def _first_of(*groups: Iterable[int]) -> list[int]:
    """Return the first MAX_CITED distinct positions of ``groups``, in order."""
    return list(dict.fromkeys(i for group in groups for i in group))[:MAX_CITED]
