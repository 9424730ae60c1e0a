"""Trains the gate on the development cases, freezes it as numbers, and measures it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from policyproof_assets.errors import GateError
from policyproof_assets.evaluation.benchmarks import Question
from policyproof_assets.evaluation.calibration import (
    Bools,
    Floats,
    augrc,
    cheapest_threshold,
    expected_calibration_error,
    rate,
)
from policyproof_assets.evaluation.cases import Case
from policyproof_runtime.features import AGAINST, COVERAGE, SCOPE, Reader
from policyproof_runtime.passages import Passages
from policyproof_runtime.sufficiency import (
    ANSWER,
    KIND,
    LIKE_DECLINED,
    OUTSIDE_CORPUS,
    WITHIN_REACH,
    Gate,
)

#: Weights are rounded to this many decimals: what a person reads is what decides.
DECIMALS = 4
LIKENESS_DECIMALS = 2
#: Inverse of its regularisation: a weaker one knows the questions it has seen, not their kind.
LIKENESS_STRENGTH = 1.0
FOLDS = 10
#: What a question to a corpus like those a gate is for counts, beside one to another.
FURTHER = 6.0


class Asked(NamedTuple):
    """A question as the gate reads it: scope features, kin if there is a model, and its kind.

    The kind is ANSWER, or the first reason code of a question that must be declined.
    """

    features: Mapping[str, float]
    kin: Floats | None
    kind: str

    @classmethod
    def of(cls, reader: Reader, question: str, kind: str) -> "Asked":
        """Read ``question``."""
        kin = reader.meaning.kin(question) if reader.meaning else None
        return cls(reader.scope(question), kin, kind)


def train_gate(
    reader: Reader,
    questions: Sequence[Question],
    cases: Sequence[Case],
    cues: Mapping[str, Sequence[str]],
    cost: float,
    further: Sequence[Asked] = (),
) -> dict[str, Any]:
    """Return the parameters of the gate.

    ``questions`` are those of development and validation; what regards them is chosen on
    out-of-fold probabilities. The threshold for given evidence is chosen on the validation
    ``cases`` and, because they are few, out of fold on those of development; each kind of
    insufficient case counts as much as the others. Test cases are not looked at. ``cost`` is what
    the rate of false answers costs, beside that of wrongly declined questions. ``further`` holds
    questions to corpora like those the gate is for: each counts FURTHER times, and the scope
    threshold is chosen on them.
    """
    asked = [Asked.of(reader, q.question, (*q.reason_codes, ANSWER)[0]) for q in questions]
    asked += further
    times = np.repeat([1.0, FURTHER], [len(questions), len(further)])
    scope_x, scope_y = _matrix((a.features for a in asked), SCOPE), _kinds(asked) == ANSWER
    scope_names, likeness = SCOPE, {}
    if reader.meaning:
        likeness, declined = _fit_likeness(asked, times)
        scope_x, scope_names = np.column_stack([scope_x, declined]), (*SCOPE, LIKE_DECLINED)
    meant = times == times.max()
    scope_x = _readable(scope_x, scope_y, scope_names, times)
    reach = _unseen(scope_x, scope_y, times=times)
    reach_of = dict(zip((q.id for q in questions), reach.tolist(), strict=False))
    shown = [c for c in cases if c.split == "development"]
    checked = [c for c in cases if c.split == "validation"]
    x, y, weights = _evidence(reader, shown, reach_of)
    checked_x, checked_y, checked_weights = _evidence(reader, checked, reach_of)
    x = _readable(x, y, (*COVERAGE, WITHIN_REACH), weights)
    coverage = _fit(x, y, (*COVERAGE, WITHIN_REACH), weights)
    unseen = _unseen(x, y, [c.query_id for c in shown], weights)
    given = np.concatenate([unseen, _model().fit(x, y, weights).predict_proba(checked_x)[:, 1]])
    threshold = cheapest_threshold(
        given, np.concatenate([y, checked_y]), 1.0, np.concatenate([weights, checked_weights])
    )
    return {
        "kind": KIND,
        "label_status": label_status(cases),
        "scope": _fit(scope_x, scope_y, scope_names, times),
        "coverage": coverage,
        "likeness": likeness,
        "scope_threshold": round(cheapest_threshold(reach[meant], scope_y[meant], cost), 4),
        "threshold": round(threshold, 4),
        "cost_of_false_answer_rate": cost,
        "cues": {code: list(patterns) for code, patterns in cues.items()},
    }


def _evidence(
    reader: Reader, cases: Sequence[Case], reach_of: Mapping[str, float]
) -> tuple[Floats, Bools, Floats]:
    """Return features of coverage, labels and weights of ``cases``.

    Shapes (cases, features), (cases,), (cases,). The kinds of insufficient cases weigh alike, and
    all of them together what they number.
    """
    rows = (
        {
            WITHIN_REACH: reach_of[case.query_id],
            **reader.coverage(case.question, case.positions(reader.passages)),
        }
        for case in cases
    )
    counts = Counter(case.kind for case in cases if not case.sufficient)
    alike = {kind: counts.total() / len(counts) / count for kind, count in counts.items()}
    weights = [1.0 if case.sufficient else alike[case.kind] for case in cases]
    labels = np.array([case.sufficient for case in cases])
    return _matrix(rows, (*COVERAGE, WITHIN_REACH)), labels, np.array(weights)


def _kinds(asked: Sequence[Asked]) -> np.ndarray:
    """Return the kind of each question; those with too few of their own count as out of reach."""
    counts = Counter(a.kind for a in asked)
    return np.array([a.kind if counts[a.kind] >= FOLDS else OUTSIDE_CORPUS for a in asked])


def _fit_likeness(asked: Sequence[Asked], times: Floats) -> tuple[dict[str, Any], Floats]:
    """Return the numbers of the likeness, and how like declined ones each question is unseen."""
    x, y = np.array([a.kin for a in asked]), _kinds(asked)
    model = _model(LIKENESS_STRENGTH, 1e-5)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    weight = {"params": {"sample_weight": times}}
    shares = cross_val_predict(model, x, y, cv=folds, method="predict_proba", **weight)
    model.fit(x, y, times)
    rows = np.column_stack([model.intercept_, model.coef_])
    if len(model.classes_) == 2:  # scikit-learn gives the second kind only, beside a first of 0
        rows = np.vstack([np.zeros_like(rows), rows])
    rows = rows.round(LIKENESS_DECIMALS)
    numbers = {
        "kinds": model.classes_.tolist(),
        "intercepts": rows[:, 0].tolist(),
        "weights": rows[:, 1:].tolist(),
    }
    return numbers, 1 - shares[:, numbers["kinds"].index(ANSWER)]


def assess_cases(reader: Reader, gate: Gate, cases: Sequence[Case]) -> pl.DataFrame:
    """Return one row per case: its fields, the label as ``label``, and what the gate says."""
    said = [gate.assess(reader, c.question, c.positions(reader.passages)) for c in cases]
    rows = [
        {
            **case.model_dump(exclude={"sufficient"}),
            "label": case.sufficient,
            "probability": found.probability,
            "scope": found.scope,
            "sufficient": found.sufficient,
            "said_codes": list(found.reason_codes),
            "said_missing": list(found.missing),
        }
        for case, found in zip(cases, said, strict=True)
    ]
    lists = ("passage_ids", "reason_codes", "missing", "said_codes", "said_missing")
    return pl.DataFrame(rows, schema_overrides=dict.fromkeys(lists, pl.List(pl.String)))


def label_status(cases: Sequence[Case]) -> str:
    """Return "adjudicated" if people decided about every case, else "construction_derived"."""
    statuses = {case.label_status for case in cases}
    return "adjudicated" if statuses == {"adjudicated"} else "construction_derived"


def case_scores(rows: pl.DataFrame) -> dict[str, Any]:
    """Return the measures of one split: balanced accuracy, calibration, risk, rates by kind."""
    said, truth = rows["sufficient"].to_numpy(), rows["label"].to_numpy()
    probability = rows["probability"].to_numpy()
    right = rows.select("kind", right=pl.col("sufficient") == pl.col("label")).sort("kind")
    return {
        "cases": len(rows),
        "balanced_accuracy": round(float(balanced_accuracy_score(truth, said)), 4),
        "false_answers": rate(said[~truth]),
        "wrong_refusals": rate(~said[truth]),
        "calibration_error": round(expected_calibration_error(probability, truth), 4),
        "augrc": round(augrc(probability, truth), 4),
        "right_by_kind": {str(k): rate(part["right"]) for (k,), part in right.group_by("kind")},
    }


def surface_score(cases: Sequence[Case], passages: Passages, bound: float) -> float:
    """Return the balanced accuracy that number and length of the passages reach by themselves.

    Fitted and read on all cases, which flatters it. Raises GateError if it exceeds ``bound``: then
    the label could be guessed without reading.
    """
    lengths = [[len(passages.citation_text(i)) for i in c.positions(passages)] for c in cases]
    x = np.array([(len(n), np.log(sum(n)), np.log(sum(n) / len(n))) for n in lengths])
    y = np.array([case.sufficient for case in cases])
    model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))
    score = round(float(balanced_accuracy_score(y, model.fit(x, y).predict(x))), 4)
    if score > bound:
        raise GateError(
            "number and length of the passages give the labels of the cases away",
            expected=f"balanced accuracy of at most {bound}",
            found=score,
            action="balance the construction of the cases",
        )
    return score


def _matrix(rows: Iterable[Mapping[str, float]], names: Sequence[str]) -> Floats:
    return np.array([[row[name] for name in names] for row in rows])


def _readable(x: Floats, y: Bools, names: Sequence[str], times: Floats) -> Floats:
    """Return ``x`` with 0 in the columns that would weigh the other way than they read.

    Columns are given up one at a time, the one first that moves the result most; their weight is 0.
    """
    signs = np.array([-1 if name in {*AGAINST, LIKE_DECLINED} else 1 for name in names])
    x = x.copy()
    while True:
        moves = signs * _model().fit(x, y, times).coef_[0] * x.std(axis=0)
        if moves.min() >= 0:
            return x
        x[:, moves.argmin()] = 0


def _model(strength: float = 5.0, tol: float = 1e-8) -> LogisticRegression:
    return LogisticRegression(C=strength, class_weight="balanced", max_iter=5000, tol=tol)


def _unseen(
    x: Floats, y: Bools, groups: Sequence[str] | None = None, times: Floats | None = None
) -> Floats:
    """Return out-of-fold probabilities; the cases of one of ``groups`` stay in one fold."""
    folds = (
        StratifiedGroupKFold(FOLDS)
        if groups
        else StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    )
    options = {"cv": folds, "groups": groups, "params": {"sample_weight": times}}
    return cross_val_predict(_model(), x, y, method="predict_proba", **options)[:, 1]


def _fit(x: Floats, y: Bools, names: Sequence[str], times: Floats | None = None) -> dict[str, Any]:
    model = _model().fit(x, y, times)
    weights = model.coef_[0].round(DECIMALS).tolist()
    return {
        "intercept": round(float(model.intercept_[0]), DECIMALS),
        "weights": dict(zip(names, weights, strict=True)),
        "examples": len(y),
    }
