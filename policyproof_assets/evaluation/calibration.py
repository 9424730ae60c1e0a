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


def cheapest_threshold(said: Floats, truth: Bools, cost: float) -> float:
    """Return the threshold of least cost: ``cost`` per false answer, 1 per wrong refusal.

    Costs count per class, as if both were equally frequent. The threshold lies midway between two
    probabilities; of equal ones the highest is taken, because a refusal can be mended.
    """
    values = np.unique(said)
    cuts = (values[:-1] + values[1:]) / 2
    costs = [cost * (said[~truth] >= cut).mean() + (said[truth] < cut).mean() for cut in cuts]
    return float(cuts[costs <= min(costs) + 1e-12].max())
