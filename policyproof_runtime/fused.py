"""The default method with a dense model: words, meaning and structure.

Meaning counts the more, the less of the question the words bear out: a question asked in the words
of the document is answered by them, one asked in other words is not. The names of documents are
left out of it: they say where to look, and are close to what introduces the document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from policyproof_runtime.asks import Asks
from policyproof_runtime.bm25 import Floats
from policyproof_runtime.references import References
from policyproof_runtime.structured import Structured

# Passages from this rank of the dense ranking on get nothing from it.
_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Fusion:
    """How meaning is weighed: ``weight``, raised by (``strength`` / measured strength) ^ ``power``.

    ``most`` bounds the weight; ``asks`` is the share of a passage's closest question.
    """

    weight: float
    strength: float
    power: float
    most: float
    asks: float

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Fusion:
        """Read the parameters of a release."""
        return cls(**{name: float(values[name]) for name in cls.__slots__})

    def weigh(self, strength: float) -> float:
        """Return the weight of meaning where words have ``strength``."""
        raised: float = max(1.0, self.strength / max(strength, 0.01)) ** self.power
        return min(self.most, self.weight * raised)


class Fused:
    """Ranks by words and meaning, then structure."""

    def __init__(
        self,
        structured: Structured,
        similarity: Callable[[str], tuple[Floats, Floats | None]],
        fusion: Fusion,
        references: References,
        asks: Asks | None,
        prior: Floats | float,
    ) -> None:
        """``similarity`` compares a question with every passage and every question of ``asks``."""
        self._structured = structured
        self._references = references
        self._similarity = similarity
        self._fusion = fusion
        self._asks = asks
        self._prior = prior

    def rank(self, question: str, k: int) -> list[tuple[int, float]]:
        """Return up to ``k`` (position, score), best first."""
        scores, strength = self._structured.words_and_strength(question)
        meaning = _above(self._meaning(question), _DEPTH) * self._prior
        scores = scores + self._fusion.weigh(strength) * meaning
        return self._structured.refine(question, scores, k)

    def _meaning(self, question: str) -> Floats:
        passages, asks = self._similarity(self._references.subject(question))
        if self._asks is None or asks is None:
            return passages
        closest = self._asks.closest(asks)
        return (1 - self._fusion.asks) * passages + self._fusion.asks * closest


def _above(scores: Floats, depth: int) -> Floats:
    """Return ``scores`` with that of rank ``depth`` at 0, the best at 1 and none below 0."""
    if not len(scores):
        return scores
    floor = np.sort(scores)[-depth:][0]
    result: Floats = np.clip((scores - floor) / (scores.max() - floor or 1.0), 0.0, None)
    return result
