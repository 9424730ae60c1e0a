"""Frozen BM25: weights by hand, exact ties, and the published ranking."""

import gzip
import json
import math

import numpy as np
import pyarrow.parquet as pq
import pytest

from policyproof_assets.evaluation.metrics import hit_at, mrr_at, ndcg_at, recall_at
from policyproof_runtime.bm25 import Bm25, best, freeze
from policyproof_runtime.terms import contract_terms

TEXTS = ["a risk of risk", "an unrelated text", "risk and harm", ""]


@pytest.fixture(scope="module")
def index():
    return Bm25(freeze(TEXTS), len(TEXTS))


def test_a_weight_follows_the_formula(index):
    idf = math.log(1 + (4 - 2 + 0.5) / (2 + 0.5))
    saturation = 1.2 * (1 - 0.75 + 0.75 * 4 / (10 / 4))
    assert index.scores(["risk"])[0] == pytest.approx(idf * 2 * 2.2 / (2 + saturation), rel=1e-6)


def test_a_query_term_counts_once(index):
    assert index.top(["risk", "risk"], 5) == index.top(["risk"], 5)


def test_a_passage_without_a_query_term_is_no_hit(index):
    assert [passage for passage, _ in index.top(["harm", "nowhere"], 5)] == [2]


def test_an_unknown_term_has_the_largest_idf(index):
    assert index.idf("nowhere") > index.idf("harm") > index.idf("risk")


def test_ties_go_to_the_earlier_passage():
    scores = np.array([1.0, 2.0, 1.0, 0.0, 2.0, 1.0])
    assert [i for i, _ in best(scores, 4)] == [1, 4, 0, 2]
    assert best(np.zeros(3), 2) == []


def test_best_equals_a_full_sort():
    scores = np.random.default_rng(7).integers(0, 5, 200).astype(float)
    expected = sorted((i for i in range(200) if scores[i] > 0), key=lambda i: (-scores[i], i))
    for k in (1, 3, 50, 199, 500):
        assert [i for i, _ in best(scores, k)] == expected[:k]


def test_a_corpus_without_terms_ranks_nothing():
    assert Bm25(freeze(["", "…"]), 2).top(["risk"], 3) == []
    assert Bm25(freeze([]), 0).top(["risk"], 3) == []


def test_the_frozen_table_survives_a_file(tmp_path, index):
    pq.write_table(freeze(TEXTS), tmp_path / "bm25.parquet", row_group_size=2)
    again = Bm25(pq.read_table(tmp_path / "bm25.parquet"), len(TEXTS))
    assert again.top(["risk"], 3) == index.top(["risk"], 3)


@pytest.fixture(scope="module")
def accepted(shared):
    with gzip.open(shared / "oracle/retrieval-passages.jsonl.gz", "rt") as lines:
        passages = [json.loads(line) for line in lines]
    evaluation = shared / "evaluation"
    benchmark = json.loads((evaluation / "retrieval-benchmark-v0.1.1.json").read_text())
    published = json.loads((evaluation / "bm25-baseline-v0.1.0.json").read_text())["evaluation"]
    return passages, benchmark["queries"], published


def test_the_published_rankings_come_out_exactly(accepted):
    passages, _, published = accepted
    index = Bm25(freeze(p["retrieval_text"] for p in passages), len(passages))
    for row in published["query_results"]:
        hits = index.top(contract_terms(row["question"]), 10)
        assert [passages[i]["passage_id"] for i, _ in hits] == row["ranked_passage_ids"]
        scores = [hit["score"] for hit in row["ranked_results"]]
        assert [score for _, score in hits] == pytest.approx(scores, rel=1e-6)


def test_the_published_metrics_come_out_exactly(accepted):
    passages, queries, _ = accepted
    index = Bm25(freeze(p["retrieval_text"] for p in passages), len(passages))
    rows = []
    for query in queries:
        grades = {j["passage_id"]: j["relevance_grade"] for j in query["relevance_judgments"]}
        top = index.top(contract_terms(query["question"]), 10)
        ranking = [passages[i]["passage_id"] for i, _ in top]
        if grades:
            rows.append([f(10, ranking, grades) for f in (recall_at, mrr_at, hit_at, ndcg_at)])
    means = np.mean(rows, axis=0)
    assert means == pytest.approx([0.7760416667, 0.7433035714, 0.9375, 0.6555156356], abs=1e-9)


def test_rankings_equal_another_implementation(accepted):
    bm25s = pytest.importorskip("bm25s")
    passages, queries, _ = accepted
    texts = [p["retrieval_text"] for p in passages]
    ours = Bm25(freeze(texts), len(texts))
    theirs = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    theirs.index([contract_terms(text) for text in texts], show_progress=False)
    for query in queries:
        question = list(dict.fromkeys(contract_terms(query["question"])))
        # bm25s leaves out the constant factor k1 + 1, which no ranking depends on.
        assert ours.scores(question) / 2.2 == pytest.approx(theirs.get_scores(question), rel=1e-5)
