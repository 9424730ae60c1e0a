"""The gate: readable features, frozen numbers, reasons."""

import json

import pyarrow as pa
import pytest
from click.testing import CliRunner

from policyproof_runtime import load
from policyproof_runtime.bm25 import Bm25, freeze
from policyproof_runtime.cli import cli
from policyproof_runtime.errors import ReleaseError
from policyproof_runtime.features import COVERAGE, SCOPE, Reader
from policyproof_runtime.parts import asked_parts, wanted_figure
from policyproof_runtime.passages import Passages
from policyproof_runtime.references import References, find_references
from policyproof_runtime.retrieve import bm25_method
from policyproof_runtime.sufficiency import Gate, Logistic
from policyproof_runtime.thesaurus import Thesaurus, freeze_thesaurus
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
    assert wanted_figure("Which terms does Article 3 define?") is None
    assert wanted_figure("What is unpaid leave?") is None


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
    assert reader.other_sources("What was the limit in v1?") == []
    assert reader.unknown_names("What does the report (CRO) say?") == []


def reader_of(*texts, synonyms=()):
    """A reader of one document with a passage for each of ``texts``."""
    labels = [f"Section {n}" for n in range(1, len(texts) + 1)]
    ids, paths = ["d"] * len(texts), [[label] for label in labels]
    rows = {"document_id": ids, "label": labels, "path": paths}
    rows |= {"citation_text": texts, "retrieval_text": texts}
    lexicon = Bm25(freeze(texts), len(texts))
    return Reader(
        Passages(pa.table(rows), {"d": "Rules"}),
        bm25_method(lexicon),
        lexicon,
        References(find_references(ids, labels, paths, texts, {})),
        Thesaurus(freeze_thesaurus(synonyms)),
        {},
        {},
    )


HOTELS = "Hotel | Limit\nOslo | 180\nBergen | 150"


def test_a_name_in_a_table_row_counts_as_known():
    asked = "What is the hotel limit in Bergen?"
    assert reader_of(HOTELS, "Flights are booked early.").unknown_names(asked) == []


def test_a_name_that_prose_mentions_in_passing_does_not():
    mentioned = "The hotel limit was agreed with colleagues from Bergen."
    asked = "What is the hotel limit in Bergen?"
    assert reader_of(mentioned, "Flights are booked early.").unknown_names(asked) == ["Bergen"]


def test_a_name_that_no_row_has_stays_unknown_beside_one_that_has():
    asked = "What is the hotel limit in Bergen and in Kansas?"
    assert reader_of(HOTELS, "Flights are booked early.").unknown_names(asked) == ["Kansas"]


def unsaid(reader, question):
    return reader.scope(question)["unsaid"]


def test_what_one_sentence_says_is_not_unsaid():
    reader = reader_of("Meals abroad are paid by card. Tips are not.", "Flights are booked early.")
    assert unsaid(reader, "Are meals abroad paid by card?") == pytest.approx(0)


def test_what_only_several_sentences_say_together_is_partly_unsaid():
    apart = reader_of("Meals are cooked. Cards are paid abroad.", "Flights are booked early.")
    assert 0 < unsaid(apart, "Are meals abroad paid by card?") < 1


def test_what_no_sentence_says_is_unsaid_whole():
    assert unsaid(reader_of("Meals are cooked.", "Flights are booked."), "Who owns zebras?") == 1


def test_another_word_for_a_term_says_most_of_it():
    texts = ("Each elevator has an inspector.", "Flights are booked early.")
    asked = "Who is the inspector of a lift?"
    without, known = (
        unsaid(reader_of(*texts, synonyms=groups), asked) for groups in ([], [["lift", "elevator"]])
    )
    assert 0 < known < without


def test_a_row_and_its_header_say_what_is_asked_together():
    reader = reader_of(HOTELS, "Flights are booked early.")
    assert unsaid(reader, "What is the hotel limit in Bergen?") == pytest.approx(0)


def test_a_short_question_in_the_words_of_the_corpus_is_no_weak_match(reader):
    assert reader.scope("Who is the owner?")["weak_match"] < 0.1
    assert reader.scope("Are flights booked?")["weak_match"] < 0.1


def test_a_question_in_other_words_is_a_weak_match(reader):
    assert reader.scope("Which zeppelins hover?")["weak_match"] == 1
    some = reader.scope("Which zeppelins hover over meals in winter?")["weak_match"]
    assert reader.scope("Are meals abroad paid?")["weak_match"] < some < 1


def test_only_readable_documents_are_read(served):
    corpus = load("served", served)
    cues, question = Gate.from_params(hand_gate()).cues, "Does a meal or a model have an owner?"
    every, travel = corpus.reader(cues), corpus.reader(cues, readable=["travel"])
    assert every.scores(question)[3] > 0
    assert travel.scores(question)[3] == 0
    assert travel.scope("Who is the owner of a model?")["weak_match"] == 1
    assert corpus.reader(cues, readable=[]).top(travel.scores("model owner"), 5) == []


def test_an_answer_cites_nothing_that_is_not_readable(served):
    corpus, gate = load("served", served), Gate.from_params(hand_gate())
    question = "What is the limit for meals abroad?"
    may, may_not = (
        corpus.answerer(corpus.reader(gate.cues, readable), gate).ask(question)
        for readable in (["travel"], ["models"])
    )
    assert (may.decision, may_not.decision) == ("answer", "abstain")
    assert {c.document_id for c in may.citations} == {"travel"}
    assert {c.document_id for c in (*may_not.citations, *may_not.related)} <= {"models"}


def test_a_figure_in_a_related_sentence_closes_the_gap(reader):
    asked = "How many days after the journey is a mileage claim filed?"
    assert reader.figure_gap("Who files claims?", [0]) == 0
    assert reader.figure_gap(asked, [2]) < reader.figure_gap(asked, [1])


def test_of_two_figures_only_the_one_that_is_not_there_is_missing(reader):
    evidence = range(len(reader.passages))
    asked = "What is the limit for meals abroad, and what does a taxi to the station cost?"
    assert [*reader.figure_gaps(asked, evidence)] == ["what does a taxi to the station cost?"]


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
