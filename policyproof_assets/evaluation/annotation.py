"""Where people come in: a blinded batch goes out, submissions come back, agreement is measured.

Annotators see a question and its passages and nothing of how the case was built. Two or more label
a case independently; where they disagree somebody adjudicates. Only then is a label gold.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from html import escape
from itertools import chain, combinations
from pathlib import Path
from typing import Any, TypeVar

from sklearn.metrics import accuracy_score, cohen_kappa_score

from policyproof_assets.errors import ManifestError
from policyproof_assets.evaluation.cases import Case, Gold, parse_line, read_lines
from policyproof_assets.manifests import Text
from policyproof_runtime.corpus import Corpus
from policyproof_runtime.passages import Passages

Blind = dict[str, Any]
AnyLabel = TypeVar("AnyLabel", bound=Gold)


class Submission(Gold):
    """What one annotator says of one case."""

    annotator: Text


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

    A byte order mark and blank lines are left out. Raises ManifestError that names the line: not
    valid, an unknown case, or a case that the same person labels twice.
    """
    open_cases: dict[str, set[str]] = defaultdict(lambda: {case.blind_name for case in cases})
    found = []
    for number, line in enumerate(read_lines(path, "utf-8-sig"), 1):
        if not line.strip():
            continue
        said = parse_line(path, number, line, kind)
        try:
            open_cases[getattr(said, "annotator", "")].remove(said.case)
        except KeyError:
            raise ManifestError(
                f"{path}, line {number}: one label per person for each case of the batch",
                expected="a case of the batch that this person has not labelled yet",
                found=said.case,
            ) from None
        found.append(said)
    return found


def read_submissions(paths: Iterable[Path], cases: Iterable[Case]) -> list[list[Submission]]:
    """Read files of submissions, one file per person.

    Raises ManifestError as `read_labels`, for a file of several people, and for a second file of
    one person, who would otherwise agree with themselves.
    """
    asked, files = list(cases), []
    file_of: dict[str, Path] = {}
    for path in paths:
        said = read_labels(path, asked, Submission)
        people = sorted({label.annotator for label in said})
        known = [name for name in people if name in file_of]
        if known:
            message = f"{path} is of the same person as {file_of[known[0]]}"
            raise ManifestError(message, expected="one file per person", found=known[0])
        if len(people) > 1:
            message = f"{path} has labels of several people"
            raise ManifestError(message, expected="one file per person", found=", ".join(people))
        file_of |= dict.fromkeys(people, path)
        files.append(said)
    return files


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

    Sorted by case. Why evidence does not suffice is what any of them says, each reason once, in
    the order of the submissions. A case that only one person labelled has no gold label. Raises
    ManifestError for a case that people disagree on without a decision.
    """
    by_case: dict[str, list[Submission]] = defaultdict(list)
    for said in submissions:
        by_case[said.case].append(said)
    decided = {label.case: label for label in decisions}
    for case, labels in sorted(by_case.items()):
        if case in decided or len({label.annotator for label in labels}) < 2:
            continue
        if len({label.sufficient for label in labels}) > 1:
            message = "annotators disagree and nobody has decided"
            raise ManifestError(message, expected="a decision", found=case)
        codes = dict.fromkeys(chain.from_iterable(label.reason_codes for label in labels))
        missing = dict.fromkeys(chain.from_iterable(label.missing for label in labels))
        decided[case] = Gold(
            case=case,
            sufficient=labels[0].sufficient,
            reason_codes=tuple(codes),
            missing=tuple(missing),
        )
    return [decided[case] for case in sorted(decided)]
