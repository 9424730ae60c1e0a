"""Evidence cases: a question, the passages shown as evidence, and whether they suffice.

Cases are constructed from the parts of the benchmark's questions. Every logical source belongs to
one split and a case shows only passages of its split, so no passage, source or question is met in
two. Retrieval may well find passages of another split; those are left out of the evidence.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise, zip_longest
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import Field, StrictBool, ValidationError, model_validator

from policyproof_assets.errors import ManifestError
from policyproof_assets.evaluation.benchmarks import Question, ReasonCode
from policyproof_assets.evaluation.splits import Item, assign_splits, leakage_components
from policyproof_assets.manifests import Record, Text, load_yaml
from policyproof_runtime.digest import Digest
from policyproof_runtime.passages import Passages

_Row = TypeVar("_Row", bound=Record)

#: Ranks: (question, k) to passage ids, best first.
Rank = Callable[[str, int], Sequence[str]]
Split = Literal["development", "validation", "test"]
#: The splits of five sources that answer no question.
_SHARES: tuple[Split, ...] = ("development", "development", "validation", "test", "test")


class Construction(Record):
    """Parameters of the construction; the manifest says what each means."""

    depth: int = Field(gt=0)
    surface_bound: float = Field(gt=0.5, lt=1)
    validation: float = Field(gt=0, lt=1)
    cost_of_false_answer: float = Field(gt=0)
    unanswerable_share: float = Field(gt=0, lt=1)

    @property
    def cost_by_rates(self) -> float:
        """What the rate of false answers costs, beside that of wrongly declined questions."""
        return self.cost_of_false_answer * self.unanswerable_share / (1 - self.unanswerable_share)


class Label(Record):
    """Whether evidence suffices; if not, ``reason_codes`` and ``missing`` say why."""

    sufficient: StrictBool
    reason_codes: tuple[ReasonCode, ...] = ()
    missing: tuple[Text, ...] = ()

    @model_validator(mode="after")
    def _says_why(self) -> Self:
        if not self.sufficient and not (self.reason_codes and self.missing):
            raise ValueError("insufficient evidence needs a reason code and what is missing")
        if self.sufficient and (self.reason_codes or self.missing):
            raise ValueError("sufficient evidence has no reason code and nothing missing")
        return self


class Gold(Label):
    """What people decided about one case, known by its blind name."""

    case: str


class CasesManifest(Record):
    """``manifests/cases/<corpus>.yaml`` and the JSON lines beside it.

    The ``questions`` belong to development; those in ``<corpus>.questions.jsonl`` are added. Those
    in ``<corpus>.held_out.jsonl`` are ``held_out``: only asked, with the test split. The labels
    that people decided on are in ``<corpus>.gold.jsonl``.
    """

    construction: Construction
    questions: tuple[Question, ...] = ()
    held_out: tuple[Question, ...] = ()
    gold: tuple[Gold, ...] = ()


class Case(Label):
    """One case: a question, the evidence shown, and its label."""

    id: str
    query_id: str
    question: str
    kind: Literal["complete", "distractor", "incomplete", "near_miss", "abstention"]
    passage_ids: tuple[str, ...] = Field(min_length=1)
    split: Split
    label_status: Literal["construction_derived", "adjudicated"] = "construction_derived"

    @property
    def blind_name(self) -> str:
        """The name under which annotators know the case; its id tells how it was built."""
        return Digest.of_json({"case": self.id, "question": self.question}).hex[:12]

    def positions(self, passages: Passages) -> list[int]:
        """Return where the passages shown stand among all."""
        return [passages.position(name) for name in self.passage_ids]

    def labelled(self, gold: Gold | None) -> "Case":
        """Return the case with the label people decided on, if they did."""
        if gold is None:
            return self
        decided = gold.model_dump(exclude={"case"}) | {"label_status": "adjudicated"}
        return self.model_copy(update=decided)


def load_cases_manifest(path: Path) -> CasesManifest:
    """Read a cases manifest; raises ManifestError that names the file and the fault.

    An id, the text of a question in whatever case and spacing, and the gold label of a case may
    each be there once, in all the files together.
    """
    manifest: CasesManifest = load_yaml(path, CasesManifest)
    beside = {
        "questions": manifest.questions + _lines(path.with_suffix(".questions.jsonl"), Question),
        "held_out": manifest.held_out + _lines(path.with_suffix(".held_out.jsonl"), Question),
        "gold": manifest.gold + _lines(path.with_suffix(".gold.jsonl"), Gold),
    }
    whole = manifest.model_copy(update=beside)
    asked = (*whole.questions, *whole.held_out)
    _check_once(path, "question id", (q.id for q in asked))
    _check_once(path, "question text", (" ".join(q.question.lower().split()) for q in asked))
    _check_once(path, "gold label of case", (label.case for label in whole.gold))
    return whole


def _check_once(path: Path, what: str, values: Iterable[str]) -> None:
    twice = [value for value, n in Counter(values).items() if n > 1]
    if twice:
        raise ManifestError(
            f"{path} and the files beside it: {what} more than once",
            expected="each once",
            found=", ".join(twice),
            action="remove or rename all but one",
        )


def _lines(path: Path, row: type[_Row]) -> tuple[_Row, ...]:
    lines = read_lines(path) if path.exists() else []
    return tuple(parse_line(path, number, line, row) for number, line in enumerate(lines, 1))


def read_lines(path: Path, encoding: str = "utf-8") -> list[str]:
    """Return the lines of a file, which end in a line feed and nothing else.

    Raises ManifestError if it cannot be read, or names the line that is no UTF-8.
    """
    try:
        text = path.read_bytes().decode(encoding)
    except OSError as error:
        raise ManifestError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ManifestError(f"{path}, line {line}: not valid UTF-8") from error
    return text.removesuffix("\n").split("\n") if text else []


def parse_line(path: Path, number: int, line: str, row: type[_Row]) -> _Row:
    """Return a JSON line as ``row``; raises ManifestError that names the line and its faults."""
    where = f"{path}, line {number}"
    if not line.strip():
        raise ManifestError(f"{where}: a blank line", action="remove it")
    if line.startswith("\ufeff"):
        raise ManifestError(f"{where}: a byte order mark", action="save the file as plain UTF-8")
    try:
        return row.model_validate_json(line)
    except ValidationError as error:
        faults = "; ".join(map(_fault, error.errors()))
        raise ManifestError(f"{where} is not valid: {faults}") from error


def _fault(item: Mapping[str, Any]) -> str:
    message = item["msg"].removeprefix("Value error, ")
    return ": ".join(filter(None, [".".join(map(str, item["loc"])), message]))


def split_three_ways(
    questions: Sequence[Question],
    source_of: Mapping[str, str],
    halves: Mapping[str, str],
    validation: float,
) -> dict[str, str]:
    """Divide the development half of the benchmark (``halves``) into development and validation.

    The components are those of `split_questions`, so the test half stays the benchmark's.
    """
    developed = [q for q in questions if halves[q.id] == "development"]
    items = [Item(q.id, q.question, q.direct, q.behaviour) for q in developed]
    shares = {"development": 1 - validation, "validation": validation}
    return {**halves, **assign_splits(items, source_of, shares)}


@dataclass(frozen=True)
class CaseBuilder:
    """Constructs the cases of a corpus; equal inputs give equal cases.

    ``source_of`` maps the passage ids, in accepted order, to their logical sources, ``split_of``
    every benchmark question to its split.
    """

    manifest: CasesManifest
    questions: Sequence[Question]
    split_of: Mapping[str, str]
    source_of: Mapping[str, str]
    rank: Rank

    def build(self) -> tuple[Case, ...]:
        """Return every case, sorted by id.

        Raises ManifestError if one breaks a rule, or for a gold label of none of them.
        """
        asked = (*self.questions, *filter(self._is_owned, self.manifest.questions))
        made = [case for question in asked for case in self._of(question)]
        gold = {label.case: label for label in self.manifest.gold}
        unknown = sorted(gold.keys() - {case.blind_name for case in made})
        if unknown:
            raise ManifestError(
                "gold labels of cases that do not exist",
                expected=f"blind names among {len(made)} cases",
                found=", ".join(unknown),
                action="remove them; a question that changed needs new labels",
            )
        made.sort(key=lambda case: case.id)
        cases = tuple(case.labelled(gold.get(case.blind_name)) for case in made)
        check_cases(cases, self.source_of)
        return cases

    @cached_property
    def _owner(self) -> dict[str, str]:
        """Logical source -> split: the split of the question it answers, else by its digest."""
        owner = {source: _SHARES[_draw(5, source)] for source in self.source_of.values()}
        return owner | {
            self.source_of[passage]: self.split_of[question.id]
            for question in self.questions
            for passage in question.direct
        }

    def _is_owned(self, question: Question) -> bool:
        """Return whether ``question`` says which passages answer it, all of them of its split."""
        there = question.direct or question.behaviour == "abstain"
        return bool(there) and len(self._owned(question, question.direct)) == len(question.direct)

    def _split(self, question: Question) -> Split:
        return self.split_of.get(question.id, "development")

    def _ranked(self, question: Question) -> Sequence[str]:
        return self.rank(question.question, self.manifest.construction.depth)

    def _owned(self, question: Question, *passages: Iterable[str | None]) -> list[str]:
        """Return those passages, each once, that the split of ``question`` may show."""
        found, split = filter(None, dict.fromkeys(chain(*passages))), self._split(question)
        return [p for p in found if self._owner[self.source_of[p]] == split]

    def _of(self, question: Question) -> list[Case]:
        if question.behaviour == "abstain":
            shown = self._owned(question, question.tempting, self._ranked(question))
            shown = shown[: 1 + _draw(4, question.id)]
            why = {"reason_codes": question.reason_codes, "missing": question.missing}
            return [self._case(question, "abstention", shown, why)] if shown else []
        whole = list(dict.fromkeys(part.evidence[0] for part in question.parts))
        others = self._near(question)
        # The evidence of one to four passages comes as often with distractors as without.
        padded = [*whole, *others[: 1 + _draw(2, question.id)]]
        return [
            self._case(question, "complete", whole),
            self._case(question, "distractor", padded),
            *self._incomplete(question, whole, others, len(whole)),
            *self._incomplete(question, whole, others, len(padded)),
        ]

    def _incomplete(
        self, question: Question, whole: Sequence[str], others: Sequence[str], size: int
    ) -> list[Case]:
        """Leave out the evidence of one part and fill up to ``size``; a near miss keeps none of it.

        The part that is left out turns with the size. Without neighbours there is no such case.
        """
        part = question.parts[size % len(question.parts)]
        kept = [passage for passage in whole if passage not in part.evidence]
        shown = [*kept, *others][:size]
        lost = [p.need for p in question.parts if set(p.evidence).isdisjoint(shown)]
        why = {"reason_codes": ["incomplete_evidence_set"], "missing": lost}
        kind = "incomplete" if kept else "near_miss"
        if len(shown) < size:
            return []
        return [self._case(question, kind, shown, why, name=f"{kind}-{size}")]

    def _near(self, question: Question) -> list[str]:
        """Return passages that do not answer: graded as context, beside evidence, well ranked."""
        context = [j.id for j in question.passages if j.grade == 1]
        order = list(self.source_of)
        beside = [
            order[i]
            for place in map(order.index, sorted(question.direct))
            for i in (place + 1, place - 1)
            if 0 <= i < len(order)
        ]
        woven = chain.from_iterable(zip_longest(beside, self._ranked(question)))
        return [p for p in self._owned(question, context, woven) if p not in question.direct]

    def _case(
        self,
        question: Question,
        kind: str,
        passages: Sequence[str],
        why: Mapping[str, Any] | None = None,
        name: str = "",
    ) -> Case:
        """Return a case; the evidence suffices unless ``why`` says why not."""
        return Case(
            id=f"{question.id}:{name or kind}",
            query_id=question.id,
            question=question.question,
            kind=kind,
            # Shown in an order that does not tell which passage was added last.
            passage_ids=sorted(passages, key=lambda p: Digest.of_json([question.id, p])),
            sufficient=why is None,
            split=self._split(question),
            **(why or {}),
        )


def _draw(sides: int, name: str) -> int:
    return int(Digest.of_json(name).hex[:8], 16) % sides


def check_cases(cases: Sequence[Case], source_of: Mapping[str, str]) -> None:
    """Raise ManifestError if two cases have one id, or leak from one split into another."""
    for name, count in Counter(case.id for case in cases).items():
        if count > 1:
            raise ManifestError("two cases have one id", expected="unique ids", found=name)
    split_of = {case.id: case.split for case in cases}
    items = [Item(c.id, c.question, frozenset(c.passage_ids)) for c in cases]
    for pair in chain.from_iterable(map(pairwise, leakage_components(items, source_of))):
        if len({split_of[name] for name in pair}) > 1:
            raise ManifestError(
                "two cases of different splits share a question, a passage or a source",
                expected="one split per leakage component",
                found={name: split_of[name] for name in pair},
            )
