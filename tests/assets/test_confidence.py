"""Means with their intervals, the picture of methods, and our metrics beside ir-measures."""

import ir_measures
import numpy as np
import polars as pl
import pytest

from policyproof_assets.evaluation.confidence import interval, intervals, methods_plot
from policyproof_assets.evaluation.metrics import mrr_at, ndcg_at, recall_at


def scored(values: list[float]) -> pl.DataFrame:
    n = len(values)
    columns = {"method": ["a"] * n, "split": ["development"] * n, "behaviour": ["answer"] * n}
    ids = [f"q{i}" for i in range(n)]
    return pl.DataFrame(
        columns | {"question_id": ids} | dict.fromkeys(("recall", "mrr", "hit", "ndcg"), values)
    )


def test_an_interval_holds_the_mean_and_narrows_with_more_questions() -> None:
    few, many = np.array([0.0, 1.0] * 10), np.array([0.0, 1.0] * 1_000)
    assert interval(few)[0] < 0.5 < interval(few)[1]
    assert np.ptp(interval(many)) < np.ptp(interval(few))
    assert interval(np.ones(5)) == (1.0, 1.0)


def test_intervals_do_not_depend_on_the_order_of_rows() -> None:
    rows = scored([0.0, 0.5, 1.0, 0.25])
    assert intervals(rows).equals(intervals(rows.reverse()))


def test_the_plot_is_a_png_of_the_same_bytes_each_time() -> None:
    rows = scored([0.0, 0.5, 1.0])
    assert methods_plot(rows).startswith(b"\x89PNG")
    assert methods_plot(rows) == methods_plot(rows)


@pytest.mark.parametrize("seed", range(20))
def test_metrics_agree_with_an_evaluation_library(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ids = [f"p{i}" for i in range(30)]
    grades = {name: int(rng.integers(0, 3)) for name in ids[:8]} | {"p0": 2}
    ranking = list(rng.permutation(ids))
    qrels = [ir_measures.Qrel("q", name, grade) for name, grade in grades.items()]
    run = [ir_measures.ScoredDoc("q", name, -rank) for rank, name in enumerate(ranking)]
    gains = {0: 0, 1: 1, 2: 3}
    measures = [ir_measures.nDCG(gains=gains) @ 10, ir_measures.R @ 10, ir_measures.RR @ 10]
    theirs = ir_measures.calc_aggregate(measures, qrels, run)
    ours = [metric(10, ranking, grades) for metric in (ndcg_at, recall_at, mrr_at)]
    assert ours == pytest.approx([theirs[measure] for measure in measures])
