"""How far a gate's probabilities can be trusted, and what a threshold on them costs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import beta

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def clopper_pearson(hits: int, total: int, level: float = 0.95) -> tuple[float, float]:
    """Return the exact confidence interval of a proportion (Clopper and Pearson 1934)."""
    tail = (1 - level) / 2
    low = float(beta.ppf(tail, hits, total - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1 - tail, hits + 1, total - hits)) if hits < total else 1.0
    return low, high


def rate(chosen: Sequence[bool] | Bools) -> dict[str, Any]:
    """Return hits, total, share and its exact bounds; share and bounds are None of nothing."""
    hits, total = int(np.sum(chosen)), len(chosen)
    if not total:
        return {"hits": 0, "total": 0, "share": None, "low": None, "high": None}
    low, high = clopper_pearson(hits, total)
    return {
        "hits": hits,
        "total": total,
        "share": round(hits / total, 4),
        "low": round(low, 4),
        "high": round(high, 4),
    }


def balanced_accuracy(said: Bools, truth: Bools) -> float:
    """Return the mean of the recalls of both classes."""
    return float((said[truth].mean() + (~said[~truth]).mean()) / 2)


def reliability(probabilities: Floats, truth: Bools, bins: int = 10) -> list[dict[str, float]]:
    """Return per bin of equal width: its bounds, count, mean probability and observed share."""
    places = np.minimum((probabilities * bins).astype(int), bins - 1)
    return [
        {
            "from": place / bins,
            "to": (place + 1) / bins,
            "count": int(inside.sum()),
            "said": round(float(probabilities[inside].mean()), 4),
            "observed": round(float(truth[inside].mean()), 4),
        }
        for place in range(bins)
        if (inside := places == place).any()
    ]


def expected_calibration_error(probabilities: Floats, truth: Bools) -> float:
    """Σ count / n · |said − observed| over ten bins (Naeini et al. 2015)."""
    rows = reliability(probabilities, truth)
    return float(sum(r["count"] * abs(r["said"] - r["observed"]) for r in rows) / len(truth))


def augrc(probabilities: Floats, truth: Bools) -> float:
    """Return the area under the generalised risk–coverage curve (Traub et al. 2024).

    The generalised risk at a coverage is the share of all cases that are answered and wrong,
    answering those with the highest probability first; the area is its mean over coverages.
    """
    order = np.argsort(-probabilities, kind="stable")
    return float(np.cumsum(~truth[order]).mean() / len(truth))


def cheapest_threshold(probabilities: Floats, truth: Bools, cost: float) -> float:
    """Return the threshold of least cost: ``cost`` per false answer, 1 per wrong refusal.

    Costs count per class, as if both were equally frequent. The threshold lies midway between two
    probabilities; of equal ones the highest is taken, because a refusal can be mended.
    """
    values = np.unique(probabilities)
    cuts = (values[:-1] + values[1:]) / 2
    costs = [
        cost * (probabilities[~truth] >= cut).mean() + (probabilities[truth] < cut).mean()
        for cut in cuts
    ]
    best = min(costs)
    return float(max(cut for cut, value in zip(cuts, costs, strict=True) if value <= best + 1e-12))
