"""Encoding: no padding, no truncation, the same numbers in any company."""

import math

import numpy as np
import onnxruntime
import pytest
from tokenizers import Tokenizer

from policyproof_assets.models import add_model
from policyproof_runtime.encoder import BertGraph, Encoder, Reranker
from policyproof_runtime.errors import ModelError, QueryError
from policyproof_runtime.models import installed_model, load_model

TEXTS = [
    "Article 14 — Human oversight\n\nPeople oversee high-risk AI systems while in use.",
    "recital",
    "The [MASK] of café naïveté — 例 ﬁne…",
    "an obligation " * 200,
    "",
]


@pytest.fixture(scope="module")
def minilm():
    return Encoder(load_model("all-minilm-l6-v2"))


@pytest.fixture
def installed(tiny_model, tmp_path):
    def make(role="dense", **changes):
        model = tiny_model(role, **changes)
        add_model(model, tmp_path / "files" / role)
        return model

    return make


def test_the_mean_of_all_tokens_is_pooled(installed):
    # [CLS] meals claim [SEP]: each of four rows of the identity counts 1/4, twice.
    vector = Encoder(installed(normalise=False)).passages(["Meals, claim"])[0]
    # The comma is no word of the vocabulary: [UNK] is the fifth token.
    assert vector == pytest.approx([0, 0.4, 0.4, 0.4, 0.4, 0, 0.4, 0, 0, 0])


def test_the_first_token_is_pooled(installed):
    vector = Encoder(installed(pooling="cls", normalise=False)).passages(["meals claim"])[0]
    assert vector == pytest.approx([0, 0, 1.25, 0.25, 0.25, 0, 0.25, 0, 0, 0])


def test_vectors_have_length_one(installed):
    vector = Encoder(installed()).questions(["meals claim"])[0]
    assert vector == pytest.approx([0, 0, 0.5, 0.5, 0.5, 0, 0.5, 0, 0, 0])


def test_prefixes_are_for_their_side_only(installed):
    encoder = Encoder(installed(query_prefix="card ", passage_prefix="model "))
    assert np.flatnonzero(encoder.questions(["meals"])[0]).tolist() == [2, 3, 4, 9]
    assert np.flatnonzero(encoder.passages(["meals"])[0]).tolist() == [2, 3, 4, 8]


def test_a_pair_is_scored_by_its_second_text(installed):
    reranker = Reranker(installed("reranker"))
    # [SEP] at the end, id 3, belongs to the second text.
    scores = reranker.scores("card", ["meals", "mileage model", ""])
    assert scores.tolist() == [4 + 3, 7 + 8 + 3, 3]


def test_an_over_long_text_is_an_error(installed):
    encoder = Encoder(installed(max_tokens=16))
    assert encoder.passages(["meals " * 14]).shape == (1, 10)
    with pytest.raises(ModelError, match=r"at most 16 tokens\n.*17 tokens"):
        encoder.passages(["meals", "meals " * 15])
    with pytest.raises(QueryError, match="too long for the model tiny-dense"):
        encoder.questions(["meals " * 15])[0]
    with pytest.raises(QueryError, match="too long for the model tiny-reranker"):
        Reranker(installed("reranker", max_tokens=16)).scores("meals " * 7, ["claim " * 7])


def test_no_text_gives_no_row(installed):
    assert Encoder(installed()).passages([]).shape == (0, 10)


def test_a_model_of_another_role_is_refused(installed):
    with pytest.raises(ModelError, match="another role"):
        Encoder(installed("reranker"))
    with pytest.raises(ModelError, match="another role"):
        Reranker(installed())


def test_without_the_extra_the_error_names_it(installed, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(ModelError, match=r"pip install 'policyproof\[dense\]'"):
        Encoder(installed())


def test_our_tokens_are_those_of_the_models_own_tokenizer():
    model = load_model("all-minilm-l6-v2")
    theirs = Tokenizer.from_file(str(installed_model(model) / model.vocabulary))
    theirs.no_truncation()
    theirs.no_padding()
    graph = BertGraph(model)
    for text in TEXTS:
        if "[MASK]" not in text:  # which is text here, whatever a model uses it for
            assert graph.inputs(text)["input_ids"][0].tolist() == theirs.encode(text).ids


def test_company_and_order_change_nothing(minilm):
    together, alone = minilm.passages(TEXTS), [minilm.passages([text])[0] for text in TEXTS]
    assert np.array_equal(together, np.array(alone))
    assert np.array_equal(together[::-1], minilm.passages(TEXTS[::-1]))


def test_a_padded_batch_of_the_same_graph_gives_the_same(minilm):
    model = load_model("all-minilm-l6-v2")
    session = onnxruntime.InferenceSession(installed_model(model) / model.graph)
    ids = [BertGraph(model).inputs(text)["input_ids"][0] for text in TEXTS]
    width = max(map(len, ids))
    feed = {
        "input_ids": np.array([np.pad(row, (0, width - len(row))) for row in ids]),
        "attention_mask": np.array([np.arange(width) < len(row) for row in ids]).astype(np.int64),
        "token_type_ids": np.zeros((len(ids), width), np.int64),
    }
    states = session.run(None, feed)[0]
    for row, tokens, vector in zip(states, ids, minilm.passages(TEXTS), strict=True):
        mean = row[: len(tokens)].mean(axis=0)
        assert vector == pytest.approx(mean / math.sqrt(mean @ mean), abs=1e-6)
