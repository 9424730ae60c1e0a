"""Evidence cases: constructed alike every time, leak-free, and their labels cannot be guessed."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from policyproof_assets.errors import GateError, ManifestError
from policyproof_assets.evaluation.benchmarks import Question, load_benchmark
from policyproof_assets.evaluation.cases import (
    Case,
    CaseBuilder,
    CasesManifest,
    Construction,
    check_cases,
    load_cases_manifest,
)
from policyproof_assets.evaluation.gate import surface_score

RULES = {"depth": 5, "surface_bound": 0.6, "validation": 0.3, "cost_of_false_answer": 3}
RULES["unanswerable_share"] = 0.5
ORDER = [f"{source}-{n}" for source in "abcdef" for n in (1, 2)]
SOURCE_OF = {passage: passage[0] for passage in ORDER}


def question(name: str, *evidence: str) -> Question:
    return Question(
        id=name,
        question=f"What is {name}?",
        behaviour="answer",
        kind="k",
        passages=[{"id": e, "grade": 2, "reason": "r"} for e in evidence],
        parts=[{"need": f"the {e}", "evidence": [e]} for e in evidence],
    )


def built(*questions: Question, split: str = "development", **manifest) -> dict[str, Case]:
    cases = CaseBuilder(
        CasesManifest(construction=RULES, **manifest),
        questions,
        dict.fromkeys((q.id for q in questions), split),
        SOURCE_OF,
        lambda _, k: ORDER[:k],
    ).build()
    return {case.id: case for case in cases}


def test_an_incomplete_case_leaves_out_a_part_and_says_which():
    cases = built(question("q", "a-1", "b-1"))
    [incomplete] = [case for case in cases.values() if case.id == "q:incomplete-2"]
    assert len({"a-1", "b-1"} & set(incomplete.passage_ids)) == 1
    lost = ({"a-1", "b-1"} - set(incomplete.passage_ids)).pop()
    assert incomplete.missing == (f"the {lost}",)
    assert incomplete.reason_codes == ("incomplete_evidence_set",)


def test_an_insufficient_case_has_as_many_passages_as_a_sufficient_one():
    cases = built(question("q", "a-1"), question("r", "b-1", "c-1"))
    sizes = {True: [], False: []}
    for case in cases.values():
        sizes[case.sufficient].append(len(case.passage_ids))
    assert sorted(sizes[True]) == sorted(sizes[False])


def test_cases_do_not_depend_on_the_order_of_questions():
    first, second = question("q", "a-1", "b-1"), question("r", "c-1")
    assert built(first, second) == built(second, first)


def test_passages_of_another_split_are_not_shown():
    asked = {"id": "d", "question": "News?", "behaviour": "abstain"}
    asked |= {"reason_codes": ["current_information_required"], "missing": ["news"]}
    cases = built(question("q", "a-1"), split="test", questions=[asked])
    assert not any(passage.startswith("a") for passage in cases["d:abstention"].passage_ids)


def case(name: str, split: str, *passages: str, sufficient=True, **values) -> Case:
    fields = {"id": name, "query_id": name, "question": name, "kind": "complete"}
    fields |= {"passage_ids": passages, "sufficient": sufficient, "split": split}
    return Case(**fields | values)


def test_a_shared_source_between_splits_is_an_error():
    leak = [case("x", "development", "a-1"), case("y", "test", "a-2")]
    with pytest.raises(ManifestError, match="different splits"):
        check_cases(leak, SOURCE_OF)


def test_insufficient_evidence_says_why():
    with pytest.raises(ValidationError, match="what is missing"):
        case("x", "test", "a-1", sufficient=False)


def test_one_id_for_two_cases_is_an_error():
    with pytest.raises(ManifestError, match="one id"):
        check_cases([case("x", "test", "a-1")] * 2, SOURCE_OF)


def test_a_label_that_length_gives_away_stops_the_build():
    class Texts:
        def position(self, name):
            return int(name)

        def citation_text(self, position):
            return "word " * (1 + position)

    why = {"reason_codes": ["incomplete_evidence_set"], "missing": ["a part"]}
    cases = [case(str(n), "test", "0", "1") for n in range(4)]
    cases += [case(str(n), "test", "0", sufficient=False, **why) for n in range(4)]
    with pytest.raises(GateError, match="give the labels"):
        surface_score(cases, Texts(), 0.6)


def test_people_decide_over_the_construction():
    q = question("q", "a-1")
    name = built(q)["q:complete"].blind_name
    gold = {"case": name, "sufficient": False, "reason_codes": ["conflicting_evidence"]}
    cases = built(q, gold=[gold | {"missing": ["a settled figure"]}])
    assert not cases["q:complete"].sufficient
    assert cases["q:complete"].label_status == "adjudicated"
    assert cases["q:distractor"].label_status == "construction_derived"


def test_the_manifest_of_the_corpus_has_enough_groups_and_reasons():
    manifests = Path(__file__).resolve().parents[2] / "manifests"
    manifest = load_cases_manifest(manifests / "cases" / "ai-governance.yaml")
    questions = load_benchmark(manifests / "benchmarks" / "ai-governance.yaml")
    assert len(questions) + len(manifest.questions) >= 80
    declined = [q for q in (*questions, *manifest.questions) if q.behaviour == "abstain"]
    assert all(q.reason_codes and q.missing for q in declined)
    assert len({code for q in declined for code in q.reason_codes}) == 8


def test_questions_of_one_s_own_give_cases_unless_another_split_owns_the_evidence():
    own = {"id": "m", "question": "m?", "behaviour": "answer"}
    own |= {"parts": [{"need": "it", "evidence": ["c-1"]}]}
    cases = built(question("q", "a-1"), split="test", questions=[own])
    assert cases["m:complete"].split == "development"
    asked = [own | {"parts": [{"need": "it", "evidence": ["a-2"]}]}]
    cases = built(question("q", "a-1"), split="test", questions=asked)
    assert {case.query_id for case in cases.values()} == {"q"}


def test_questions_beside_the_manifest_are_read_and_a_faulty_line_is_named(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(f"construction: {json.dumps(RULES)}")
    asked = {"id": "d", "question": "News?", "behaviour": "abstain"}
    asked |= {"reason_codes": ["current_information_required"], "missing": ["news"]}
    (tmp_path / "small.questions.jsonl").write_text(json.dumps(asked))
    held_out = asked | {"id": "h", "question": "Other news?"}
    (tmp_path / "small.held_out.jsonl").write_text(json.dumps(held_out))
    manifest = load_cases_manifest(path)
    assert [q.id for q in (*manifest.questions, *manifest.held_out)] == ["d", "h"]
    (tmp_path / "small.held_out.jsonl").write_text(json.dumps(asked | {"missing": []}))
    with pytest.raises(ManifestError, match=r"small\.held_out\.jsonl, line 1 is not valid"):
        load_cases_manifest(path)


NEWS = {"id": "d", "question": "Any News?", "behaviour": "abstain"}
NEWS |= {"reason_codes": ["current_information_required"], "missing": ["news"]}
GOLD = {"case": "0123456789ab", "sufficient": True}


def written(folder: Path, yaml=(), **beside) -> Path:
    """Write a cases manifest, and rows or bytes of the files beside it; return its path."""
    path = folder / "small.yaml"
    path.write_text(json.dumps({"construction": RULES, "questions": yaml}))
    for name, rows in beside.items():
        data = rows if isinstance(rows, bytes) else "\n".join(map(json.dumps, rows)).encode()
        (folder / f"small.{name}.jsonl").write_bytes(data)
    return path


SAME_ID = NEWS | {"question": "Other news?"}
SAME_TEXT = NEWS | {"id": "e", "question": " any\tnews? "}


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"yaml": [NEWS], "questions": [SAME_ID]}, "question id"),
        ({"yaml": [NEWS], "held_out": [SAME_ID]}, "question id"),
        ({"questions": [NEWS], "held_out": [SAME_ID]}, "question id"),
        ({"questions": [NEWS, SAME_TEXT]}, "question text"),
        ({"held_out": [NEWS, SAME_TEXT]}, "question text"),
        ({"questions": [NEWS], "held_out": [SAME_TEXT]}, "question text"),
        ({"gold": [GOLD, GOLD]}, "gold label of case"),
    ],
)
def test_what_a_manifest_says_twice_is_refused(tmp_path, files, fault):
    with pytest.raises(ManifestError, match=f"{fault} more than once"):
        load_cases_manifest(written(tmp_path, **files))


LINE = json.dumps(NEWS).encode()


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (LINE + b"\n{bad\n", "line 2 is not valid: Invalid JSON"),
        (LINE + b"\n\n", "line 2: a blank line"),
        (b"\xef\xbb\xbf" + LINE, "line 1: a byte order mark"),
        (LINE + b'\n{"id": "\xe4"}', "line 2: not valid UTF-8"),
        (json.dumps(NEWS | {"missing": [" "]}).encode(), r"line 1 is not valid: missing\.0"),
    ],
)
def test_a_faulty_line_beside_a_manifest_is_named(tmp_path, lines, fault):
    with pytest.raises(ManifestError, match=rf"small\.questions\.jsonl, {fault}") as caught:
        load_cases_manifest(written(tmp_path, questions=lines))
    assert "pydantic" not in str(caught.value)


def test_a_folder_in_place_of_a_file_beside_a_manifest_is_refused(tmp_path):
    path = written(tmp_path)
    (tmp_path / "small.gold.jsonl").mkdir()
    with pytest.raises(ManifestError, match=r"cannot read .*small\.gold\.jsonl"):
        load_cases_manifest(path)


def test_a_line_separator_within_a_question_ends_no_line(tmp_path):
    asked = json.dumps(NEWS | {"question": "Any\u2028news?"}, ensure_ascii=False) + "\n"
    [found] = load_cases_manifest(written(tmp_path, questions=asked.encode())).questions
    assert found.question == "Any\u2028news?"


def test_a_gold_label_of_a_case_that_does_not_exist_is_named():
    with pytest.raises(ManifestError, match="0123456789ab"):
        built(question("q", "a-1"), gold=[GOLD])


@pytest.mark.parametrize("extra", [{"missing": ["a"]}, {"reason_codes": ["conflicting_evidence"]}])
def test_sufficient_evidence_says_nothing_is_missing(extra):
    with pytest.raises(ValidationError, match="nothing missing"):
        case("x", "test", "a-1", **extra)


def test_a_cost_is_weighed_by_the_share_of_questions_that_nothing_answers():
    rules = Construction(**RULES | {"unanswerable_share": 0.25})
    assert rules.cost_by_rates == pytest.approx(1.0)


def test_a_faulty_manifest_is_named(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("construction: {depth: 0}", encoding="utf-8")
    with pytest.raises(ManifestError, match=r"c\.yaml"):
        load_cases_manifest(path)
    path.write_bytes(b"# \xe4")
    with pytest.raises(ManifestError, match=r"c\.yaml"):
        load_cases_manifest(path)
