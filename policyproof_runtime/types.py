"""What the runtime returns: hits, citations and answers, in the field order of the batch lines."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Decision = Literal["answer", "abstain"]


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked passage. Pages and lines count from 1 and are included; ``score`` has no unit."""

    rank: int
    passage_id: str
    document_id: str
    label: str
    heading_path: tuple[str, ...]
    page_start: int
    line_start: int
    page_end: int
    line_end: int
    score: float

    def as_json(self) -> dict[str, Any]:
        """Return the hit as the object of a batch line."""
        return {**asdict(self), "heading_path": list(self.heading_path)}


@dataclass(frozen=True, slots=True)
class Citation:
    """An excerpt in the exact words of the source, and the lines it stands on."""

    passage_id: str
    document_id: str
    title: str
    label: str
    page_start: int
    line_start: int
    page_end: int
    line_end: int
    excerpt: str

    def as_json(self) -> dict[str, Any]:
        """Return the citation as the object of a batch line."""
        return asdict(self)

    @property
    def place(self) -> str:
        """Say where the excerpt stands: ``page 12, lines 3–18``."""
        if self.page_start != self.page_end:
            return (
                f"page {self.page_start}, line {self.line_start} – "
                f"page {self.page_end}, line {self.line_end}"
            )
        if self.line_start == self.line_end:
            return f"page {self.page_start}, line {self.line_start}"
        return f"page {self.page_start}, lines {self.line_start}–{self.line_end}"


@dataclass(frozen=True, slots=True)
class Step:
    """One attempt at an answer: how the question was put, what was found and how it was graded."""

    attempt: str
    passage_ids: tuple[str, ...]
    probability: float
    sufficient: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer by citation, or an abstention with its reasons.

    ``probability`` is the gate's estimate that the corpus answers the question; below ``threshold``
    the decision is to abstain, except for a question of which only some parts are answered: then
    ``partial`` names the others. ``label_status`` says what the gate's training labels rest on.
    ``related`` holds the closest passages of an abstention; they are no answer.
    """

    question: str
    decision: Decision
    probability: float
    threshold: float
    reason_codes: tuple[str, ...]
    missing: tuple[str, ...]
    citations: tuple[Citation, ...]
    corpus: str
    release: str
    partial: tuple[str, ...] = ()
    label_status: str = ""
    trace: tuple[Step, ...] = ()
    related: tuple[Citation, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the answer as the object of a batch line, without its id."""
        return {
            "question": self.question,
            "decision": self.decision,
            "probability": self.probability,
            "threshold": self.threshold,
            "reason_codes": list(self.reason_codes),
            "missing": list(self.missing),
            "citations": [citation.as_json() for citation in self.citations],
            "corpus": self.corpus,
            "release": self.release,
            "partial": list(self.partial),
            "label_status": self.label_status,
            "trace": [asdict(step) | {"passage_ids": list(step.passage_ids)} for step in self.trace],
            "related": [citation.as_json() for citation in self.related],
        }
