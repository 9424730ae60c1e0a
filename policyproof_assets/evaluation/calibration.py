"""How far a gate's probabilities can be trusted, and what a threshold on them costs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.stats import binomtest

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def rate(chosen: Sequence[bool] | Bools | pl.Series) -> dict[str, Any]:
    """Return hits, total, share and its exact 95 % bounds (Clopper and Pearson 1934).

    Share and bounds are None of nothing.
    """
    hits, total = int(sum(chosen)), len(chosen)
    if not total:
        return {"hits": 0, "total": 0, "share": None, "low": None, "high": None}
    bounds = binomtest(hits, total).proportion_ci(method="exact")
    shares = {"share": hits / total, "low": bounds.low, "high": bounds.high}
    return {"hits": hits, "total": total, **{k: round(float(v), 4) for k, v in shares.items()}}


#: Bootstrap samples on which a threshold rests.
RESAMPLES = 500


def reliability(said: Floats, truth: Bools, bins: int = 10) -> pl.DataFrame:
    """Return per bin of equal width: where it begins, count, mean probability, observed share."""
    begin = np.minimum(np.floor(said * bins), bins - 1) / bins
    frame = pl.DataFrame({"from": begin, "said": said, "observed": truth})
    means = pl.col("said", "observed").mean().round(4)
    return frame.group_by("from").agg(pl.len().alias("count"), means).sort("from")


def expected_calibration_error(said: Floats, truth: Bools) -> float:
    """Σ count / n · |said − observed| over ten bins (Naeini et al. 2015)."""
    gap = (pl.col("said") - pl.col("observed")).abs()
    return float(reliability(said, truth).select(pl.col("count").dot(gap)).item() / len(truth))


def augrc(said: Floats, truth: Bools) -> float:
    """Return the area under the generalised risk–coverage curve (Traub et al. 2024).

    The generalised risk at a coverage is the share of all cases that are answered and wrong,
    answering those with the highest probability first; the area is its mean over coverages.
    """
    order = np.argsort(-said, kind="stable")
    return float(np.cumsum(~truth[order]).mean() / len(truth))


def cheapest_threshold(
    said: Floats, truth: Bools, cost: float, weights: Floats | None = None
) -> float:
    """Return the threshold of least cost: ``cost`` per false answer, 1 per wrong refusal.

    Costs count per class, as if both were equally frequent, and within it by ``weights``. One
    sample has cuts far apart that cost nearly the same, so the threshold is the mean of those of
    RESAMPLES bootstrap samples of each class (bagging, Breiman 1996). A cut lies midway between two
    probabilities; of equally cheap ones the highest is taken, because a refusal can be mended.
    """
    order = np.argsort(-said, kind="stable")
    said, truth = said[order], truth[order]
    weights = np.ones(len(said)) if weights is None else weights[order]
    apart = said[:-1] > said[1:]
    cuts = ((said[:-1] + said[1:]) / 2)[apart]
    random = np.random.default_rng(0)

    def shares(of: Bools) -> Floats:
        """Return which share of a resampled class lies above each cut."""
        drawn = np.zeros(len(said))
        drawn[of] = random.multinomial(of.sum(), np.full(of.sum(), 1 / of.sum()))
        above = np.cumsum(drawn * weights)
        return (above[:-1] / above[-1])[apart]

    costs = (cost * shares(~truth) + 1 - shares(truth) for _ in range(RESAMPLES))
    return float(np.mean([cuts[each.round(12).argmin()] for each in costs]))
