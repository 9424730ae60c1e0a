"""Dense retrieval and fusion, worked by hand, and as methods of a release."""

import subprocess
import sys

import numpy as np
import pytest

from policyproof_assets.build import Build
from policyproof_assets.embeddings import embed_passages
from policyproof_assets.models import add_model
from policyproof_runtime import load
from policyproof_runtime.dense import Neural, fuse, nearest, vectors_of
from policyproof_runtime.errors import ModelError, QueryError, ReleaseError
from policyproof_runtime.records import to_json
from policyproof_runtime.release import Phase, load_release


class Counting:
    """Encodes a question as its length, and counts the runs."""

    runs = 0

    def questions(self, texts):
        self.runs += 1
        return np.array([[len(text)] for text in texts], np.float32)


def test_questions_are_encoded_once_together_or_one_by_one(monkeypatch):
    monkeypatch.setattr("policyproof_runtime.dense._QUESTIONS", 3)
    neural, encoder = Neural({}, None, None, None), Counting()
    neural.__dict__["_encoder"] = encoder
    neural.prepare(["a", "bb", "a"])
    assert [neural.query(q)[0] for q in ("a", "bb", "a")] == [1, 2, 1]
    assert encoder.runs == 1
    assert [neural.query(q)[0] for q in ("ccc", "dddd", "a")] == [3, 4, 1]  # room for three
    assert encoder.runs == 4


def test_the_nearest_come_first_and_ties_go_to_the_earlier():
    vectors = np.array([[0, 1], [1, 0], [0, -1], [1, 0], [0.5, 0.5]], np.float32)
    query = np.array([1, 0], np.float32)
    assert nearest(vectors, query, 2) == [(1, 1.0), (3, 1.0)]
    assert [p for p, _ in nearest(vectors, query, 9)] == [1, 3, 4, 0, 2]


def test_a_passage_on_the_far_side_has_its_rank_too():
    vectors = np.array([[-1, 0], [0, -1], [-0.5, 0]], np.float32)
    assert nearest(vectors, np.array([1, 0], np.float32), 3) == [(1, 0.0), (2, -0.5), (0, -1.0)]


def test_fusion_adds_reciprocal_ranks():
    first, second = [(7, 9.0), (3, 8.0), (5, 1.0)], [(3, 0.9), (5, 0.8)]
    fused = fuse([first, second], 3)
    assert [position for position, _ in fused] == [3, 5, 7]
    assert [score for _, score in fused] == pytest.approx(
        [1 / 62 + 1 / 61, 1 / 63 + 1 / 62, 1 / 61]
    )
    assert [p for p, _ in fuse([[(9, 1.0)], [(2, 1.0)]], 2)] == [2, 9]


@pytest.fixture
def with_models(served, tiny_model, tmp_path):
    """Accept the release of ``served`` again, with embeddings and the models of ``roles``."""

    def accept(*roles: str):
        old = load_release(served, "served")
        models = {role: tiny_model(role) for role in ("dense", "reranker")}
        for role, model in models.items():
            add_model(model, tmp_path / "files" / role)
        passages = served.snapshot(old.phase("passages").snapshot)
        build = Build(None, None, served)
        parts = embed_passages(build.part, passages, models["dense"])
        embeddings = Phase.of(served.put_snapshot(parts))
        values = {field: getattr(old, field) for field in old.__dataclass_fields__}
        values["phases"] = {**old.phases, "embeddings": embeddings}
        values["retrieval"] = {role: to_json(models[role]) for role in roles}
        served.put_release(type(old)(**values))
        return load("served", served.root)

    return accept


def test_dense_ranks_every_passage(with_models):
    corpus = with_models("dense")
    hits = corpus.retrieve("meals", method="dense")
    assert hits[0].label == "Article 2 — Meals"
    assert len(hits) == 4
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert corpus.retrieve("meals", method="dense", top_k=2) == hits[:2]


def test_a_hybrid_has_what_either_finds(with_models):
    corpus = with_models("dense")
    assert len(corpus.retrieve("audit meals", method="hybrid")) == 4
    hit, *_ = corpus.retrieve("meals", method="hybrid")
    assert (hit.label, hit.score) == ("Article 2 — Meals", pytest.approx(2 / 61))


def test_a_reranker_reads_the_candidates(with_models):
    corpus = with_models("dense", "reranker")
    hits = corpus.retrieve("meals", method="rerank", top_k=3)
    # The tiny reranker adds up ids: cards (9), models (8) and claims (6) weigh more than meals (4).
    assert hits[0].label == "Article 3 — Claims"
    assert [hit.rank for hit in hits] == [1, 2, 3]


@pytest.mark.parametrize(("method", "role"), [("dense", "dense"), ("hybrid", "dense")])
def test_a_release_without_embeddings_says_what_to_do(served, method, role):
    with pytest.raises(ReleaseError, match=f"(?s)no {role} model.*retrieval.toml and build again"):
        load("served", served.root).retrieve("meals", method=method)


def test_a_release_without_a_reranker_says_what_to_do(with_models):
    with pytest.raises(ReleaseError, match="no reranker model"):
        with_models("dense").retrieve("meals", method="rerank")


def test_a_model_that_is_not_installed_is_an_error(with_models, tmp_path, monkeypatch):
    corpus = with_models("dense")
    monkeypatch.setenv("POLICYPROOF_MODELS", str(tmp_path / "empty"))
    with pytest.raises(ModelError, match="policyproof models add tiny-dense"):
        corpus.retrieve("meals", method="dense")


def test_an_over_long_question_is_refused_not_cut(with_models):
    with pytest.raises(QueryError, match="at most 400 tokens"):
        with_models("dense").retrieve("meals " * 420, method="dense")


def test_vectors_of_many_parts_are_one_matrix(with_models, served):
    table = served.phase(with_models("dense").release.phase("embeddings").snapshot)
    assert table["embedding"].num_chunks > 1
    vectors = vectors_of(table)
    assert vectors.shape == (4, 10)
    assert vectors[1].tolist() == table["embedding"][1].as_py()


def test_a_question_without_a_model_loads_nothing_of_it(served):
    code = (
        "import sys; from policyproof_runtime import load;"
        f"load('served', {served.root!r}).retrieve('meals');"
        "print({'onnxruntime', 'tokenizers', 'policyproof_runtime.dense'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
