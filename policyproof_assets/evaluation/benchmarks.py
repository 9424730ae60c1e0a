"""Benchmark questions: what is asked, which passages answer it, and when to abstain."""

from collections import Counter
from pathlib import Path
from typing import Any, Literal, Self

import polars as pl
import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from policyproof_assets.errors import ManifestError

ReasonCode = Literal[
    "outside_controlled_corpus",
    "current_information_required",
    "organization_specific_conclusion",
    "legal_advice_boundary",
    "high_stakes_recommendation",
    "unsupported_comparison",
    "incomplete_evidence_set",
    "conflicting_evidence",
]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Judgment(_Model):
    """A graded passage: 2 answers the question or a part of it, 1 is useful context."""

    id: str
    grade: Literal[1, 2]
    reason: str = Field(min_length=1)


class Part(_Model):
    """One separable thing a question asks for; any one passage of ``evidence`` covers it."""

    need: str = Field(min_length=1)
    evidence: tuple[str, ...] = Field(min_length=1)


class Question(_Model):
    """A benchmark question; ``tempting`` passages look relevant to one that must be declined."""

    id: str
    question: str = Field(min_length=1)
    behaviour: Literal["answer", "abstain"]
    kind: str
    passages: tuple[Judgment, ...] = ()
    parts: tuple[Part, ...] = ()
    reason_codes: tuple[ReasonCode, ...] = ()
    missing: tuple[str, ...] = ()
    tempting: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.behaviour == "answer":
            direct = {j.id for j in self.passages if j.grade == 2}
            loose = {e for part in self.parts for e in part.evidence} - direct
            if not self.parts or loose:
                raise ValueError(
                    f"{self.id}: every answer has parts, and their evidence is graded 2: {loose}"
                )
        elif not (self.reason_codes and self.missing):
            raise ValueError(f"{self.id}: an abstention names a reason code and what is missing")
        return self

    def passage_ids(self) -> set[str]:
        """Return every passage the question speaks of."""
        graded = {j.id for j in self.passages}
        return graded | set(self.tempting)


_QUESTIONS = TypeAdapter(tuple[Question, ...])


def load_benchmark(path: Path) -> tuple[Question, ...]:
    """Read a benchmark file, a YAML list of questions.

    Raises ManifestError that names the file and the faulty question, or a duplicate id.
    """
    try:
        data: Any = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        questions = _QUESTIONS.validate_python(data)
    except FileNotFoundError:
        raise ManifestError(f"no benchmark at {path}", action="check the path") from None
    except (yaml.YAMLError, ValidationError) as error:
        raise ManifestError(f"{path} is not a valid benchmark: {error}") from error
    twice = [name for name, n in Counter(q.id for q in questions).items() if n > 1]
    if twice:
        raise ManifestError(f"{path}: duplicate question id: {', '.join(twice)}")
    return questions


def check_passages(questions: tuple[Question, ...], passages: pl.DataFrame) -> None:
    """Raise ManifestError if a question speaks of a passage that ``passages`` does not hold."""
    known = set(passages["passage_id"])
    for question in questions:
        unknown = sorted(question.passage_ids() - known)
        if unknown:
            raise ManifestError(
                f"question {question.id} names passages that do not exist",
                expected=f"ids among {len(known)} passages",
                found=unknown,
                action="regrade the question against the present passages",
            )


def benchmark_frame(questions: tuple[Question, ...]) -> pl.DataFrame:
    """Return one row per question: id, behaviour, kind, counts and direct passages."""
    return pl.DataFrame(
        {
            "question_id": [q.id for q in questions],
            "question": [q.question for q in questions],
            "behaviour": [q.behaviour for q in questions],
            "kind": [q.kind for q in questions],
            "parts": pl.Series([len(q.parts) for q in questions], dtype=pl.Int32),
            "direct": [[j.id for j in q.passages if j.grade == 2] for q in questions],
            "context": [[j.id for j in q.passages if j.grade == 1] for q in questions],
        },
        schema_overrides={"direct": pl.List(pl.String), "context": pl.List(pl.String)},
    )
