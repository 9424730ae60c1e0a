"""The default method: BM25F over fields, and the structure of questions and documents.

In this order: the words of the question and other words for them are scored; a passage gains by
the sentence or row that has most of them, and by a figure of the kind asked for; documents named
gain; a passage gains by being cited in the best ones; provisions, headings and definitions it asks
for by name gain; superseded versions fall behind the ones in force.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from policyproof_runtime.asks import Asks
from policyproof_runtime.bm25 import Bm25, Floats, best
from policyproof_runtime.parts import asked_parts, wanted_figure
from policyproof_runtime.passages import Passages
from policyproof_runtime.references import References
from policyproof_runtime.terms import stems
from policyproof_runtime.thesaurus import Thesaurus
from policyproof_runtime.versions import Versions

# As many of the best passages hand on to what they cite.
_CITING = 10
# As many are read sentence by sentence.
_READ = 30


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each ingredient adds; 0 leaves it out.

    ``synonyms``, ``documents`` and ``containers`` are factors; a word said n times weighs
    1 + ``repeats`` · ln n; ``asks``, ``provisions``, ``points`` and ``definitions`` are shares of
    the best score; ``citations`` is a share of the citing passage's;
    ``sentences`` is the gain by a sentence that has every word of the question, ``figures`` by one
    that also has the kind of figure asked for, both as shares of the best score;
    ``superseded`` is the factor for a version no longer in force.
    """

    synonyms: float = 0.0
    repeats: float = 0.0
    asks: float = 0.0
    documents: float = 0.0
    citations: float = 0.0
    containers: float = 0.0
    provisions: float = 0.0
    points: float = 0.0
    definitions: float = 0.0
    sentences: float = 0.0
    figures: float = 0.0
    superseded: float = 1.0

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Weights:
        """Read the weights of a release; keys that are none are left to others."""
        return cls(**{name: float(values[name]) for name in cls.__slots__ if name in values})


def scaled(scores: Floats) -> Floats:
    """Return ``scores`` with the best at 1; all 0 stay so."""
    result: Floats = scores / (scores.max(initial=0.0) or 1.0)
    return result


class Structured:
    """Ranks by words and structure; frozen inputs, no state between questions."""

    def __init__(
        self,
        index: Bm25,
        references: References,
        thesaurus: Thesaurus,
        weights: Weights,
        passages: Passages,
        asks: Asks | None = None,
        prior: Floats | float = 1.0,
        versions: Versions | None = None,
    ) -> None:
        """``prior`` is the factor of each passage, for the questions ``asks``."""
        self._index = index
        self._references = references
        self._thesaurus = thesaurus
        self._weights = weights
        self._passages = passages
        self._asks = asks
        self._prior = prior
        self._versions = versions or Versions((), ())

    def rank(self, question: str, k: int) -> list[tuple[int, float]]:
        """Return up to ``k`` (position, score), best first."""
        return self.refine(question, self.words(question), k)

    def words(self, question: str) -> Floats:
        """Return the score of every passage by words alone, the best at 1."""
        return self.words_and_strength(question)[0]

    def words_and_strength(self, question: str) -> tuple[Floats, float]:
        """Return the scores by words, the best at 1, and how much of the question they bear out.

        The strength is the best score before it became 1, per root of the question's idf mass:
        about 2 where a passage has most of the words, under 1 where the question has its own.
        """
        stemmed = stems(question)
        terms = self._thesaurus.widen(stemmed, self._weights.synonyms)
        for term, times in Counter(stemmed).items():
            terms[term] += self._weights.repeats * math.log(times)
        scores = self._index.weighted(terms)
        best_score = scores.max(initial=0.0)
        mass = sum(self._index.idf(term) for term in dict.fromkeys(stemmed))
        if self._asks and self._weights.asks:
            asked = scaled(self._asks.scores(terms))
            scores = scaled(scores) + self._weights.asks * asked * self._prior
        return scaled(scores), float(best_score / math.sqrt(mass)) if mass else 0.0

    def refine(self, question: str, scores: Floats, k: int) -> list[tuple[int, float]]:
        """Return up to ``k`` (position, score) of ``scores`` after structure had its say."""
        weights = self._weights
        if weights.sentences or weights.figures:
            self._read(question, scores)
        named = self._references.named(question)
        for passages in named.documents.values():
            scores[passages] *= 1 + weights.documents
        self._hand_on(scores)
        top = scores.max(initial=0.0) or 1.0
        for passages in named.containers:
            scores[passages] *= 1 + weights.containers
        bonus: dict[int, float] = dict.fromkeys(named.definitions, weights.definitions)
        for passages, points in named.provisions:
            for i in passages:
                has = weights.points * self._has(i, points)
                bonus[i] = max(bonus.get(i, 0.0), weights.provisions + has)
        for i, share in bonus.items():
            scores[i] += share * top
        self._versions.settle(question, scores, weights.superseded)
        return best(scores, k)

    def _hand_on(self, scores: Floats) -> None:
        gains: dict[int, float] = {}
        for passage, score in best(scores, _CITING):
            cited = self._references.cited(passage)
            for target in cited:
                strongest = max(target, key=scores.__getitem__)
                gains[strongest] = gains.get(strongest, 0.0) + score / len(cited) ** 0.5
        for passage, gain in gains.items():
            scores[passage] += self._weights.citations * gain

    def _has(self, passage: int, points: tuple[str, ...]) -> bool:
        if not points:
            return False
        marks = "|".join(rf"{re.escape(p)}\.\s|\({re.escape(p)}\)" for p in points)
        text = self._passages.citation_text(passage)
        return re.search(rf"^\s*(?:{marks})", text, re.MULTILINE) is not None

    def _read(self, question: str, scores: Floats) -> None:
        """Let a passage gain by the one sentence that says most of what is asked."""
        weights = {term: self._index.idf(term) for term in dict.fromkeys(stems(question))}
        wanted = [figure[1] for part in asked_parts(question) if (figure := wanted_figure(part))]
        most = scores.max(initial=0.0)
        for passage, _ in best(scores, _READ):
            shares, with_figure = [0.0], [0.0]
            for sentence, held in self._passages.said(passage):
                shares.append(held_share(weights, held))
                if any(figure.search(sentence) for figure in wanted):
                    with_figure.append(shares[-1])
            gain = self._weights.sentences * max(shares) + self._weights.figures * max(with_figure)
            scores[passage] += gain * most


def held_share(weights: Mapping[str, float], held: Collection[str]) -> float:
    """Return the share of ``weights`` (stems) that ``held`` has; 0 if there are none."""
    total = sum(weights.values())
    return sum(w for s, w in weights.items() if s in held) / total if total else 0.0
