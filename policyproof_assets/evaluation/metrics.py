"""Ranking metrics: each takes one ranking and the graded judgments of its query.

``ranking`` is a list of distinct passage ids, best first; ``grades`` maps judged passage ids to a
grade (0 not relevant, 1 supporting, 2 direct evidence). Passages without a judgment count as 0.
A query without relevant passages has no value and raises ValueError: leave it out of the mean.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import log2

Ranking = Sequence[str]
Grades = Mapping[str, int]


def recall_at(k: int, ranking: Ranking, grades: Grades) -> float:
    """|relevant ∩ top k| / |relevant|, relevant being grade 1 or more."""
    relevant = _graded(1, grades)
    return len(relevant.intersection(ranking[:k])) / len(relevant)


def mrr_at(k: int, ranking: Ranking, grades: Grades) -> float:
    """1 / rank of the first relevant passage; 0 where the top k hold none."""
    relevant = _graded(1, grades)
    return next((1 / rank for rank, p in enumerate(ranking[:k], 1) if p in relevant), 0.0)


def hit_at(k: int, ranking: Ranking, grades: Grades) -> float:
    """1 if the top k hold direct evidence, else 0."""
    return float(not _graded(2, grades).isdisjoint(ranking[:k]))


def ndcg_at(k: int, ranking: Ranking, grades: Grades) -> float:
    """DCG / ideal DCG, DCG = Σ (2^grade − 1) / log2(rank + 1) over ranks 1…k (Burges et al. 2005).

    With the linear gain of Järvelin and Kekäläinen (2002) the published figures do not come out.
    """
    _graded(1, grades)
    ideal = sorted(grades.values(), reverse=True)
    return _dcg(grades.get(passage, 0) for passage in ranking[:k]) / _dcg(ideal[:k])


def _dcg(grades: Iterable[int]) -> float:
    return sum((2**g - 1) / log2(rank + 1) for rank, g in enumerate(grades, start=1))


def _graded(least: int, grades: Grades) -> set[str]:
    relevant = {passage for passage, grade in grades.items() if grade >= least}
    if not relevant:
        raise ValueError(f"no judgment of grade {least} or more: this query has no value here")
    return relevant
