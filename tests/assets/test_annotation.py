"""Blinded batches out, checked labels in, agreement measured."""

import json
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from click.testing import CliRunner

from policyproof_assets.errors import ManifestError
from policyproof_assets.evaluation.annotation import (
    Submission,
    adjudicate,
    agreement,
    export_batch,
    printable_page,
    read_labels,
    read_submissions,
)
from policyproof_assets.evaluation.cases import Case, Gold
from policyproof_runtime.cli import cli
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


NO = '{"case": "%s", "annotator": "a", "sufficient": false, "missing": ["a date"], '
NO += '"reason_codes": ["incomplete_evidence_set"]}'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"case": "nobody", "annotator": "a", "sufficient": true}', "line 1"),
        ('{"case": "%s", "annotator": "a", "sufficient": false}', "a reason code"),
        ('{"case": "%s", "annotator": "a", "sufficient": true, "label": 1}', "label"),
        ('{"case": "%s", "annotator": " ", "sufficient": true}', "annotator"),
        ('{"case": "%s", "annotator": "a", "sufficient": "yes"}', "sufficient: .* boolean"),
        (
            '{"case": "%s", "annotator": "a", "sufficient": true, "missing": ["x"]}',
            "nothing missing",
        ),
        (NO.replace("a date", " "), r"missing\.0"),
        ("no json", "line 1"),
        ("[" * 100_000, "line 1"),
    ],
)
def test_a_faulty_submission_is_refused_by_line(tmp_path, line, message):
    path = tmp_path / "s.jsonl"
    path.write_text(line.replace("%s", CASES[0].blind_name), encoding="utf-8")
    with pytest.raises(ManifestError, match=message) as caught:
        read_labels(path, CASES, Submission)
    assert "pydantic" not in str(caught.value)


def test_a_second_label_of_one_person_is_refused(tmp_path):
    path = tmp_path / "s.jsonl"
    line = said("a", True, True, True)[0].model_dump_json()
    path.write_text(f"{line}\n{line}\n", encoding="utf-8")
    with pytest.raises(ManifestError, match="line 2"):
        read_labels(path, CASES, Submission)


def saved(path: Path, labels: list[Submission]) -> Path:
    path.write_text("".join(label.model_dump_json() + "\n" for label in labels), encoding="utf-8")
    return path


def test_one_person_in_two_files_is_not_two_people(tmp_path):
    one = saved(tmp_path / "a.jsonl", said("a", True, True, True))
    other = saved(tmp_path / "b.jsonl", said(" a ", True, True, True))
    for files in ([one, one], [one, other]):
        with pytest.raises(ManifestError, match="of the same person as"):
            read_submissions(files, CASES)


def test_a_file_of_two_people_is_refused(tmp_path):
    both = [*said("a", True, True, True), *said("b", True, True, True)]
    with pytest.raises(ManifestError, match="several people"):
        read_submissions([saved(tmp_path / "both.jsonl", both)], CASES)


def test_labels_of_one_person_twice_make_no_gold():
    assert adjudicate(said("a", True, True, False) * 2, []) == []


def test_people_who_find_different_things_missing_are_both_heard():
    first = said("a", True, True, False)[2]
    codes = ("conflicting_evidence", "incomplete_evidence_set")
    second = {"annotator": "b", "reason_codes": codes, "missing": ("a place", "a date")}
    [gold] = adjudicate([first, first.model_copy(update=second)], [])
    assert gold.reason_codes == ("incomplete_evidence_set", "conflicting_evidence")
    assert gold.missing == ("a date", "a place")


def test_a_mark_before_and_a_separator_within_a_label_are_no_fault(tmp_path):
    line = NO.replace("%s", CASES[0].blind_name).replace("a date", "a\u2028date")
    path = tmp_path / "s.jsonl"
    path.write_text(f"\ufeff{line}\r\n\r\n", encoding="utf-8")
    [label] = read_labels(path, CASES, Submission)
    assert label.missing == ("a\u2028date",)


@pytest.fixture
def annotate(passages, tmp_path, monkeypatch):
    """Runs the command on a release of CASES, in a folder with the labels of two people."""
    release = SimpleNamespace(passages=passages)
    monkeypatch.setattr("policyproof_runtime.cli_annotate._load", lambda *_: release)
    monkeypatch.setattr("policyproof_assets.evaluation.annotation.released_cases", lambda _: CASES)
    monkeypatch.chdir(tmp_path)
    for who in "ab":
        saved(Path(f"{who}.jsonl"), said(who, True, False, True))
    Path("latin.jsonl").write_bytes(b'\n{"annotator": "J\xf6rg"}')
    Path("folder").mkdir()
    return lambda *arguments: CliRunner().invoke(cli, ["annotate", *arguments])


def test_labels_come_back_as_gold(annotate):
    result = annotate("import", "a.jsonl", "b.jsonl", "--out", "gold.jsonl")
    assert result.exit_code == 0
    gold = [json.loads(line) for line in Path("gold.jsonl").read_text().splitlines()]
    assert len(gold) == len(CASES)


def test_a_batch_is_exported_to_a_new_folder(annotate):
    assert annotate("export", "new/batch").exit_code == 0
    assert len(Path("new/batch/batch.jsonl").read_text().splitlines()) == len(CASES)
    assert Path("new/batch/batch.html").read_text().endswith("</html>")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["import", "a.jsonl", "a.jsonl", "--out", "g"], "of the same person"),
        (["import", "nowhere.jsonl", "--out", "g"], "cannot read nowhere.jsonl: No such file"),
        (["import", "folder", "--out", "g"], "cannot read folder"),
        (["import", "latin.jsonl", "--out", "g"], "latin.jsonl, line 2: not valid UTF-8"),
        (["import", "a.jsonl", "--decisions", "folder", "--out", "g"], "cannot read folder"),
        (["import", "a.jsonl", "--out", "nowhere/g"], "there is no folder nowhere"),
        (["import", "a.jsonl", "--out", "folder"], "cannot write folder: it is a folder"),
        (["export", "a.jsonl"], "cannot make the folder a.jsonl: File exists"),
    ],
)
def test_files_that_do_not_serve_are_said_plainly(annotate, arguments, message):
    result = annotate(*arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
