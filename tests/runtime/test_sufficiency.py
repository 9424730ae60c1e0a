"""The gate: readable features, frozen numbers, reasons."""

import json

import pytest
from click.testing import CliRunner

from policyproof_runtime import load
from policyproof_runtime.cli import cli
from policyproof_runtime.errors import ReleaseError
from policyproof_runtime.features import COVERAGE, SCOPE
from policyproof_runtime.parts import asked_parts, wanted_figure
from policyproof_runtime.sufficiency import Gate, Logistic
from tests.runtime.conftest import hand_gate

MEALS = "demo:travel:page-0001:line-0007:passage-001"
FLIGHTS = "demo:travel:page-0001:line-0003:passage-001"


@pytest.fixture
def reader(served):
    corpus = load("served", served)
    return corpus.reader(Gate.from_params(hand_gate()).cues)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Who must register, and by when?", ("Who must register by when?",)),
        ("Who must register and what does it cost?", ("Who must register", "what does it cost?")),
        ("We make toys. Must we register?", ("Must we register?",)),
        ("Compare fees. List the deadlines.", ("Compare fees.", "List the deadlines.")),
        ("no question at all", ("no question at all",)),
    ],
)
def test_a_question_falls_into_what_it_asks_for(question, parts):
    assert asked_parts(question) == parts


@pytest.mark.parametrize(
    ("part", "kind", "text"),
    [
        ("Within how many days must it report?", "number", "not later than 15 days after"),
        ("How long are logs kept?", "duration", "for at least six months"),
        ("By what percentage do fees fall?", "percentage", "up to 7 % of turnover"),
        ("How high are the fines?", "sum of money", "fines of up to EUR 35 000 000"),
        ("From which date does it apply?", "date", "from 2 August 2026"),
    ],
)
def test_a_question_for_a_figure_knows_what_the_figure_looks_like(part, kind, text):
    name, figure = wanted_figure(part)
    assert name == kind
    assert figure.search(text)
    assert not figure.search("in an appropriate manner")


def test_other_questions_want_no_figure():
    assert wanted_figure("Who must register?") is None


def test_every_feature_lies_between_0_and_1(reader):
    question = "What does the DORA-7 Act say about meals, and how long are receipts kept in Kansas?"
    scope, coverage = reader.scope(question), reader.coverage(question, [0, 2])
    assert set(scope) == set(SCOPE)
    assert set(coverage) == set(COVERAGE)
    for name, value in (scope | coverage).items():
        assert 0 <= value <= 1, name


def test_names_and_sources_the_corpus_does_not_treat(reader):
    question = "What do the Toy Safety Act and Kansas say about Receipt rules?"
    assert reader.other_sources(question) == ["Toy Safety Act"]
    assert "Kansas" in reader.unknown_names(question)
    assert reader.unknown_names("What does the report (CRO) say?") == []


def test_a_figure_in_a_related_sentence_closes_the_gap(reader):
    asked = "How many days after the journey is a mileage claim filed?"
    assert reader.figure_gap("Who files claims?", [0]) == 0
    assert reader.figure_gap(asked, [2]) < reader.figure_gap(asked, [1])


def test_the_best_evidence_ranks_first_and_the_number_of_passages_does_not_matter(reader):
    question = "What is the limit for meals abroad?"
    alone, among = reader.coverage(question, [1]), reader.coverage(question, [0, 1, 3])
    assert alone["best_for_question"] == among["best_for_question"] == 1
    assert reader.coverage(question, [0])["best_for_question"] < 1


def test_a_logistic_by_hand():
    model = Logistic(-1.0, {"a": 2.0, "b": 1.0})
    assert model.probability({"a": 0.5, "b": 0.0}) == 0.5


def test_a_gate_of_another_kind_is_refused():
    with pytest.raises(ReleaseError, match="unknown kind"):
        Gate.from_params({"kind": "oracle"})


def test_a_gate_over_other_features_is_refused():
    params = hand_gate()
    params["scope"]["weights"].pop("figure_gap")
    with pytest.raises(ReleaseError, match="other features"):
        Gate.from_params(params)


def _batch(tmp_path, store, *lines):
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return CliRunner().invoke(
        cli, ["sufficiency", "--batch", str(path), "--store", str(store.root)]
    )


def test_the_command_grades_given_evidence(tmp_path, served):
    question = "What is the limit for meals abroad?"
    lines = [
        {"id": "right", "question": question, "passage_ids": [MEALS]},
        {"id": "wrong", "question": question, "passage_ids": [FLIGHTS]},
    ]
    result = _batch(tmp_path, served, *lines)
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [list(row) for row in rows] == [
        ["id", "probability", "sufficient", "reason_codes", "missing"]
    ] * 2
    assert [(row["id"], row["sufficient"]) for row in rows] == [("right", True), ("wrong", False)]


@pytest.mark.parametrize("ids", [None, "one", ["nowhere"]])
def test_the_command_names_the_line_of_faulty_evidence(tmp_path, served, ids):
    result = _batch(tmp_path, served, {"id": 1, "question": "Who?", "passage_ids": ids})
    assert result.exit_code == 1
    assert "line 1" in result.output
