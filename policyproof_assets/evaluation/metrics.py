"""Ranking metrics: each takes one ranking and the graded judgments of its query.

``ranking`` is a list of distinct passage ids, best first; ``grades`` maps every judged passage id to
its grade (0 not relevant, 1 supporting, 2 direct evidence). Passages without a judgment count as 0.
A metric of a query without relevant passages has no value, so such queries raise ValueError: leave
them out of the mean.
"""

from collections.abc import Mapping, Sequence
from math import log2

Ranking = Sequence[str]
Grades = Mapping[str, int]
RELEVANT = 1
DIRECT = 2


def recall_at(k: int, ranking: Ranking, grades: Grades) -> float:
    """|relevant ∩ top k| / |relevant|, relevant being grade 1 or more."""
    relevant = _relevant(grades)
    return len(relevant.intersection(ranking[:k])) / len(relevant)


def mrr_at(k: int, ranking: Ranking, grades: Grades) -> float:
    """1 / rank of the first relevant passage; 0 where the top k hold none."""
    relevant = _relevant(grades)
    ranks = (rank for rank, passage in enumerate(ranking[:k], start=1) if passage in relevant)
    return 1 / next(ranks, float("inf"))


def hit_at(k: int, ranking: Ranking, grades: Grades, *, grade: int = DIRECT) -> float:
    """1 if the top k hold a passage of at least ``grade``, else 0."""
    return float(bool(_relevant(grades, grade).intersection(ranking[:k])))


def ndcg_at(k: int, ranking: Ranking, grades: Grades) -> float:
    """DCG / ideal DCG, DCG = Σ (2^grade − 1) / log2(rank + 1) over ranks 1…k (Burges et al. 2005).

    With the linear gain of Järvelin and Kekäläinen (2002) the published figures do not come out.
    """
    _relevant(grades)
    ideal = sorted(grades.values(), reverse=True)
    return _dcg([grades.get(passage, 0) for passage in ranking[:k]]) / _dcg(ideal[:k])


def _dcg(grades: Sequence[int]) -> float:
    return float(sum((2**g - 1) / log2(rank + 1) for rank, g in enumerate(grades, start=1)))


def _relevant(grades: Grades, grade: int = RELEVANT) -> set[str]:
    relevant = {passage for passage, value in grades.items() if value >= grade}
    if not relevant:
        raise ValueError(f"no judgment of grade {grade} or more: this query has no value here")
    return relevant
