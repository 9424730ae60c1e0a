"""Where people come in: a blinded batch goes out, submissions come back, agreement is measured.

Annotators see a question and its passages and nothing of how the case was built. Two or more label
a case independently; where they disagree somebody adjudicates. Only then is a label gold.
"""

import html
import json
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field
from sklearn.metrics import cohen_kappa_score

from policyproof_assets.errors import ManifestError
from policyproof_assets.evaluation.cases import Case, Gold
from policyproof_runtime.corpus import Corpus
from policyproof_runtime.passages import Passages

Blind = dict[str, Any]
Label = TypeVar("Label", bound=Gold)


class Submission(Gold):
    """What one annotator says of one case."""

    annotator: str = Field(min_length=1)


def released_cases(corpus: Corpus) -> list[Case]:
    """Return the cases of a release; raises ReleaseError if it was built without any."""
    names = [name for name in Case.model_fields if name != "sufficient"]
    rows = corpus.index_table("cases").select([*names, "label"]).to_pylist()
    return [Case.model_validate({"sufficient": row.pop("label"), **row}) for row in rows]


def export_batch(cases: Sequence[Case], passages: Passages) -> list[Blind]:
    """Return the cases as annotators see them, in an order that follows from their names alone."""
    batch = [
        {
            "case": case.blind_name,
            "question": case.question,
            "passages": [
                {
                    "title": passages.title(position),
                    "label": passages.value(position, "label"),
                    "place": passages.citation(position).place,
                    "text": passages.citation_text(position),
                }
                for position in map(passages.position, case.passage_ids)
            ],
        }
        for case in cases
    ]
    return sorted(batch, key=lambda row: row["case"])


_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Annotation batch</title>
<style>
body { font: 11pt/1.4 serif; max-width: 42em; margin: auto }
section { break-after: page }
pre { white-space: pre-wrap; font: inherit; border-left: 2px solid #999; padding-left: 1em }
</style>
<p>Do these passages, and nothing else you know, suffice to answer all of the question?</p>"""


def printable_page(batch: Sequence[Blind]) -> str:
    """Return the batch as an HTML page to print: a question, its passages, boxes to tick."""
    parts = [_PAGE]
    for row in batch:
        parts.append(f"<section><h2>{row['case']}</h2><p><b>{html.escape(row['question'])}</b></p>")
        for shown in row["passages"]:
            source = f"{shown['title']} · {shown['label']} · {shown['place']}"
            parts.append(f"<h3>{html.escape(source)}</h3><pre>{html.escape(shown['text'])}</pre>")
        parts.append("<p>☐ sufficient &emsp; ☐ not sufficient, because: ______ missing: ______</p>")
        parts.append("</section>")
    return "\n".join([*parts, "</html>"])


def read_labels(path: Path, cases: Iterable[Case], kind: type[Label]) -> list[Label]:
    """Read JSON lines of ``kind``, a Submission or the Gold label of an adjudicator.

    Raises ManifestError that names the line: not valid, an unknown case, or a case that the same
    person labels twice.
    """
    known, seen = {case.blind_name for case in cases}, set()
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            said = kind.model_validate(json.loads(line))
        except ValueError as error:
            raise ManifestError(f"{path}, line {number}: {error}") from error
        who = (said.case, getattr(said, "annotator", ""))
        if said.case not in known or who in seen:
            raise ManifestError(
                f"{path}, line {number}: one label per person for each case of the batch",
                expected="a case of the batch that this person has not labelled yet",
                found=said.case,
            )
        seen.add(who)
        found.append(said)
    return found


def agreement(first: Sequence[Submission], second: Sequence[Submission]) -> dict[str, Any]:
    """Return raw agreement, Cohen's kappa and the cases two annotators disagree on.

    Kappa is None where it is not defined: nothing in common, or everybody says the same of all.
    """
    one, other = ({s.case: s.sufficient for s in side} for side in (first, second))
    both = sorted(one.keys() & other.keys())
    a, b = [one[case] for case in both], [other[case] for case in both]
    defined = len({*a, *b}) > 1
    return {
        "cases": len(both),
        "raw": sum(x == y for x, y in zip(a, b, strict=True)) / len(both) if both else None,
        "kappa": float(cohen_kappa_score(a, b)) if defined else None,
        "disagreements": [case for case in both if one[case] != other[case]],
    }


def agreements(files: Sequence[Sequence[Submission]]) -> list[dict[str, Any]]:
    """Return the agreement of every pair of people, each file being one person's."""
    return [
        {"annotators": [one[0].annotator, other[0].annotator], **agreement(one, other)}
        for one, other in combinations([file for file in files if file], 2)
    ]


def adjudicate(submissions: Sequence[Submission], decisions: Sequence[Gold]) -> list[Gold]:
    """Return gold labels: where at least two people agree, or an adjudicator decided.

    Sorted by case. Raises ManifestError for a case that people disagree on without a decision;
    a case that only one person labelled has no gold label.
    """
    decided = {label.case: label for label in decisions}
    by_case: dict[str, list[Submission]] = {}
    for said in submissions:
        by_case.setdefault(said.case, []).append(said)
    for case, labels in sorted(by_case.items()):
        if case in decided or len(labels) < 2:
            continue
        if len({label.sufficient for label in labels}) > 1:
            raise ManifestError(
                "annotators disagree and nobody has decided", expected="a decision", found=case
            )
        decided[case] = Gold(**labels[0].model_dump(exclude={"annotator"}))
    return [decided[case] for case in sorted(decided)]
