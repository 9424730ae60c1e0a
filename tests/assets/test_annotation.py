"""Blinded batches out, checked labels in, agreement measured."""

import json

import pyarrow as pa
import pytest

from policyproof_assets.errors import ManifestError
from policyproof_assets.evaluation.annotation import (
    Submission,
    adjudicate,
    agreement,
    export_batch,
    printable_page,
    read_labels,
)
from policyproof_assets.evaluation.cases import Case, Gold
from policyproof_runtime.passages import Passages


def case(name: str, kind: str = "complete") -> Case:
    return Case(
        id=f"{name}:{kind}",
        query_id=name,
        question=f"What is <{name}>?",
        kind=kind,
        passage_ids=["p"],
        sufficient=True,
        split="test",
    )


CASES = [case("q"), case("r"), case("s")]


@pytest.fixture
def passages():
    place = {"start_page": 1, "start_line": 2, "end_page": 1, "end_line": 2}
    row = {"document_id": "d", "passage_id": "p", "label": "L", "path": [], "slices": [place]}
    return Passages(pa.Table.from_pylist([row | {"citation_text": "Words."}]), {"d": "D"})


def said(who: str, *verdicts: bool) -> list[Submission]:
    why = {"reason_codes": ["incomplete_evidence_set"], "missing": ["a date"]}
    return [
        Submission(case=c.blind_name, annotator=who, sufficient=v, **({} if v else why))
        for c, v in zip(CASES, verdicts, strict=True)
    ]


def test_the_batch_hides_how_cases_were_built(passages):
    text = json.dumps(export_batch([*CASES, case("q", "near_miss")], passages))
    for hidden in ("complete", "near_miss", "split", "sufficient", "q:"):
        assert hidden not in text


def test_the_order_of_a_batch_is_always_the_same(passages):
    assert export_batch(CASES, passages) == export_batch(CASES[::-1], passages)


def test_the_page_to_print_escapes_what_is_asked(passages):
    page = printable_page(export_batch(CASES, passages))
    assert "What is &lt;q&gt;?" in page
    assert "page 1, line 2" in page


def test_kappa_by_hand():
    # Agreement 2 of 3; by chance 2/3 · 1/3 + 1/3 · 2/3 = 4/9: (2/3 − 4/9) / (1 − 4/9) = 0.4.
    found = agreement(said("a", True, True, False), said("b", True, False, False))
    assert found["raw"] == pytest.approx(2 / 3)
    assert found["kappa"] == pytest.approx(0.4)
    assert found["disagreements"] == [CASES[1].blind_name]


def test_kappa_is_not_defined_where_everybody_always_says_the_same():
    assert agreement(said("a", True, True, True), said("b", True, True, True))["kappa"] is None


def test_a_dispute_needs_a_decision():
    both = [*said("a", True, True, False), *said("b", True, False, False)]
    with pytest.raises(ManifestError, match="nobody has decided"):
        adjudicate(both, [])
    gold = adjudicate(both, [Gold(case=CASES[1].blind_name, sufficient=True)])
    assert {label.case: label.sufficient for label in gold} == {
        CASES[0].blind_name: True,
        CASES[1].blind_name: True,
        CASES[2].blind_name: False,
    }


def test_one_person_alone_makes_no_gold():
    assert adjudicate(said("a", True, True, False), []) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"case": "nobody", "annotator": "a", "sufficient": true}', "line 1"),
        ('{"case": "%s", "annotator": "a", "sufficient": false}', "a reason code"),
        ('{"case": "%s", "annotator": "a", "sufficient": true, "label": 1}', "label"),
        ("no json", "line 1"),
    ],
)
def test_a_faulty_submission_is_refused_by_line(tmp_path, line, message):
    path = tmp_path / "s.jsonl"
    path.write_text(line.replace("%s", CASES[0].blind_name), encoding="utf-8")
    with pytest.raises(ManifestError, match=message):
        read_labels(path, CASES, Submission)


def test_a_second_label_of_one_person_is_refused(tmp_path):
    path = tmp_path / "s.jsonl"
    line = said("a", True, True, True)[0].model_dump_json()
    path.write_text(f"{line}\n{line}\n", encoding="utf-8")
    with pytest.raises(ManifestError, match="line 2"):
        read_labels(path, CASES, Submission)
