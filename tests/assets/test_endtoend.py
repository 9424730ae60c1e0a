"""What came of every question, and how it is shown."""

import polars as pl
import pytest

from policyproof_assets.evaluation.benchmarks import Question
from policyproof_assets.evaluation.endtoend import (
    CITED,
    DECLINED,
    ELSEWHERE,
    FALSE,
    NEAR,
    REFUSED,
    answer_questions,
    count_outcomes,
    endtoend_scores,
)
from policyproof_runtime.types import Answer, Citation

SOURCE_OF = {"a-1": "a", "a-2": "a", "b-1": "b"}


def answer(question: str) -> Answer:
    """Cite the passage that the question names; decline where it names none."""
    cited = [p for p in SOURCE_OF if p in question]
    place = dict.fromkeys(("page_start", "line_start", "page_end", "line_end"), 1)
    return Answer(
        question=question,
        decision="answer" if cited else "abstain",
        probability=0.5,
        threshold=0.5,
        reason_codes=() if cited else ("legal_advice_boundary",),
        missing=(),
        citations=tuple(
            Citation(passage_id=p, document_id="d", title="", label=p, excerpt="", **place)
            for p in cited
        ),
        corpus="c",
        release="r",
    )


def answerable(name: str, text: str) -> Question:
    graded = {"id": "a-1", "grade": 2, "reason": "r"}
    part = {"need": "n", "evidence": ["a-1"]}
    values = {"id": name, "question": text, "behaviour": "answer", "kind": "k"}
    return Question(**values, passages=[graded], parts=[part])


def unanswerable(name: str, text: str) -> Question:
    codes = ["legal_advice_boundary"]
    values = {"id": name, "question": text, "behaviour": "abstain", "kind": "k"}
    return Question(**values, reason_codes=codes, missing=["advice"])


@pytest.fixture
def rows() -> pl.DataFrame:
    questions = [
        answerable("cited", "a-1"),
        answerable("near", "a-2"),
        answerable("elsewhere", "b-1"),
        answerable("refused", "?"),
        unanswerable("declined", "?"),
        unanswerable("false", "b-1"),
    ]
    extra = Question(id="x", question="b-1", behaviour="answer", provisions=["b"])
    splits = dict.fromkeys((q.id for q in questions), "test")
    return answer_questions(answer, [*questions, extra], splits, SOURCE_OF)


def test_every_question_has_its_outcome(rows):
    outcomes = dict(rows.select("question_id", "outcome").iter_rows())
    assert outcomes == {
        "cited": CITED,
        "near": NEAR,
        "elsewhere": ELSEWHERE,
        "refused": REFUSED,
        "declined": DECLINED,
        "false": FALSE,
        "x": CITED,
    }


def test_rates_by_hand(rows):
    scores = endtoend_scores(rows)["test"]
    assert {name: (s["hits"], s["total"]) for name, s in scores.items()} == {
        "answered": (3, 4),
        "citing_evidence": (1, 3),
        "citing_provision": (2, 3),
        "false_answers": (1, 2),
    }


def test_outcomes_are_counted_by_reason(rows):
    counts = count_outcomes(rows).rows()
    assert ("test", DECLINED, "legal_advice_boundary", 1) in counts
    assert ("test", FALSE, "legal_advice_boundary", 1) in counts
