"""The questions of a finding aid, each compared on its own: one that agrees in full counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from policyproof_runtime.bm25 import Bm25, Floats, freeze
from policyproof_runtime.terms import stems

SCHEMA = pa.schema(
    [pa.field("passage", pa.int32(), nullable=False), pa.field("text", pa.string(), nullable=False)]
)
# Short texts of much the same length: it says little about what they hold.
_B = 0.3


def freeze_asks(rows: Sequence[tuple[int, str]]) -> dict[str, pa.Table]:
    """Return the tables of questions (position of the passage, text): themselves, their weights."""
    passages, texts = zip(*rows, strict=True)
    asks = pa.table([list(passages), list(texts)], SCHEMA)
    return {"asks": asks, "ask_terms": freeze(texts, stems, b=_B)}


class Asks:
    """Scores passages by the one of their questions that is closest."""

    def __init__(self, asks: pa.Table, terms: pa.Table, count: int) -> None:
        """Read the tables as `freeze_asks` returned them; ``count`` is that of all passages."""
        self.passages = asks["passage"].to_numpy()
        self._index = Bm25(terms, len(asks))
        self._count = count

    def scores(self, terms: Mapping[str, float]) -> Floats:
        """Return the score of every passage for the weighted stems of a question."""
        return self.closest(self._index.weighted(terms))

    def closest(self, scores: Floats) -> Floats:
        """Return for every passage the largest of its questions' ``scores``, at least 0."""
        largest = np.zeros(self._count)
        np.maximum.at(largest, self.passages, scores)
        return largest
