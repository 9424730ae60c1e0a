"""BM25F: a passage as weighted fields (label, heading path, text, …) with one frozen weight a term.

The frequency of a term in a passage is summed over fields before it saturates (Robertson, Zaragoza
and Taylor 2004), so a question costs what it costs in plain BM25::

    tf(t) = Σ weight(f) · tf(t, f) / (1 − b(f) + b(f) · length(f) / mean length(f))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow as pa

from policyproof_runtime.bm25 import weigh
from policyproof_runtime.terms import stems


def priors(
    kinds: Sequence[str | None], entries: Sequence[int | None], factors: Mapping[str, float]
) -> list[float]:
    """Return the factor of each passage by its kind; one with bibliography entries has its own."""
    return [
        factors.get("references" if entry is not None else str(kind), 1.0)
        for kind, entry in zip(kinds, entries, strict=True)
    ]


def freeze_fields(
    fields: Mapping[str, Sequence[str]],
    rules: Mapping[str, Mapping[str, float]],
    prior: Sequence[float],
    k1: float,
) -> pa.Table:
    """Return the weights of passages made of ``fields``, as `policyproof_runtime.bm25.freeze` does.

    ``fields`` holds by name the text of every passage, empty where a passage lacks the field;
    ``rules`` the ``weight`` of each field and the part ``b`` of its length that counts; ``prior``
    a factor for each passage.
    """
    totals: list[Counter[str]] = [Counter() for _ in prior]
    for name, rule in sorted(rules.items()):
        counts = [Counter(stems(text)) for text in fields.get(name, ())]
        lengths = [count.total() for count in counts]
        mean = sum(lengths) / (sum(map(bool, lengths)) or 1)
        for total, count, length in zip(totals, counts, lengths, strict=False):
            norm = 1 - rule["b"] + rule["b"] * length / (mean or 1)
            for term, n in count.items():
                total[term] += rule["weight"] * n / norm  # type: ignore[assignment]
    return weigh(totals, k1=k1, prior=prior)
