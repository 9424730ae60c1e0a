"""Embeddings: bound to model and passages, made once, and as good as measured elsewhere."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from statistics import mean

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from policyproof_assets import embeddings
from policyproof_assets.build import Build
from policyproof_assets.embeddings import embed_passages
from policyproof_assets.evaluation.metrics import mrr_at, ndcg_at, recall_at
from policyproof_assets.models import add_model
from policyproof_assets.project import MANIFESTS, Project
from policyproof_assets.publish import build_corpus
from policyproof_assets.store import Store
from policyproof_runtime import load
from policyproof_runtime.dense import nearest, vectors_of
from policyproof_runtime.encoder import Encoder
from policyproof_runtime.errors import ModelError
from policyproof_runtime.models import load_model

from .small_corpus import write_corpus

PASSAGES = {"first": ["meals claim", "card"], "second": ["flights"]}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.fixture
def model(tiny_model, tmp_path):
    model = tiny_model()
    add_model(model, tmp_path / "files" / "dense")
    return model


def passages(store, texts=PASSAGES):
    parts = []
    for name, rows in texts.items():
        ids = [f"{name}:{i}" for i in range(len(rows))]
        frame = pl.DataFrame({"passage_id": ids, "retrieval_text": rows}, schema=COLUMNS)
        parts.append(store.put_part(name, frame))
    return store.put_snapshot(parts)


COLUMNS = {"passage_id": pl.String, "retrieval_text": pl.String}


def embedded(store, model, texts=PASSAGES):
    """Return the parts, and how many are new."""
    build = Build(None, None, store)
    return embed_passages(build.part, passages(store, texts), model), build.work.made


def test_every_passage_has_its_vector_in_accepted_order(store, model):
    parts, new = embedded(store, model)
    table = store.phase(store.put_snapshot(parts).digest)
    assert new == 2
    assert table.schema.field("embedding").type == pa.list_(pa.float32(), 10)
    assert table["passage_id"].to_pylist() == ["first:0", "first:1", "second:0"]
    expected = Encoder(model).passages(["meals claim", "card", "flights"])
    assert np.array_equal(vectors_of(table), expected)


def test_known_parts_are_not_made_again_and_load_no_model(store, model, monkeypatch):
    first, _ = embedded(store, model)
    monkeypatch.setattr(embeddings, "Encoder", pytest.fail)
    assert embedded(store, model) == (first, 0)


def test_one_more_document_costs_one_document(store, model):
    embedded(store, model)
    parts, new = embedded(store, model, PASSAGES | {"third": ["claim"]})
    assert (new, [part.rows for part in parts]) == (1, [2, 1, 1])


def test_another_model_makes_other_embeddings(store, model, tiny_model, tmp_path):
    first, _ = embedded(store, model)
    other = tiny_model(pooling="cls")
    add_model(other, tmp_path / "files" / "dense")
    second, new = embedded(store, other)
    assert new == 2
    assert first != second


def test_a_document_without_passages_has_none(store, model):
    parts, _ = embedded(store, model, {"empty": [], **PASSAGES})
    assert [part.rows for part in parts] == [0, 2, 1]
    assert vectors_of(store.phase(store.put_snapshot(parts).digest)).shape == (3, 10)


def test_a_passage_too_long_for_the_model_stops_the_build(store, model):
    with pytest.raises(ModelError, match="too long for the model tiny-dense"):
        embedded(store, model, {"long": ["card " * 420]})


def test_a_build_that_names_a_model_releases_it_with_its_embeddings(tmp_path):
    shutil.copytree(MANIFESTS, tmp_path / "manifests")
    rules = tmp_path / "manifests" / "policy" / "retrieval.toml"
    rules.write_text('dense_model = "all-minilm-l6-v2"\n' + rules.read_text("utf-8"), "utf-8")
    options = {
        "project": Project(tmp_path / "manifests"),
        "executor": lambda: ThreadPoolExecutor(1),
    }
    build = (str(write_corpus(tmp_path / "corpus")), str(tmp_path / "store"))
    first, _ = build_corpus(*build, **options)
    again, work = build_corpus(*build, **options)
    assert (again, work.made) == (first, 0)
    corpus = load("small", tmp_path / "store")
    assert corpus.release.models["all-minilm-l6-v2/onnx/model.onnx"]
    assert corpus.release.phase("embeddings").rows == corpus.release.phase("passages").rows
    [hit, *_] = corpus.retrieve("How do I go by rail?", method="dense")
    assert hit.document_id == "travel"


def test_the_published_questions_score_as_measured_with_these_weights(packed, shared):
    """The same weights gave these figures over the accepted passages in another implementation."""
    frame = packed.passages
    encoder = Encoder(load_model("all-minilm-l6-v2"))
    vectors = encoder.passages(frame["retrieval_text"].to_list())
    path = shared / "evaluation" / "retrieval-benchmark-v0.1.1.json"
    rows = []
    for query in json.loads(path.read_text("utf-8"))["queries"]:
        grades = {j["passage_id"]: j["relevance_grade"] for j in query["relevance_judgments"]}
        if grades:
            ranked = nearest(vectors, encoder.questions([query["question"]])[0], 10)
            ids = [frame["passage_id"][position] for position, _ in ranked]
            rows.append([metric(10, ids, grades) for metric in (recall_at, mrr_at, ndcg_at)])
    assert [mean(column) for column in zip(*rows, strict=True)] == pytest.approx(
        [0.7604, 0.6756, 0.6358], abs=5e-5
    )
