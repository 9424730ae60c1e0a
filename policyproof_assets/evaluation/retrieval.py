"""Ranks benchmark questions with the methods of a release, scores each one, and averages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from policyproof_assets.evaluation.benchmarks import Question
from policyproof_assets.evaluation.metrics import hit_at, mrr_at, ndcg_at, recall_at
from policyproof_assets.evaluation.splits import Item, assign_splits
from policyproof_runtime.corpus import Corpus

#: Rank to which rankings are kept and scored.
DEPTH = 10
#: Half of the questions is for development, half is opened once.
SHARES = {"development": 0.5, "test": 0.5}
METRICS = {"recall": recall_at, "mrr": mrr_at, "hit": hit_at, "ndcg": ndcg_at}
RESAMPLES = 2_000
LEVEL = 0.95

#: Method -> split -> metric -> what was made of the values.
Summary = dict[str, dict[str, dict[str, Any]]]


def split_questions(questions: Sequence[Question], source_of: Mapping[str, str]) -> dict[str, str]:
    """Return question id -> split, by leakage components over direct evidence.

    Context passages (grade 1) do not tie questions together: introductions serve most of them.
    """
    items = [
        Item(q.id, q.question, q.direct, stratum=f"{q.behaviour} {q.id.split('-')[0]}")
        for q in questions
    ]
    return assign_splits(items, source_of, SHARES)


def score_questions(
    corpus: Corpus, questions: Sequence[Question], splits: Mapping[str, str], methods: Sequence[str]
) -> pl.DataFrame:
    """Return one row per method and question: split, ranking and the metrics at depth 10.

    Metrics are null for questions that must be declined.
    """
    rows = [
        {"method": method, "split": splits[question.id], **_scored(corpus, question, method)}
        for method in methods
        for question in questions
    ]
    texts = dict.fromkeys(("method", "question_id", "split", "behaviour", "kind"), pl.String)
    numbers = dict.fromkeys(METRICS, pl.Float64)
    return pl.DataFrame(rows, {**texts, "ranking": pl.List(pl.String), **numbers})


def _scored(corpus: Corpus, question: Question, method: str) -> dict[str, Any]:
    ranking = [hit.passage_id for hit in corpus.retrieve(question.question, DEPTH, method)]
    grades = {judgment.id: judgment.grade for judgment in question.passages}
    metrics = METRICS if question.behaviour == "answer" else {}
    return {
        "question_id": question.id,
        "behaviour": question.behaviour,
        "kind": question.kind,
        "ranking": ranking,
        **{name: metric(DEPTH, ranking, grades) for name, metric in metrics.items()},
    }


def mean_scores(rows: pl.DataFrame) -> Summary:
    """Return the mean of every metric over answerable questions, to 4 decimals."""
    return _summary(rows, lambda values: round(float(values.mean()), 4))


def intervals(rows: pl.DataFrame) -> Summary:
    """Return the (low, high) of every mean."""
    return _summary(rows, interval)


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return the bootstrap percentile interval of the mean of ``values`` (Efron 1979), at LEVEL."""
    draws = np.random.default_rng(0).integers(len(values), size=(RESAMPLES, len(values)))
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(values[draws].mean(axis=1), [tail, 1 - tail])
    return round(float(low), 4), round(float(high), 4)


def _summary(rows: pl.DataFrame, of: Callable[[np.ndarray], Any]) -> Summary:
    found: Summary = {}
    answerable = rows.filter(pl.col("behaviour") == "answer").sort("method", "split", "question_id")
    for (method, split), group in answerable.group_by("method", "split", maintain_order=True):
        means = {name: of(group[name].to_numpy()) for name in METRICS}
        found.setdefault(str(method), {})[str(split)] = means
    return found
