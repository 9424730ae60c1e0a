"""How sure a mean score is, and how the methods compare in a picture."""

import io

import numpy as np
import polars as pl

from policyproof_assets.evaluation.retrieval import METRICS

RESAMPLES = 2_000
LEVEL = 0.95


def interval(values: np.ndarray, seed: int = 0) -> tuple[float, float]:
    """Return the bootstrap percentile interval of the mean of ``values`` (Efron 1979), at LEVEL."""
    draws = np.random.default_rng(seed).integers(len(values), size=(RESAMPLES, len(values)))
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(values[draws].mean(axis=1), [tail, 1 - tail])
    return round(float(low), 4), round(float(high), 4)


def intervals(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row per method, split and metric of scored questions: mean, low and high.

    ``rows`` are those of `policyproof_assets.evaluation.retrieval.score_questions`; questions that
    must be declined have no score and are left out.
    """
    answerable = rows.filter(pl.col("behaviour") == "answer")
    found = []
    for (method, split), group in answerable.group_by("method", "split"):
        for metric in METRICS:
            values = group.sort("question_id")[metric].to_numpy()
            found.append((method, split, metric, round(float(values.mean()), 4), *interval(values)))
    columns = {"method": pl.String, "split": pl.String, "metric": pl.String}
    schema = columns | dict.fromkeys(("mean", "low", "high"), pl.Float64)
    return pl.DataFrame(found, schema, orient="row").sort("method", "split", "metric")


def methods_plot(rows: pl.DataFrame, metric: str = "ndcg") -> bytes:
    """Return a PNG of every method's mean ``metric`` with its interval, by split."""
    from matplotlib.figure import Figure

    means = intervals(rows).filter(pl.col("metric") == metric)
    methods = means["method"].unique().sort().to_list()
    figure = Figure(figsize=(7, 1 + 0.5 * len(methods)), layout="constrained")
    axes = figure.subplots()
    for shift, (split, group) in zip(
        (-0.12, 0.12), means.group_by("split", maintain_order=True), strict=False
    ):
        places = [methods.index(method) + shift for method in group["method"]]
        spread = [
            (group["mean"] - group["low"]).to_numpy(),
            (group["high"] - group["mean"]).to_numpy(),
        ]
        axes.errorbar(group["mean"], places, xerr=spread, fmt="o", capsize=3, label=str(split[0]))
    axes.set(yticks=range(len(methods)), yticklabels=methods, xlabel=f"{metric}@10", xlim=(0, 1))
    axes.legend()
    png = io.BytesIO()
    figure.savefig(png, format="png", metadata={"Software": None})
    return png.getvalue()
