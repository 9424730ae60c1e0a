"""From question to decision: what was answered or declined, rightly or wrongly, and why."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from policyproof_assets.evaluation.benchmarks import Question
from policyproof_assets.evaluation.calibration import rate
from policyproof_runtime.types import Answer

#: What can come of a question; the first of each behaviour is right.
CITED, NEAR, ELSEWHERE, REFUSED = (
    "answered, citing the evidence",
    "answered, citing its provision",
    "answered, citing neither",
    "declined although answerable",
)
DECLINED, FALSE = "declined", "answered although unanswerable"


def answer_questions(
    ask: Callable[[str], Answer],
    questions: Sequence[Question],
    split_of: Mapping[str, str],
    source_of: Mapping[str, str],
) -> pl.DataFrame:
    """Return one row per question: what was decided, what that is worth, and the reasons given.

    Questions without a split belong to development; those that name provisions instead of passages
    count as cited if a citation's label begins with one.
    """
    rows = []
    for question in questions:
        answer = ask(question.question)
        rows.append(
            {
                "question_id": question.id,
                "split": split_of.get(question.id, "development"),
                "behaviour": question.behaviour,
                "decision": answer.decision,
                "outcome": _outcome(question, answer, source_of),
                "probability": answer.probability,
                "partial": bool(answer.partial),
                "reason": next(iter(answer.reason_codes), ""),
                "labelled": next(iter(question.reason_codes), ""),
                "reason_named": bool(set(answer.reason_codes) & set(question.reason_codes)),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _outcome(question: Question, answer: Answer, source_of: Mapping[str, str]) -> str:
    answered = answer.decision == "answer"
    if question.behaviour == "abstain":
        return FALSE if answered else DECLINED
    if not answered:
        return REFUSED
    cited = {c.passage_id for c in answer.citations}
    if cited & question.direct or any(
        c.label.startswith(question.provisions) for c in answer.citations
    ):
        return CITED
    sources = {source_of[passage] for passage in question.direct}
    return ELSEWHERE if sources.isdisjoint(source_of[p] for p in cited) else NEAR


def endtoend_scores(rows: pl.DataFrame) -> dict[str, Any]:
    """Return the rates of every split, with exact bounds, by name."""
    scores = {}
    for (split,), part in rows.sort("split").group_by("split", maintain_order=True):
        answered = part["decision"] == "answer"
        able = part["behaviour"] == "answer"
        outcomes = part.filter(able & answered)["outcome"]
        scores[str(split)] = {
            "answered": rate(answered.filter(able)),
            "citing_evidence": rate(outcomes == CITED),
            "citing_provision": rate(outcomes.is_in([CITED, NEAR])),
            "false_answers": rate(answered.filter(~able)),
        }
    return scores


def count_outcomes(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the number of questions by split, outcome and reason.

    The reason of a declined question is the first one given, of a false answer the labelled one.
    """
    false = pl.col("outcome") == FALSE
    reason = pl.when(false).then("labelled").otherwise("reason").alias("reason")
    by = ["split", "outcome", "reason"]
    return rows.with_columns(reason).group_by(by).len("questions").sort(by)
