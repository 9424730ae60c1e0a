"""The bundled handbook from end to end: it builds offline, and versions are what they should be."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from policyproof_assets.project import MANIFESTS, Project
from policyproof_assets.publish import build_corpus
from policyproof_runtime import load

TRIAL = "What is the longest trial of a new AI tool a team can run?"


@pytest.fixture(scope="module")
def handbook(tmp_path_factory):
    store = tmp_path_factory.mktemp("handbook")
    build_corpus("handbook", str(store), executor=lambda: ThreadPoolExecutor(2))
    return load("handbook", store)


def documents(hits):
    return [*dict.fromkeys(hit.document_id for hit in hits)]


def test_it_is_known_by_name_and_by_folder():
    by_name, by_folder = Project().corpus("handbook"), Project().corpus(str(MANIFESTS / "handbook"))
    assert by_name == by_folder
    assert by_name in Project().corpora()
    assert len(by_name.documents) >= 70
    assert len({document.department for document in by_name.documents}) >= 6
    assert sum(document.format == "pdf" for document in by_name.documents) >= 10


def test_a_folder_named_like_a_corpus_does_not_hide_it(monkeypatch):
    monkeypatch.chdir(MANIFESTS / "handbook")
    assert Path("ai-governance").is_dir()
    assert Project().corpus("ai-governance").namespace == "candidate-v2"
    assert len(Project().corpus("./ai-governance").documents) > 1


def test_superseded_versions_name_what_replaced_them():
    corpus = Project().corpus("handbook")
    by_id = {document.id: document for document in corpus.documents}
    pairs = [(by_id[d.supersedes], d) for d in corpus.documents if d.supersedes]
    assert len(pairs) >= 7
    for old, new in pairs:
        assert (old.status, new.status, old.family) == ("superseded", "active", new.family)


def test_every_golden_source_is_a_document(handbook):
    ids = {document.id for document in handbook.release.documents}
    golden = yaml.safe_load((MANIFESTS / "golden" / "handbook.yaml").read_text("utf-8"))
    sources = {source.replace(" ", "-") for item in golden for source in item["expected_sources"]}
    assert sources <= ids


def test_a_version_in_force_comes_before_the_one_it_replaced(handbook):
    ranked = documents(handbook.retrieve(TRIAL, 20))
    assert ranked[0] == "AIG-001-v2"
    assert "AIG-001-v1" in ranked  # demoted, never hidden


def test_a_question_about_the_past_finds_the_version_of_then(handbook):
    question = "Under the old rules, for how many days were prompts kept?"
    assert documents(handbook.retrieve(question, 20))[0] == "AIG-008-v1"


def test_a_citation_says_which_version_it_is_and_whether_it_is_in_force(handbook):
    titles = {}
    for hit in handbook.retrieve(TRIAL, 20):
        position = handbook.passages.position(hit.passage_id)
        titles[hit.document_id] = handbook.passages.citation(position).title
    assert titles["AIG-001-v2"] == "Acceptable Use of AI (v2)"
    assert titles["AIG-001-v1"] == "Acceptable Use of AI (v1, superseded)"


def test_it_answers_from_the_version_in_force(handbook):
    answer = handbook.ask(TRIAL)
    assert answer.decision == "answer"
    assert "limited to 30 days" in answer.citations[0].excerpt
    assert (answer.citations[0].document_id, answer.citations[0].line_start) == ("AIG-001-v2", 39)


def test_words_of_a_pdf_are_cited_by_page_and_line(handbook):
    citation = handbook.ask("When does schema version 3 of meter messages end?").citations[0]
    assert citation.document_id == "ENG-005-v1"
    assert "31 May 2027" in citation.excerpt
