"""Trains the gate on the development cases and freezes it as numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from policyproof_assets.errors import GateError
from policyproof_assets.evaluation.calibration import (
    Bools,
    Floats,
    augrc,
    balanced_accuracy,
    cheapest_threshold,
    expected_calibration_error,
    rate,
)
from policyproof_assets.evaluation.cases import ADJUDICATED, LABEL_STATUS, Case
from policyproof_runtime.features import COVERAGE, SCOPE, Reader
from policyproof_runtime.passages import Passages
from policyproof_runtime.sufficiency import KIND, Gate

#: Weights are rounded to this many decimals: what a person reads is what decides.
DECIMALS = 4


@dataclass(frozen=True)
class Asked:
    """A question and whether the corpus answers it, for the regression on scope."""

    question: str
    answerable: bool


def train_gate(
    reader: Reader,
    asked: Sequence[Asked],
    cases: Sequence[Case],
    cues: Mapping[str, Sequence[str]],
    cost: float,
) -> dict[str, Any]:
    """Return the parameters of the gate.

    ``asked`` holds the questions of development and validation: with few dozen unanswerable ones,
    the scope threshold is chosen on out-of-fold probabilities. The threshold for given evidence is
    chosen on the validation ``cases`` and, because they are few, out of fold on the development
    cases whose questions are answerable. Test cases are not looked at.
    """
    scope_x = _matrix([reader.scope(item.question) for item in asked], SCOPE)
    scope_y = np.array([item.answerable for item in asked])
    answerable = [c for c in cases if c.split == "development" and c.kind != "abstention"]
    rows = [reader.coverage(c.question, positions(reader.passages, c)) for c in answerable]
    coverage_y = np.array([c.sufficient for c in answerable])
    params = {
        "kind": KIND,
        "label_status": label_status(cases),
        "scope": _fit(scope_x, scope_y, SCOPE),
        "coverage": _fit(_matrix(rows, COVERAGE), coverage_y, COVERAGE),
        "scope_threshold": round(cheapest_threshold(_unseen(scope_x, scope_y), scope_y, cost), 4),
        "threshold": 0.5,
        "cost_of_false_answer": cost,
        "cues": {code: list(patterns) for code, patterns in cues.items()},
    }
    validation = [case for case in cases if case.split == "validation"]
    gate = Gate.from_params(params)
    frame = assess_cases(reader, gate, validation)
    groups = [case.query_id for case in answerable]
    scopes = np.array([gate.scope.probability(reader.scope(c.question)) for c in answerable])
    unseen = scopes * _unseen(_matrix(rows, COVERAGE), coverage_y, groups)
    given = np.concatenate([frame["probability"].to_numpy(), unseen])
    truth = np.concatenate([frame["label"].to_numpy(), coverage_y])
    return params | {"threshold": round(cheapest_threshold(given, truth, 1.0), 4)}


def positions(passages: Passages, case: Case) -> list[int]:
    """Return where the passages of ``case`` stand."""
    return [passages.position(name) for name in case.passage_ids]


def assess_cases(reader: Reader, gate: Gate, cases: Sequence[Case]) -> pl.DataFrame:
    """Return one row per case: its fields, the label as ``label``, and what the gate says."""
    said = [gate.assess(reader, c.question, positions(reader.passages, c)) for c in cases]
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
    """Return ADJUDICATED if people decided about every case, else LABEL_STATUS."""
    return ADJUDICATED if all(c.label_status == ADJUDICATED for c in cases) else LABEL_STATUS


def case_scores(rows: pl.DataFrame) -> dict[str, Any]:
    """Return the measures of one split: balanced accuracy, calibration, risk, rates by kind."""
    said, truth = rows["sufficient"].to_numpy(), rows["label"].to_numpy()
    probability = rows["probability"].to_numpy()
    by_kind = {
        str(kind): rate((part["sufficient"] == part["label"]).to_numpy())
        for (kind,), part in rows.sort("kind").group_by("kind", maintain_order=True)
    }
    return {
        "cases": len(rows),
        "balanced_accuracy": round(balanced_accuracy(said, truth), 4),
        "false_answers": rate(said[~truth]),
        "wrong_refusals": rate(~said[truth]),
        "calibration_error": round(expected_calibration_error(probability, truth), 4),
        "augrc": round(augrc(probability, truth), 4),
        "right_by_kind": by_kind,
    }


def surface_score(cases: Sequence[Case], passages: Passages, bound: float) -> float:
    """Return the balanced accuracy that number and length of the passages reach by themselves.

    Fitted and read on all cases, which flatters it. Raises GateError if it exceeds ``bound``: then
    the label could be guessed without reading.
    """
    places = [positions(passages, case) for case in cases]
    lengths = [[len(passages.citation_text(i)) for i in place] for place in places]
    x = np.array([(len(n), np.log(sum(n)), np.log(sum(n) / len(n))) for n in lengths])
    y = np.array([case.sufficient for case in cases])
    model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))
    score = round(balanced_accuracy(model.fit(x, y).predict(x), y), 4)
    if score > bound:
        raise GateError(
            "number and length of the passages give the labels of the cases away",
            expected=f"balanced accuracy of at most {bound}",
            found=score,
            action="balance the construction of the cases",
        )
    return score


def _matrix(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> Floats:
    return np.array([[row[name] for name in names] for row in rows])


def _model() -> LogisticRegression:
    return LogisticRegression(C=5.0, class_weight="balanced", max_iter=5000, tol=1e-8)


def _unseen(x: Floats, y: Bools, groups: Sequence[str] | None = None) -> Floats:
    """Return out-of-fold probabilities; the cases of one of ``groups`` stay in one fold."""
    folds = (
        StratifiedGroupKFold(10) if groups else StratifiedKFold(10, shuffle=True, random_state=0)
    )
    options = {"cv": folds, "groups": groups, "method": "predict_proba"}
    unseen: Floats = cross_val_predict(_model(), x, y, **options)[:, 1]
    return unseen


def _fit(x: Floats, y: Bools, names: Sequence[str]) -> dict[str, Any]:
    model = _model().fit(x, y)
    return {
        "intercept": round(float(model.intercept_[0]), DECIMALS),
        "weights": {
            name: round(float(weight), DECIMALS)
            for name, weight in zip(names, model.coef_[0], strict=True)
        },
        "examples": len(y),
    }
