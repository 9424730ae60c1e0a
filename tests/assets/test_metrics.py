"""Metrics against values worked by hand."""

from math import log2

import ir_measures
import numpy as np
import pytest

from policyproof_assets.evaluation.metrics import hit_at, mrr_at, ndcg_at, recall_at

RANKING = ["x", "b", "y", "a", "c"]
GRADES = {"a": 2, "b": 1, "c": 2, "z": 1, "x": 0}


def test_recall_counts_every_relevant_passage_found():
    assert recall_at(3, RANKING, GRADES) == 1 / 4
    assert recall_at(5, RANKING, GRADES) == 3 / 4


def test_reciprocal_rank_is_of_the_first_relevant_passage():
    assert mrr_at(10, RANKING, GRADES) == 1 / 2
    assert mrr_at(1, RANKING, GRADES) == 0.0


def test_hit_asks_for_direct_evidence():
    assert hit_at(3, RANKING, GRADES) == 0.0
    assert hit_at(4, RANKING, GRADES) == 1.0


def test_ndcg_uses_the_exponential_gain():
    found = 1 / log2(3) + 3 / log2(5) + 3 / log2(6)
    ideal = 3 / log2(2) + 3 / log2(3) + 1 / log2(4) + 1 / log2(5)
    assert ndcg_at(10, RANKING, GRADES) == pytest.approx(found / ideal)


def test_the_ideal_ranking_scores_one():
    assert ndcg_at(10, ["a", "c", "b", "z"], GRADES) == 1.0


@pytest.mark.parametrize("metric", [recall_at, mrr_at, hit_at, ndcg_at])
def test_a_query_without_relevant_passages_has_no_value(metric):
    with pytest.raises(ValueError, match="no judgment of grade"):
        metric(10, RANKING, {"x": 0})


@pytest.mark.parametrize("seed", range(20))
def test_metrics_agree_with_an_evaluation_library(seed):
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
