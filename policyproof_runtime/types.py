"""What the runtime returns: hits, citations and answers, in the field order of the batch lines."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

Decision = Literal["answer", "abstain"]


class _Result:
    __slots__ = ()

    def as_json(self) -> dict[str, Any]:
        """Return the object of a batch line: the fields in order, with lists for tuples."""
        value: dict[str, Any] = json.loads(json.dumps(asdict(self)))  # type: ignore[call-overload]
        return value


@dataclass(frozen=True, slots=True)
class Hit(_Result):
    """One ranked passage. Pages and lines count from 1 and are included; ``score`` has no unit.

    ``status`` says whether ``version`` of the document is in force: active, superseded or draft.
    """

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
    title: str = ""
    version: str = ""
    status: str = ""


@dataclass(frozen=True, slots=True)
class Citation(_Result):
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

    @property
    def place(self) -> str:
        """Say where the excerpt stands: ``page 12, lines 3–18``."""
        start = f"page {self.page_start}, line"
        if self.page_start != self.page_end:
            return f"{start} {self.line_start} – page {self.page_end}, line {self.line_end}"
        if self.line_start == self.line_end:
            return f"{start} {self.line_start}"
        return f"{start}s {self.line_start}–{self.line_end}"


@dataclass(frozen=True, slots=True)
class Step:
    """One attempt at an answer: how the question was put, what was found and how it was graded."""

    attempt: str
    passage_ids: tuple[str, ...]
    probability: float
    sufficient: bool


@dataclass(frozen=True, slots=True)
class Answer(_Result):
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
