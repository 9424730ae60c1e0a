"""Answers: exact excerpts with their true lines, or an abstention that says why."""

import gzip
import json

import polars as pl
import pyarrow as pa
import pytest

from policyproof_runtime import load
from policyproof_runtime.answer import MAX_EXCERPT_LINES, excerpt
from policyproof_runtime.bm25 import Bm25, freeze
from policyproof_runtime.errors import ReleaseError
from policyproof_runtime.passages import Passages
from policyproof_runtime.sufficiency import Gate


@pytest.fixture
def corpus(served):
    return load("served", served)


def test_an_answer_quotes_the_source_with_its_lines(corpus):
    answer = corpus.ask("What is the limit for meals abroad?")
    assert answer.decision == "answer"
    [citation] = answer.citations
    assert citation.excerpt == "Meals abroad are paid up to\na limit of 40."
    assert citation.place == "page 1, lines 7–8"
    assert citation.title == "Title of travel"
    assert answer.probability == 1.0
    assert answer.reason_codes == answer.missing == answer.related == ()


def test_a_long_passage_is_cut_to_whole_sentences_that_matter(corpus):
    [citation] = corpus.ask("When is a mileage claim of a journey filed?").citations
    assert "A claim for mileage is filed within\nthirty days of the journey." in citation.excerpt
    assert citation.excerpt.count("\n") + 1 == citation.line_end - citation.line_start + 1
    assert citation.line_end - citation.line_start < MAX_EXCERPT_LINES


def test_an_unknown_name_is_outside_the_corpus(corpus):
    answer = corpus.ask("What is the limit for meals abroad in Kansas?")
    assert (answer.decision, answer.reason_codes) == ("abstain", ("outside_controlled_corpus",))
    assert answer.missing == ("Kansas",)
    assert answer.citations == ()
    assert answer.related[0].label == "Article 2 — Meals"


def test_a_number_makes_a_name_another_one(corpus):
    answer = corpus.ask("Which receipt rule does the RULE-40 paper audit need?")
    assert "RULE-40" in answer.missing


def test_an_uncovered_part_means_to_abstain(corpus):
    answer = corpus.ask("Which meals reduce the pension and the annual bonus?")
    assert (answer.decision, answer.reason_codes) == ("abstain", ("incomplete_evidence_set",))
    assert {"pension", "bonus"} <= set(answer.missing)
    assert answer.probability < answer.threshold


def test_nothing_found_means_to_abstain(corpus):
    answer = corpus.ask("…?")
    assert (answer.decision, answer.probability, answer.related) == ("abstain", 0.0, ())


def test_a_batch_line_has_the_agreed_fields(corpus):
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


def test_a_gate_of_another_kind_is_refused():
    with pytest.raises(ReleaseError, match="unknown kind"):
        Gate.from_params({"kind": "oracle"})


def test_excerpts_cross_pages_and_gaps():
    slices = [
        {"start_page": 1, "start_line": 40, "end_page": 1, "end_line": 49},
        {"start_page": 1, "start_line": 52, "end_page": 1, "end_line": 53},
        {"start_page": 2, "start_line": 3, "end_page": 2, "end_line": 12},
    ]
    lines = [f"Clause {n} says so." for n in range(22)]
    lines[9], lines[12] = "The tariff begins.", "The tariff ends."
    text = "\n".join(lines[:10]) + "\n\n" + "\n".join(lines[10:])
    row = {"document_id": "d", "passage_id": "p", "label": "l", "path": [], "slices": slices}
    row |= {"citation_text": text, "retrieval_text": text}
    passages = Passages(pa.Table.from_pylist([row]), {"d": "D"})
    places = [(line.page, line.number) for line in passages.lines(0)]
    assert places[9:13] == [(1, 49), (1, 52), (1, 53), (2, 3)]
    citation = excerpt(passages, 0, "Where does the tariff end?", Bm25(freeze([text]), 1))
    assert "The tariff begins.\n\nClause 10 says so." in citation.excerpt
    assert citation.excerpt in text
    first, last = (citation.excerpt.split("\n")[i] for i in (0, -1))
    assert places[lines.index(first)] == (citation.page_start, citation.line_start)
    assert places[lines.index(last)] == (citation.page_end, citation.line_end)


def test_a_wrapped_heading_is_cited_as_a_whole():
    slices = [{"start_page": 3, "start_line": 4, "end_page": 3, "end_line": 6}]
    row = {"document_id": "d", "passage_id": "p", "label": "l", "path": [], "slices": slices}
    row |= {"citation_text": "A heading the source wraps", "retrieval_text": "x"}
    passages = Passages(pa.Table.from_pylist([row]), {})
    assert passages.lines(0) == []
    assert passages.citation(0).place == "page 3, lines 4–6"


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
