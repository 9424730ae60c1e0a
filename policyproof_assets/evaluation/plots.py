"""Pictures of a gate where they say more than a table."""

import io

import polars as pl

from policyproof_assets.evaluation.calibration import expected_calibration_error, reliability


def reliability_plot(rows: pl.DataFrame) -> bytes:
    """Return a PNG: what the gate said of cases against what was so, a dot per bin.

    ``rows`` are those of `policyproof_assets.evaluation.gate.assess_cases`. Dots on the diagonal
    are calibrated; their area grows with the number of cases.
    """
    # Imported here: most builds draw nothing, and the library takes a second to load.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    said, truth = rows["probability"].to_numpy(), rows["label"].to_numpy()
    bins = reliability(said, truth)
    figure = Figure(figsize=(4, 4), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot(
        xlabel="said", ylabel="was so", xlim=(0, 1), ylim=(0, 1), aspect="equal"
    )
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    sizes = [4 * row["count"] for row in bins]
    axes.scatter([row["said"] for row in bins], [row["observed"] for row in bins], s=sizes)
    axes.set_title(f"{len(rows)} cases, error {expected_calibration_error(said, truth):.3f}")
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


def reliability_table(rows: pl.DataFrame) -> str:
    """Return the same as a Markdown table."""
    bins = reliability(rows["probability"].to_numpy(), rows["label"].to_numpy())
    lines = ["| said | cases | mean said | was so |", "|---|---:|---:|---:|"]
    lines += [
        f"| {row['from']:.1f}–{row['to']:.1f} | {row['count']} | {row['said']:.3f} |"
        f" {row['observed']:.3f} |"
        for row in bins
    ]
    return "\n".join(lines)
