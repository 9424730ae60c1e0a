"""Answers: exact excerpts with their true lines, or an abstention that says why."""

import gzip
import json
from dataclasses import replace

import polars as pl
import pyarrow as pa
import pytest

from policyproof_runtime import load
from policyproof_runtime.excerpts import MAX_LINES, MAX_LIST_LINES, best_run, excerpts
from policyproof_runtime.passages import Passages


@pytest.fixture
def corpus(served):
    return load("served", served)


def test_an_answer_quotes_the_source_with_its_lines(corpus):
    answer = corpus.ask("What is the limit for meals abroad?")
    assert answer.decision == "answer"
    citation = answer.citations[0]
    assert citation.excerpt == "Meals abroad are paid up to\na limit of 40."
    assert citation.place == "page 1, lines 7–8"
    assert citation.title == "Title of travel"
    assert answer.reason_codes == answer.missing == answer.related == answer.partial == ()


def test_every_answer_says_what_its_gate_was_trained_on_and_what_was_tried(corpus):
    answer = corpus.ask("What is the limit for meals abroad?")
    assert answer.label_status == "construction_derived"
    assert answer.trace[0].attempt == "as asked"
    assert answer.trace[-1].sufficient


def test_a_long_passage_is_cut_to_whole_sentences_that_matter(corpus):
    citation = corpus.ask("When is a mileage claim of a journey filed?").citations[0]
    assert "A claim for mileage is filed within\nthirty days of the journey." in citation.excerpt
    assert citation.excerpt.count("\n") + 1 == citation.line_end - citation.line_start + 1
    assert citation.line_end - citation.line_start < MAX_LINES


def test_an_unknown_name_is_outside_the_corpus(corpus):
    answer = corpus.ask("What is the limit for meals abroad in Kansas?")
    assert (answer.decision, answer.reason_codes) == ("abstain", ("outside_controlled_corpus",))
    assert answer.missing == ("Kansas",)
    assert answer.citations == ()
    assert answer.related[0].label == "Article 2 — Meals"
    assert answer.probability < answer.threshold


def test_a_provision_that_does_not_exist_is_named(corpus):
    answer = corpus.ask("What does Article 17 say about meals abroad?")
    assert answer.decision == "abstain"
    assert answer.missing == ("Article 17",)


def test_a_cue_of_the_release_declines_with_its_reason(corpus):
    answer = corpus.ask("Would a lawsuit about the limit for meals abroad succeed?")
    assert (answer.decision, answer.reason_codes) == ("abstain", ("legal_advice_boundary",))
    assert answer.missing == ("advice from a qualified lawyer who knows the case",)


def test_a_part_within_reach_is_answered_and_the_other_named(corpus):
    answer = corpus.ask("What does Article 2 say about meals abroad, and what does Article 9 say?")
    assert answer.decision == "answer"
    assert answer.partial == ("what does Article 9 say?",)
    assert answer.citations[0].label == "Article 2 — Meals"


def test_a_refusal_gives_reasons_even_where_its_evidence_would_do(corpus):
    gate = replace(corpus._answerer._gate, threshold=0.0)
    answer = corpus.answerer(corpus._answerer._reader, gate).ask(
        "What is the limit for meals abroad in Kansas?"
    )
    assert answer.decision == "abstain"
    assert not answer.trace[-1].sufficient
    assert answer.reason_codes == ("outside_controlled_corpus",)


@pytest.mark.parametrize("question", ["???", "What is it?", "How?"])
def test_a_question_about_nothing_is_declined(corpus, question):
    answer = corpus.ask(question)
    assert (answer.decision, answer.probability) == ("abstain", 0.0)
    assert answer.missing == ("a question that says what it is about",)


def test_a_provision_of_another_source_is_not_answered_from_the_one_of_that_number(corpus):
    answer = corpus.ask("What does Article 2 of the Lift Act say about meals abroad?")
    assert (answer.decision, answer.reason_codes) == ("abstain", ("outside_controlled_corpus",))
    assert answer.missing == ("Article 2 of the Lift Act",)


def test_given_evidence_is_graded_against_what_the_corpus_has(corpus):
    question = "What is the limit for meals abroad?"
    right, wrong = (f"demo:travel:page-0001:line-{line}:passage-001" for line in ("0007", "0003"))
    assert corpus.assess(question, [right])["sufficient"]
    found = corpus.assess(question, [wrong])
    assert not found["sufficient"]
    assert found["reason_codes"] == ["incomplete_evidence_set"]
    assert found["missing"] == [question]


def test_no_evidence_is_never_sufficient(corpus):
    assert not corpus.assess("What is the limit for meals abroad?", [])["sufficient"]


def test_nothing_found_means_to_abstain(corpus):
    answer = corpus.ask("…?")
    assert (answer.decision, answer.related) == ("abstain", ())


def test_a_batch_line_has_the_agreed_fields_first(corpus):
    line = corpus.ask("What is the limit for meals abroad?").as_json()
    assert list(line) == [
        "question",
        "decision",
        "probability",
        "threshold",
        "reason_codes",
        "missing",
        "citations",
        "corpus",
        "release",
        "partial",
        "label_status",
        "trace",
        "related",
    ]
    assert list(line["citations"][0]) == [
        "passage_id",
        "document_id",
        "title",
        "label",
        "page_start",
        "line_start",
        "page_end",
        "line_end",
        "excerpt",
    ]
    assert line["release"].startswith("sha256:")
    assert json.loads(json.dumps(line)) == line


def _passages(**row):
    filled = {"document_id": "d", "passage_id": "p", "label": "l", "path": [], "heading": None}
    return Passages(pa.Table.from_pylist([filled | row]), {"d": "D"})


def test_an_excerpt_over_a_gap_is_cited_in_pieces_that_stand_in_the_source():
    slices = [
        {"start_page": 1, "start_line": 40, "end_page": 1, "end_line": 44},
        {"start_page": 1, "start_line": 47, "end_page": 1, "end_line": 48},
        {"start_page": 2, "start_line": 3, "end_page": 2, "end_line": 5},
    ]
    text = "\n".join(f"Clause {n} says so." for n in range(10))
    passages = _passages(slices=slices, citation_text=text, retrieval_text=text)
    cited = excerpts(passages, 0, {"claus": 1.0})
    assert [c.place for c in cited] == [
        "page 1, lines 40–44",
        "page 1, lines 47–48",
        "page 2, lines 3–5",
    ]
    assert "\n".join(c.excerpt for c in cited) == text


def test_a_lead_in_brings_its_list():
    items = [f"({n}) item {n};" for n in range(30)]
    run = best_run(["Other.", "The provider shall:", *items], {"provid": 5.0, "shall": 2.0})
    assert run[0] <= 1
    assert MAX_LINES < run[1] - run[0] <= MAX_LIST_LINES


def test_a_wrapped_heading_is_cited_as_a_whole():
    slices = [{"start_page": 3, "start_line": 4, "end_page": 3, "end_line": 6}]
    passages = _passages(slices=slices, citation_text="A heading that wraps", retrieval_text="x")
    assert passages.lines(0) == []
    assert [c.place for c in excerpts(passages, 0, {})] == ["page 3, lines 4–6"]


def test_a_heading_that_says_it_all_is_cited_instead_of_the_remnant_below():
    passages = _passages(
        label="GOVERN 9: Every model has an owner who answers for it.",
        heading={"start_page": 3, "start_line": 4, "end_page": 3, "end_line": 5},
        slices=[{"start_page": 3, "start_line": 6, "end_page": 3, "end_line": 6}],
        citation_text="Table 1: Categories. (Continued)",
        retrieval_text="x",
    )
    [citation] = excerpts(passages, 0, {"model": 1.0, "owner": 1.0})
    assert citation.excerpt == "GOVERN 9: Every model has an owner who answers for it."
    assert citation.place == "page 3, lines 4–5"


TABLE = ["Hotel | Limit", *(f"City {n} | {n}00" for n in range(1, 40)), "Bergen | 150"]


def _table(*slices):
    text = "\n".join(TABLE)
    places = [
        {"start_page": page, "start_line": first, "end_page": page, "end_line": last}
        for page, first, last in slices
    ]
    return _passages(slices=places, citation_text=text, retrieval_text=text)


def test_a_row_is_cited_with_the_header_of_its_table_as_a_piece_of_its_own():
    head, *rows = excerpts(_table((1, 5, 45)), 0, {"hotel": 1.0, "limit": 1.0, "bergen": 3.0})
    assert (head.excerpt, head.place) == ("Hotel | Limit", "page 1, line 5")
    [rows] = rows
    assert rows.excerpt.splitlines()[-1] == "Bergen | 150"
    assert rows.excerpt in "\n".join(TABLE)
    assert rows.line_end == 45
    assert rows.line_end - rows.line_start + 1 == len(rows.excerpt.splitlines()) <= MAX_LINES


def test_a_header_on_the_page_before_keeps_its_own_place():
    table = _table((1, 40, 50), (2, 3, 32))
    head, rows = excerpts(table, 0, {"hotel": 1.0, "limit": 1.0, "bergen": 3.0})
    assert head.place == "page 1, line 40"
    assert (rows.page_start, rows.page_end, rows.line_end) == (2, 2, 32)


def test_rows_that_follow_their_header_are_cited_in_one_piece():
    [whole] = excerpts(_table((1, 5, 45)), 0, {"hotel": 1.0, "limit": 1.0, "citi": 1.0})
    assert whole.excerpt.startswith("Hotel | Limit\nCity 1 | 100\n")


def test_prose_after_a_table_is_cited_without_its_header():
    text = "\n".join([*TABLE, *(f"Rule {n} holds." for n in range(20)), "Ask the desk."])
    slices = [{"start_page": 1, "start_line": 1, "end_page": 1, "end_line": 62}]
    passages = _passages(slices=slices, citation_text=text, retrieval_text=text)
    cited = excerpts(passages, 0, {"ask": 1.0, "desk": 1.0})
    assert [c.line_end for c in cited] == [62]
    assert "|" not in cited[0].excerpt


def _accepted(shared, name):
    with gzip.open(shared / f"oracle/{name}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def test_every_line_of_the_accepted_passages_has_its_true_place(shared):
    pages = {
        (page["document_id"], page["page_number"]): page["text"].splitlines()
        for page in _accepted(shared, "pages")
    }
    rows = [
        {
            "document_id": passage["document_id"],
            "kind": passage["unit_kind"],
            "citation_text": passage["citation_text"],
            "slices": [
                {
                    "start_page": part["included_start"]["page_number"],
                    "start_line": part["included_start"]["line_number"],
                    "end_page": part["included_end"]["page_number"],
                    "end_line": part["included_end"]["line_number"],
                }
                for part in passage["source_slices"]
            ],
        }
        for passage in _accepted(shared, "retrieval-passages")
    ]
    passages = Passages(pl.DataFrame(rows).to_arrow(), {})
    for position, row in enumerate(rows):
        lines = passages.lines(position)
        assert lines or row["kind"] == "heading_only"
        for line in lines:
            printed = pages[row["document_id"], line.page][line.number - 1]
            assert row["citation_text"][line.start : line.end] in printed


def test_of_runs_that_say_as_much_the_first_is_shown():
    rule = ["1. Incidents are reported within 15 days.", *["It is a general rule."] * 11]
    exception = ["2. Incidents at night are reported within 2 days.", *["It is special."] * 11]
    first, _ = best_run([*rule, *exception], {"incid": 1.0, "report": 1.0, "day": 1.0})
    assert first == 0


def test_rows_that_say_nothing_of_the_question_are_not_shown():
    rows = [f"Report {n} | {n} years | closing" for n in range(12)]
    table = ["Record | Kept | From", *rows[:6], "Trial forms | 18 months | end of trial", *rows[6:]]
    assert best_run(table, {"trial": 1.0, "form": 1.0}) == (7, 8)
