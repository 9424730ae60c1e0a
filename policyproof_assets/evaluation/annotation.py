"""Where people come in: a blinded batch goes out, submissions come back, agreement is measured.

Annotators see a question and its passages and nothing of how the case was built. Two or more label
a case independently; where they disagree somebody adjudicates. Only then is a label gold.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field
from sklearn.metrics import accuracy_score, cohen_kappa_score

from policyproof_assets.errors import ManifestError
from policyproof_assets.evaluation.cases import Case, Gold
from policyproof_runtime.corpus import Corpus
from policyproof_runtime.passages import Passages

Blind = dict[str, Any]
AnyLabel = TypeVar("AnyLabel", bound=Gold)


class Submission(Gold):
    """What one annotator says of one case."""

    annotator: str = Field(min_length=1)


def released_cases(corpus: Corpus) -> list[Case]:
    """Return the cases of a release; raises ReleaseError if it was built without any."""
    rows = corpus.index_table("cases").to_pylist()
    names = Case.model_fields
    return [Case(**{n: row[n] for n in names} | {"sufficient": row["label"]}) for row in rows]


def export_batch(cases: Iterable[Case], passages: Passages) -> list[Blind]:
    """Return the cases as annotators see them, in an order that follows from their names alone."""
    batch = [
        {
            "case": case.blind_name,
            "question": case.question,
            "passages": [_shown(passages, position) for position in case.positions(passages)],
        }
        for case in cases
    ]
    return sorted(batch, key=lambda row: row["case"])


def _shown(passages: Passages, position: int) -> dict[str, str]:
    return {
        "title": passages.title(position),
        "label": passages.value(position, "label"),
        "place": passages.citation(position).place,
        "text": passages.citation_text(position),
    }


_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Annotation batch</title>
<style>
body { font: 11pt/1.4 serif; max-width: 42em; margin: auto }
section { break-after: page }
pre { white-space: pre-wrap; font: inherit; border-left: 2px solid #999; padding-left: 1em }
</style>
<p>Do these passages, and nothing else you know, suffice to answer all of the question?</p>"""
_BOXES = "<p>☐ sufficient &emsp; ☐ not sufficient, because: ______ missing: ______</p></section>"


def printable_page(batch: Iterable[Blind]) -> str:
    """Return the batch as an HTML page to print: a question, its passages, boxes to tick."""
    parts = [_PAGE]
    for row in batch:
        parts.append(f"<section><h2>{row['case']}</h2><p><b>{escape(row['question'])}</b></p>")
        for shown in row["passages"]:
            source = f"{shown['title']} · {shown['label']} · {shown['place']}"
            parts.append(f"<h3>{escape(source)}</h3><pre>{escape(shown['text'])}</pre>")
        parts.append(_BOXES)
    return "\n".join([*parts, "</html>"])


def read_labels(path: Path, cases: Iterable[Case], kind: type[AnyLabel]) -> list[AnyLabel]:
    """Read JSON lines of ``kind``, a Submission or the Gold label of an adjudicator.

    Raises ManifestError that names the line: not valid, an unknown case, or a case that the same
    person labels twice.
    """
    open_cases: dict[str, set[str]] = defaultdict(lambda: {case.blind_name for case in cases})
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            said = kind.model_validate(json.loads(line))
            open_cases[getattr(said, "annotator", "")].remove(said.case)
        except ValueError as error:
            raise ManifestError(f"{path}, line {number}: {error}") from error
        except KeyError:
            raise ManifestError(
                f"{path}, line {number}: one label per person for each case of the batch",
                expected="a case of the batch that this person has not labelled yet",
                found=said.case,
            ) from None
        found.append(said)
    return found


def agreement(first: Sequence[Submission], second: Sequence[Submission]) -> dict[str, Any]:
    """Return raw agreement, Cohen's kappa and the cases two annotators disagree on.

    Both are None where they are not defined: nothing in common, or for kappa all labels alike.
    """
    one, other = ({s.case: s.sufficient for s in side} for side in (first, second))
    both = sorted(one.keys() & other.keys())
    a, b = [one[case] for case in both], [other[case] for case in both]
    return {
        "annotators": [first[0].annotator, second[0].annotator],
        "cases": len(both),
        "raw": float(accuracy_score(a, b)) if both else None,
        "kappa": float(cohen_kappa_score(a, b)) if len({*a, *b}) > 1 else None,
        "disagreements": [case for case in both if one[case] != other[case]],
    }


def agreements(files: Iterable[Sequence[Submission]]) -> list[dict[str, Any]]:
    """Return the agreement of every pair of people, each file being one person's."""
    return [agreement(one, other) for one, other in combinations(filter(None, files), 2)]


def adjudicate(submissions: Iterable[Submission], decisions: Iterable[Gold]) -> list[Gold]:
    """Return gold labels: where at least two people agree, or an adjudicator decided.

    Sorted by case. Raises ManifestError for a case that people disagree on without a decision;
    a case that only one person labelled has no gold label.
    """
    by_case: dict[str, list[Submission]] = defaultdict(list)
    for said in submissions:
        by_case[said.case].append(said)
    decided = {label.case: label for label in decisions}
    for case, labels in sorted(by_case.items()):
        if case in decided or len(labels) < 2:
            continue
        if len({label.sufficient for label in labels}) > 1:
            message = "annotators disagree and nobody has decided"
            raise ManifestError(message, expected="a decision", found=case)
        decided[case] = Gold(**labels[0].model_dump(exclude={"annotator"}))
    return [decided[case] for case in sorted(decided)]
