"""Questions: what is asked, which passages answer it, and when to abstain."""

from collections import Counter
from pathlib import Path
from typing import Literal, Self

import polars as pl
from pydantic import Field, model_validator

from policyproof_assets.errors import ManifestError
from policyproof_assets.manifests import Record, Text, load_yaml

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


class Judgment(Record):
    """A graded passage: 2 answers the question or a part of it, 1 is useful context."""

    id: str
    grade: Literal[1, 2]
    reason: str = Field(min_length=1)


class Part(Record):
    """One separable thing a question asks for; any one passage of ``evidence`` covers it."""

    need: str = Field(min_length=1)
    evidence: tuple[str, ...] = Field(min_length=1)


class Question(Record):
    """A question; ``tempting`` passages look relevant to one that must be declined.

    Outside the benchmark passages need not be graded: the evidence of the parts is direct, or an
    answerable question names ``provisions``.
    """

    id: str
    question: str = Field(min_length=1)
    behaviour: Literal["answer", "abstain"]
    kind: str = ""
    passages: tuple[Judgment, ...] = ()
    parts: tuple[Part, ...] = ()
    provisions: tuple[str, ...] = ()
    reason_codes: tuple[ReasonCode, ...] = ()
    missing: tuple[Text, ...] = ()
    tempting: tuple[str, ...] = ()

    @property
    def direct(self) -> frozenset[str]:
        """The passages that answer it or a part of it."""
        graded = {judgment.id for judgment in self.passages if judgment.grade == 2}
        return frozenset(graded or (e for part in self.parts for e in part.evidence))

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.behaviour == "abstain" and not (self.reason_codes and self.missing):
            raise ValueError(f"{self.id}: an abstention names a reason code and what is missing")
        loose = {e for part in self.parts for e in part.evidence} - self.direct
        if self.behaviour == "answer" and (loose or not (self.parts or self.provisions)):
            raise ValueError(
                f"{self.id}: every answer has parts, and their evidence is graded 2: {loose}"
            )
        return self


def load_benchmark(path: Path) -> tuple[Question, ...]:
    """Read a YAML list of questions; raises ManifestError that names the fault, or an id twice."""
    questions: tuple[Question, ...] = load_yaml(path, tuple[Question, ...])
    twice = [name for name, n in Counter(q.id for q in questions).items() if n > 1]
    if twice:
        raise ManifestError(f"{path}: duplicate question id: {', '.join(twice)}")
    return questions


def check_passages(questions: tuple[Question, ...], passages: pl.DataFrame) -> None:
    """Raise ManifestError if a question speaks of a passage that ``passages`` does not hold."""
    known = set(passages["passage_id"])
    for question in questions:
        graded = (judgment.id for judgment in question.passages)
        unknown = {*graded, *question.direct, *question.tempting} - known
        if unknown:
            raise ManifestError(
                f"question {question.id} names passages that do not exist",
                expected=f"ids among {len(known)} passages",
                found=sorted(unknown),
                action="regrade the question against the present passages",
            )
