"""Evidence cases: a question, the passages shown as evidence, and whether they suffice.

Cases are constructed from the parts of the benchmark's questions. Every logical source belongs to
one split and a case shows only passages of its split, so no passage, source or question is met in
two.
Retrieval may well find passages of another split; those are left out of the evidence.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from policyproof_assets.errors import ManifestError
from policyproof_assets.evaluation.benchmarks import Question, ReasonCode
from policyproof_assets.evaluation.splits import Item, assign_splits, leakage_components
from policyproof_runtime.digest import Digest

#: Ranks: (question, k) to passage ids, best first.
Rank = Callable[[str, int], Sequence[str]]
SPLITS = ("development", "validation", "test")
LABEL_STATUS = "construction_derived"
ADJUDICATED = "adjudicated"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Construction(_Model):
    """Parameters of the construction; the manifest says what each means."""

    depth: int = Field(gt=0)
    surface_bound: float = Field(gt=0.5, lt=1)
    validation: float = Field(gt=0, lt=1)
    cost_of_false_answer: float = Field(gt=0)


class DevelopmentQuestion(_Model):
    """A question without graded passages; an answerable one names the provisions that answer it."""

    id: str
    question: str = Field(min_length=1)
    behaviour: Literal["answer", "abstain"]
    reason_codes: tuple[ReasonCode, ...] = ()
    missing: tuple[str, ...] = ()
    provisions: tuple[str, ...] = ()


class Gold(_Model):
    """What people decided about one case, known by its blind name."""

    case: str
    sufficient: bool
    reason_codes: tuple[ReasonCode, ...] = ()
    missing: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _says_why(self) -> Self:
        if self.sufficient == bool(self.reason_codes and self.missing):
            raise ValueError("insufficient evidence needs a reason code and what is missing")
        return self


class CasesManifest(_Model):
    """``manifests/cases/<corpus>.yaml``, with the labels of ``<corpus>.gold.jsonl`` beside it."""

    construction: Construction
    questions: tuple[DevelopmentQuestion, ...] = ()
    gold: tuple[Gold, ...] = ()


class Case(_Model):
    """One case; ``missing`` and ``reason_codes`` say why evidence is insufficient."""

    id: str
    query_id: str
    question: str
    kind: Literal["complete", "distractor", "incomplete", "near_miss", "abstention"]
    passage_ids: tuple[str, ...] = Field(min_length=1)
    sufficient: bool
    reason_codes: tuple[ReasonCode, ...] = ()
    missing: tuple[str, ...] = ()
    split: Literal["development", "validation", "test"]
    label_status: Literal["construction_derived", "adjudicated"] = LABEL_STATUS

    @property
    def blind_name(self) -> str:
        """The name under which annotators know the case; its id tells how it was built."""
        return Digest.of_json({"case": self.id, "question": self.question}).hex[:12]

    def labelled(self, gold: Gold | None) -> "Case":
        """Return the case with the label people decided on, if they did."""
        if gold is None:
            return self
        values = gold.model_dump(exclude={"case"}) | {"label_status": ADJUDICATED}
        return self.model_copy(update=values)


_CASES = TypeAdapter(tuple[Case, ...])


def load_cases_manifest(path: Path) -> CasesManifest:
    """Read a cases manifest; raises ManifestError that names the file and the fault."""
    try:
        data: Any = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        gold = path.with_suffix(".gold.jsonl")
        lines = gold.read_text(encoding="utf-8").splitlines() if gold.is_file() else []
        return CasesManifest.model_validate(data | {"gold": [json.loads(line) for line in lines]})
    except (yaml.YAMLError, ValueError) as error:
        raise ManifestError(f"{path} is not a valid cases manifest: {error}") from error


def split_three_ways(
    questions: Sequence[Question],
    source_of: Mapping[str, str],
    halves: Mapping[str, str],
    validation: float,
) -> dict[str, str]:
    """Divide the development half of the benchmark (``halves``) into development and validation.

    The components are those of `split_questions`, so the test half stays the benchmark's.
    """
    items = [
        Item(q.id, q.question, frozenset(_direct(q)), q.behaviour)
        for q in questions
        if halves[q.id] == "development"
    ]
    shares = {"development": 1 - validation, "validation": validation}
    chosen = assign_splits(items, leakage_components(items, source_of), shares)
    return {q.id: chosen.get(q.id, halves[q.id]) for q in questions}


@dataclass(frozen=True)
class CaseBuilder:
    """Constructs the cases of a corpus; equal inputs give equal cases.

    ``order`` holds the passage ids in accepted order, ``source_of`` their logical sources and
    ``split_of`` the split of every benchmark question.
    """

    manifest: CasesManifest
    questions: Sequence[Question]
    split_of: Mapping[str, str]
    order: Sequence[str]
    source_of: Mapping[str, str]
    rank: Rank

    def build(self) -> tuple[Case, ...]:
        """Return every case, sorted by id; raises ManifestError if one breaks a rule."""
        rows = [row for question in self.questions for row in self._of(question)]
        for question in self.manifest.questions:
            if question.behaviour == "abstain":
                rows += self._abstentions(question, "development", ())
        gold = {label.case: label for label in self.manifest.gold}
        made = sorted(_CASES.validate_python(rows), key=lambda case: case.id)
        cases = tuple(case.labelled(gold.get(case.blind_name)) for case in made)
        check_cases(cases, self.source_of)
        return cases

    @cached_property
    def _owner(self) -> dict[str, str]:
        """Logical source -> split: the split of the question it answers, else by its digest."""
        owner = {
            self.source_of[passage]: self.split_of[question.id]
            for question in self.questions
            for passage in _direct(question)
        }
        for source in sorted(set(self.source_of.values()) - owner.keys()):
            owner[source] = SPLITS[(0, 0, 1, 2, 2)[_draw(5, source)]]
        return owner

    def _owned(self, passages: Iterable[str], split: str) -> list[str]:
        return [p for p in dict.fromkeys(passages) if self._owner[self.source_of[p]] == split]

    def _of(self, question: Question) -> list[dict[str, Any]]:
        split = self.split_of[question.id]
        if question.behaviour == "abstain":
            return self._abstentions(question, split, question.tempting)
        whole = list(dict.fromkeys(part.evidence[0] for part in question.parts))
        others = self._near(question, split)
        # The evidence of one to four passages comes as often with distractors as without.
        padded = [*whole, *others[: 1 + _draw(2, question.id)]]
        rows = [
            _row(question, "complete", whole, split),
            _row(question, "distractor", padded, split),
            self._incomplete(question, whole, others, split, len(whole)),
            self._incomplete(question, whole, others, split, len(padded)),
        ]
        return [row for row in rows if row]

    def _incomplete(
        self,
        question: Question,
        whole: Sequence[str],
        others: Sequence[str],
        split: str,
        size: int,
    ) -> dict[str, Any]:
        """Leave out the evidence of one part and fill up to ``size``; a near miss keeps none of it.

        The part that is left out turns with the size. Without neighbours there is no such case.
        """
        part = question.parts[size % len(question.parts)]
        kept = [passage for passage in whole if passage not in part.evidence]
        shown = [*kept, *others][:size]
        lost = [p.need for p in question.parts if not set(p.evidence) & set(shown)]
        if len(shown) < size:
            return {}
        kind = "incomplete" if kept else "near_miss"
        row = _row(question, kind, shown, split, name=f"{kind}-{size}")
        return row | {
            "sufficient": False,
            "reason_codes": ["incomplete_evidence_set"],
            "missing": lost,
        }

    def _near(self, question: Question, split: str) -> list[str]:
        """Return passages that do not answer: graded as context, beside evidence, well ranked."""
        direct = _direct(question)
        context = [j.id for j in question.passages if j.grade == 1]
        place = {passage: i for i, passage in enumerate(self.order)}
        beside = [
            self.order[i]
            for passage in sorted(direct)
            for i in (place[passage] + 1, place[passage] - 1)
            if 0 <= i < len(self.order)
        ]
        ranked = self.rank(question.question, self.manifest.construction.depth)
        found = self._owned([*context, *_woven(beside, ranked)], split)
        return [passage for passage in found if passage not in direct]

    def _abstentions(
        self, question: Question | DevelopmentQuestion, split: str, tempting: Sequence[str]
    ) -> list[dict[str, Any]]:
        ranked = self.rank(question.question, self.manifest.construction.depth)
        shown = self._owned([*tempting, *ranked], split)
        size = 1 + _draw(4, question.id)
        if not shown:
            return []
        row = _row(question, "abstention", shown[:size], split)
        reasons = {
            "sufficient": False,
            "reason_codes": question.reason_codes,
            "missing": question.missing,
        }
        return [row | reasons]


def _row(
    question: Question | DevelopmentQuestion,
    kind: str,
    passages: Sequence[str],
    split: str,
    name: str = "",
) -> dict[str, Any]:
    # Shown in an order that does not tell which passage was added last.
    shown = sorted(passages, key=lambda p: Digest.of_json([question.id, p]).hex)
    return {
        "id": f"{question.id}:{name or kind}",
        "query_id": question.id,
        "question": question.question,
        "kind": kind,
        "passage_ids": shown,
        "sufficient": True,
        "split": split,
    }


def _direct(question: Question) -> set[str]:
    return {judgment.id for judgment in question.passages if judgment.grade == 2}


def _draw(sides: int, name: str) -> int:
    return int(Digest.of_json(name).hex[:8], 16) % sides


def _woven(first: Sequence[str], second: Sequence[str]) -> list[str]:
    longest = max(len(first), len(second))
    return [row[i] for i in range(longest) for row in (first, second) if i < len(row)]


def check_cases(cases: Sequence[Case], source_of: Mapping[str, str]) -> None:
    """Raise ManifestError on a case without reasons, a duplicate, or a leak between splits."""
    for name, count in Counter(case.id for case in cases).items():
        if count > 1:
            raise ManifestError("two cases have one id", expected="unique ids", found=name)
    for case in cases:
        if case.sufficient == bool(case.reason_codes and case.missing):
            raise ManifestError(
                f"case {case.id}: a reason code and a missing item go with insufficient evidence",
                expected="none" if case.sufficient else "at least one of each",
                found=[*case.reason_codes, *case.missing],
            )
    split_of = {case.id: case.split for case in cases}
    items = [Item(c.id, c.question, frozenset(c.passage_ids)) for c in cases]
    for component in leakage_components(items, source_of):
        for one, other in pairwise(component):
            if split_of[one] != split_of[other]:
                raise ManifestError(
                    "two cases of different splits share a question, a passage or a source",
                    expected="one split per leakage component",
                    found={name: split_of[name] for name in (one, other)},
                )
