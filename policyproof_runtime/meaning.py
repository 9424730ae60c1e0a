"""What a question means beside the questions that a corpus is known to answer: its finding aid."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from policyproof_runtime.encoder import Vectors

Floats = npt.NDArray[np.float64]


class Meaning:
    """Compares questions with what is known; nothing is read of passages out of reach."""

    def __init__(
        self,
        vector: Callable[[str], Vectors],
        known: Vectors,
        passages: npt.NDArray[np.int64],
        count: int,
        within: Collection[int] | None = None,
    ) -> None:
        """``known`` has a row for each known question, ``passages`` the position of its passage.

        ``count`` is that of all passages, ``within`` the positions of those in reach: all unless
        given.
        """
        if within is not None:
            reach = np.isin(passages, list(within))
            known, passages = known[reach], passages[reach]
        self._vector = vector
        self._known, self._passages = known, passages
        self._count = count
        self._compared: Callable[[str], tuple[Floats, Floats]] = lru_cache(512)(self._compare)

    def _compare(self, text: str) -> tuple[Floats, Floats]:
        vector = self._vector(text)
        return vector.astype(np.float64), (self._known @ vector).astype(np.float64)

    def closeness(self, text: str) -> Floats:
        """Return how close the closest known question of each passage is: 1 the best, 0 the middle.

        Shape (passages,). A passage of which nothing is known is at 0.
        """
        _, similar = self._compared(text)
        closest = np.full(self._count, -np.inf)
        np.maximum.at(closest, self._passages, similar)
        there = closest[np.isfinite(closest)]
        if not len(there) or there.max() <= np.median(there):
            return np.zeros(self._count)
        middle = np.median(there)
        result: Floats = np.clip((closest - middle) / (there.max() - middle), 0.0, None)
        return result

    def kin(self, text: str) -> Floats:
        """Return the vector of ``text`` and how far, by dimension, the closest known one is off.

        Shape (2 · dimensions,). With nothing known, the second half is that of no likeness.
        """
        vector, similar = self._compared(text)
        nearest = self._known[similar.argmax()] if len(similar) else np.zeros_like(vector)
        return np.concatenate([vector, np.abs(vector - nearest)])
