"""Loading a release and ranking its passages."""

from pathlib import Path

import pytest

from policyproof_runtime import load
from policyproof_runtime.bm25 import Bm25
from policyproof_runtime.errors import QueryError, ReleaseError, StoreError
from policyproof_runtime.objects import object_name
from policyproof_runtime.questions import MAX_CHARACTERS
from policyproof_runtime.release import load_release
from policyproof_runtime.retrieve import Retriever, bm25_method


@pytest.fixture
def corpus(served):
    return load("served", served.root)


def test_a_hit_says_what_and_where(corpus):
    [hit, *_] = corpus.retrieve("mileage claim")
    assert (hit.rank, hit.document_id, hit.label) == (1, "travel", "Article 3 — Claims")
    assert (hit.page_start, hit.line_start, hit.page_end, hit.line_end) == (2, 1, 2, 30)
    assert list(hit.as_json()) == [
        "rank",
        "passage_id",
        "document_id",
        "label",
        "heading_path",
        "page_start",
        "line_start",
        "page_end",
        "line_end",
        "score",
        "title",
        "version",
        "status",
    ]
    assert hit.as_json()["heading_path"] == ["Article 3 — Claims"]


def test_hits_are_ranked_and_cut(corpus):
    hits = corpus.retrieve("a model, a card or a claim", top_k=2)
    assert [hit.rank for hit in hits] == [1, 2]
    assert hits[0].score >= hits[1].score
    assert corpus.retrieve("zeppelin") == []


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("", "is empty"),
        (" \n\t", "is empty"),
        ("x" * (MAX_CHARACTERS + 1), "too long"),
        ("a\0b", "control character"),
        ("a\x1b[31mb", "control character"),
        ("a\udcffb", "invalid byte"),
    ],
)
def test_what_is_no_question_is_refused(corpus, question, message):
    with pytest.raises(QueryError, match=message):
        corpus.retrieve(question)
    with pytest.raises(QueryError, match=message):
        corpus.ask(question)


@pytest.mark.parametrize("top_k", [0, -1, 1_001])
def test_top_k_has_limits(corpus, top_k):
    with pytest.raises(QueryError, match="top_k is out of range"):
        corpus.retrieve("meals", top_k=top_k)


def test_an_unknown_method_is_refused(corpus):
    with pytest.raises(QueryError, match="no such retrieval method"):
        corpus.retrieve("meals", method="magic")


def test_an_unknown_corpus_names_the_known_ones(served):
    with pytest.raises(ReleaseError, match="one of: served"):
        load("unknown", served.root)


@pytest.fixture
def retriever(corpus):
    index = Bm25(corpus.index_table("bm25"), len(corpus.passages))
    return Retriever(corpus.passages, {"bm25": bm25_method(index)}, "bm25")


def test_only_readable_documents_are_ranked(retriever):
    question = "a model, a card or a claim"
    assert {h.document_id for h in retriever.retrieve(question)} == {"travel", "models"}
    assert {h.document_id for h in retriever.within({"models"}).retrieve(question)} == {"models"}
    assert retriever.within(()).retrieve(question) == []


def test_readable_passages_fill_the_ranks_with_their_own_scores(retriever):
    question = "a model, a card or a claim"
    every = retriever.rank(question, 10)
    assert retriever.retrieve(question, 1)[0].document_id == "travel"
    assert retriever.within({"models"}).rank(question, 1) == [hit for hit in every if hit[0] == 3]
    assert retriever.within({"travel", "models"}).rank(question, 10) == every


@pytest.mark.parametrize("name", ["passages", "bm25"])
def test_nothing_is_served_from_a_corrupt_object(served, overwrite, name):
    release = load_release(served, "served")
    digest = release.index["bm25"]
    if name == "passages":
        digest = served.snapshot(release.phases["passages"].snapshot).parts[1].object
    path = Path(served.storage.path(object_name(digest)))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    overwrite(path, bytes(data))
    with pytest.raises(StoreError, match="is corrupt"):
        load("served", served.root)
