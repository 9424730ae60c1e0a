"""Pictures where they say more than a table, as PNG of the same bytes each time."""

import io

import polars as pl
from matplotlib.figure import Figure

from policyproof_assets.evaluation.calibration import expected_calibration_error, reliability
from policyproof_assets.evaluation.retrieval import intervals, mean_scores


def methods_plot(rows: pl.DataFrame, metric: str = "ndcg") -> bytes:
    """Draw the mean ``metric`` of every method with its interval, by split.

    ``rows`` are those of `policyproof_assets.evaluation.retrieval.score_questions`.
    """
    means, bounds = mean_scores(rows), intervals(rows)
    figure = Figure(figsize=(7, 1 + 0.5 * len(means)), layout="constrained")
    axes = figure.subplots()
    for place, (method, splits) in enumerate(means.items()):
        for split, colour, shift in zip(splits, ("C0", "C1"), (-0.12, 0.12), strict=False):
            mean, (low, high) = splits[split][metric], bounds[method][split][metric]
            error = [[mean - low], [high - mean]]
            label = split if place == 0 else None
            options = {"fmt": "o", "capsize": 3, "color": colour, "label": label}
            axes.errorbar(mean, place + shift, xerr=error, **options)
    axes.set(yticks=range(len(means)), yticklabels=means, xlabel=f"{metric}@10", xlim=(0, 1))
    axes.legend()
    return _png(figure)


def reliability_plot(rows: pl.DataFrame) -> bytes:
    """Draw what the gate said of cases against what was so, a dot per bin.

    ``rows`` are those of `policyproof_assets.evaluation.gate.assess_cases`. Dots on the diagonal
    are calibrated; their area grows with the number of cases.
    """
    said, truth = rows["probability"].to_numpy(), rows["label"].to_numpy()
    bins = reliability(said, truth)
    figure = Figure(figsize=(4, 4), dpi=120, layout="constrained")
    axes = figure.subplots()
    axes.set(xlabel="said", ylabel="was so", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    axes.scatter(bins["said"], bins["observed"], s=4 * bins["count"])
    axes.set_title(f"{len(rows)} cases, error {expected_calibration_error(said, truth):.3f}")
    return _png(figure)


def _png(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()
