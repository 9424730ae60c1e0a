"""From question to decision: what was answered or declined, rightly or wrongly, and why."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from policyproof_assets.evaluation.benchmarks import Question
from policyproof_assets.evaluation.calibration import rate
from policyproof_assets.evaluation.cases import DevelopmentQuestion
from policyproof_runtime.types import Answer

#: What can come of a question; the first of each behaviour is right.
CITED, NEAR, ELSEWHERE, REFUSED = (
    "answered, citing the evidence",
    "answered, citing its provision",
    "answered, citing neither",
    "declined although answerable",
)
DECLINED, FALSE = "declined", "answered although unanswerable"

Ask = Callable[[str], Answer]


def answer_questions(
    ask: Ask,
    questions: Sequence[Question],
    extra: Sequence[DevelopmentQuestion],
    split_of: Mapping[str, str],
    source_of: Mapping[str, str],
) -> pl.DataFrame:
    """Return one row per question: what was decided, what that is worth, and the reasons given.

    ``extra`` questions belong to development; those that name provisions instead of passages count
    as cited if a citation's label begins with one.
    """
    rows = []
    for question in questions:
        direct = {j.id for j in question.passages if j.grade == 2}
        answer = ask(question.question)
        cited = {c.passage_id for c in answer.citations}
        near = bool({source_of[p] for p in cited} & {source_of[p] for p in direct})
        rows.append(
            _row(question, split_of[question.id], answer, direct=bool(cited & direct), near=near)
        )
    for item in extra:
        answer = ask(item.question)
        near = any(c.label.startswith(p) for c in answer.citations for p in item.provisions)
        rows.append(_row(item, "development", answer, direct=near, near=near))
    return pl.DataFrame(rows, infer_schema_length=None)


def _row(
    question: Question | DevelopmentQuestion,
    split: str,
    answer: Answer,
    *,
    direct: bool,
    near: bool,
) -> dict[str, Any]:
    if question.behaviour == "abstain":
        outcome = FALSE if answer.decision == "answer" else DECLINED
    elif answer.decision == "abstain":
        outcome = REFUSED
    else:
        outcome = CITED if direct else NEAR if near else ELSEWHERE
    return {
        "question_id": question.id,
        "split": split,
        "behaviour": question.behaviour,
        "decision": answer.decision,
        "outcome": outcome,
        "probability": answer.probability,
        "partial": bool(answer.partial),
        "reason": next(iter(answer.reason_codes), ""),
        "labelled": next(iter(question.reason_codes), ""),
        "reason_named": bool(set(answer.reason_codes) & set(question.reason_codes)),
    }


def endtoend_scores(rows: pl.DataFrame) -> dict[str, Any]:
    """Return the rates of every split, with exact bounds, by name."""
    scores = {}
    for split in rows["split"].unique().sort():
        part = rows.filter(pl.col("split") == split)
        able = part.filter(pl.col("behaviour") == "answer")
        unable = part.filter(pl.col("behaviour") == "abstain")
        answered = able.filter(pl.col("decision") == "answer")
        scores[split] = {
            "answered": rate((able["decision"] == "answer").to_numpy()),
            "citing_evidence": rate((answered["outcome"] == CITED).to_numpy()),
            "citing_provision": rate(answered["outcome"].is_in([CITED, NEAR]).to_numpy()),
            "false_answers": rate((unable["decision"] == "answer").to_numpy()),
        }
    return scores


def endtoend_table(rows: pl.DataFrame) -> str:
    """Return the counts of outcomes by split and reason as a Markdown table.

    The reason of a declined question is the first one given, of a false answer the labelled one.
    """
    reason = (
        pl.when(pl.col("outcome") == FALSE).then(pl.col("labelled")).otherwise(pl.col("reason"))
    )
    counts = (
        rows.with_columns(reason.alias("why"))
        .group_by("split", "behaviour", "outcome", "why")
        .len()
        .sort("split", "behaviour", "outcome", "why")
    )
    lines = ["| split | outcome | reason | questions |", "|---|---|---|---:|"]
    lines += [
        f"| {split} | {outcome} | {why} | {count} |"
        for split, _, outcome, why, count in counts.iter_rows()
    ]
    return "\n".join(lines)
