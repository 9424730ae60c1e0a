"""Ranks benchmark questions with a method of the runtime and scores each one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from policyproof_assets.evaluation.benchmarks import Question
from policyproof_assets.evaluation.metrics import hit_at, mrr_at, ndcg_at, recall_at
from policyproof_assets.evaluation.splits import Item, assign_splits, leakage_components

#: Rank to which rankings are kept and scored.
DEPTH = 10
#: Half of the questions is for development, half is opened once.
SHARES = {"development": 0.5, "test": 0.5}
METRICS = {"recall": recall_at, "mrr": mrr_at, "hit": hit_at, "ndcg": ndcg_at}

Rank = Callable[[str, int], Sequence[str]]


def split_questions(questions: Sequence[Question], source_of: Mapping[str, str]) -> dict[str, str]:
    """Return question id -> split, by leakage components over direct evidence.

    Context passages (grade 1) do not tie questions together: introductions serve most of them.
    """
    items = [
        Item(
            q.id,
            q.question,
            frozenset(j.id for j in q.passages if j.grade == 2),
            stratum=f"{q.behaviour} {q.id.split('-')[0]}",
        )
        for q in questions
    ]
    return assign_splits(items, leakage_components(items, source_of), SHARES)


def score_questions(
    questions: Sequence[Question], splits: Mapping[str, str], methods: Mapping[str, Rank]
) -> pl.DataFrame:
    """Return one row per method and question: split, ranking and the metrics at depth 10.

    Metrics are null for questions that must be declined.
    """
    return pl.DataFrame(
        [
            _row(name, question, splits[question.id], rank(question.question, DEPTH))
            for name, rank in methods.items()
            for question in questions
        ],
        schema={
            "method": pl.String,
            "question_id": pl.String,
            "split": pl.String,
            "behaviour": pl.String,
            "kind": pl.String,
            "ranking": pl.List(pl.String),
            **dict.fromkeys(METRICS, pl.Float64),
        },
    )


def _row(method: str, question: Question, split: str, ranking: Sequence[str]) -> dict[str, Any]:
    grades = {judgment.id: judgment.grade for judgment in question.passages}
    answerable = question.behaviour == "answer"
    scores = {
        name: metric(DEPTH, ranking, grades) if answerable else None
        for name, metric in METRICS.items()
    }
    return {
        "method": method,
        "question_id": question.id,
        "split": split,
        "behaviour": question.behaviour,
        "kind": question.kind,
        "ranking": list(ranking),
        **scores,
    }


def mean_scores(rows: pl.DataFrame) -> dict[str, dict[str, dict[str, float]]]:
    """Return method -> split -> metric -> mean over answerable questions, to 4 decimals."""
    answerable = rows.filter(pl.col("behaviour") == "answer")
    means = answerable.group_by("method", "split").agg(pl.col(list(METRICS)).mean().round(4))
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for row in means.sort("method", "split").iter_rows(named=True):
        scores.setdefault(row.pop("method"), {})[row.pop("split")] = row
    return scores
