"""Means with their intervals, and the pictures of methods and of the gate."""

import numpy as np
import polars as pl

from policyproof_assets.evaluation.plots import methods_plot, reliability_plot
from policyproof_assets.evaluation.retrieval import METRICS, interval, intervals, mean_scores


def scored(values: list[float]) -> pl.DataFrame:
    rows = [
        {"method": "a", "split": "development", "behaviour": "answer", "question_id": f"q{i}"}
        | dict.fromkeys(METRICS, value)
        for i, value in enumerate(values)
    ]
    return pl.DataFrame(rows)


def test_an_interval_holds_the_mean_and_narrows_with_more_questions():
    few, many = np.array([0.0, 1.0] * 10), np.array([0.0, 1.0] * 1_000)
    assert interval(few)[0] < 0.5 < interval(few)[1]
    assert np.ptp(interval(many)) < np.ptp(interval(few))
    assert interval(np.ones(5)) == (1.0, 1.0)


def test_means_and_intervals_do_not_depend_on_the_order_of_rows():
    rows = scored([0.0, 0.5, 1.0, 0.25])
    assert mean_scores(rows)["a"]["development"]["ndcg"] == 0.4375
    assert mean_scores(rows.reverse()) == mean_scores(rows)
    assert intervals(rows.reverse()) == intervals(rows)


def test_plots_are_of_the_same_bytes_each_time():
    cases = pl.DataFrame({"probability": [0.2, 0.9, 0.95], "label": [False, True, True]})
    for plot, rows in ((methods_plot, scored([0.0, 0.5, 1.0])), (reliability_plot, cases)):
        assert plot(rows).startswith(b"\x89PNG")
        assert plot(rows) == plot(rows)
