"""The asset graph as Dagster sees it."""

import json
from concurrent.futures import ThreadPoolExecutor

import dagster as dg
import pytest

from policyproof_assets.assets import corpus_assets
from policyproof_assets.checks import corpus_checks
from policyproof_assets.definitions import defs
from policyproof_assets.errors import GateError
from policyproof_assets.manifests import load_corpus
from policyproof_assets.project import Project
from policyproof_assets.publish import build_corpus
from policyproof_assets.store import Store
from policyproof_runtime.release import load_release

from .small_corpus import write_corpus


def run(manifest, tmp_path, monkeypatch, **options):
    monkeypatch.setenv("POLICYPROOF_STORE", str(tmp_path / "store"))
    project, corpus = Project(), load_corpus(manifest)
    with dg.DagsterInstance.ephemeral() as instance:
        return dg.materialize(
            [*corpus_assets(project, corpus), *corpus_checks(project, corpus)],
            instance=instance,
            **options,
        )


@pytest.fixture
def manifest(tmp_path):
    return write_corpus(tmp_path)


def test_every_corpus_manifest_has_a_group_from_manifest_to_gate():
    nodes = defs.resolve_asset_graph().get_all_asset_keys()
    for corpus in Project().corpora():
        names = {key.path[-1] for key in nodes if key.path[0] == corpus.group}
        assert {"manifest", "pages", "passages", "benchmarks", "splits", "gate"} <= names


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_the_data_version_of_an_asset_is_the_digest_of_its_content(manifest, tmp_path, monkeypatch):
    result = run(manifest, tmp_path, monkeypatch)
    assert result.success
    store = Store(str(tmp_path / "store"))
    for name in ("pages", "passages"):
        (event,) = result.asset_materializations_for_node(f"small__{name}")
        assert event.tags["dagster/data_version"] == store.ref("small", name).hex


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_failed_check_blocks_the_gate(manifest, tmp_path, monkeypatch):
    (tmp_path / "expected").mkdir()
    (tmp_path / "expected" / "small.toml").write_text("[passages]\npassages = 99\n")
    result = run(manifest, tmp_path, monkeypatch, raise_on_error=False)
    assert not result.success
    assert not result.asset_materializations_for_node("small__gate")


# Goods that nobody has heard of: enough of them for ten folds of training.
FIRST = ("bo", "ka", "li", "mu", "ne", "pa", "ri", "so", "te", "vu")
KEPT = [first + last for first in FIRST for last in ("dan", "fel", "gim", "nor")]
NOT_KEPT = [first + last for first in FIRST for last in ("vak", "wol", "xen", "zid")]
CASES = (
    "construction: {depth: 5, surface_bound: 0.99, validation: 0.3, cost_of_false_answer: 3,"
    " unanswerable_share: 0.5}"
)


def write_questions(folder, passages):
    """Ask how long each thing is kept: those of the corpus, and others."""
    rows = []
    for name, label in passages.select("passage_id", "label").iter_rows():
        thing = label.split()[1].lower()
        row = {"id": f"q-{thing}", "question": f"How long does the store keep {thing}?"}
        row |= {"behaviour": "answer", "kind": "single"}
        row["passages"] = [{"id": name, "grade": 2, "reason": "says it"}]
        rows.append(row | {"parts": [{"need": f"days for {thing}", "evidence": [name]}]})
    for thing in NOT_KEPT:
        row = {"id": f"n-{thing}", "question": f"How long does the store keep {thing}?"}
        row |= {"behaviour": "abstain", "kind": "outside", "missing": [thing]}
        rows.append(row | {"reason_codes": ["outside_controlled_corpus"]})
    for kind, text in (("benchmarks", json.dumps(rows)), ("cases", CASES)):
        (folder / kind).mkdir()
        (folder / kind / "small.yaml").write_text(text)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_questions_are_scored_cases_judged_and_passages_embedded(tmp_path, monkeypatch):
    pages = [
        [f"{n} {thing.title()}", f"The store keeps {thing} for {n + 3} days."]
        for n, thing in enumerate(KEPT, 1)
    ]
    manifest = write_corpus(tmp_path, {"store": pages})
    root = str(tmp_path / "store")
    build_corpus(str(manifest), root, executor=lambda: ThreadPoolExecutor(1))
    store = Store(root)
    write_questions(tmp_path, store.phase_frame(store.ref("small", "passages")))
    model = 'title = "Small"\ndense_model = "all-minilm-l6-v2"\n'
    manifest.write_text(manifest.read_text().replace('title = "Small"\n', model))
    result = run(manifest, tmp_path, monkeypatch)

    def metadata(name):
        (event,) = result.asset_materializations_for_node(f"small__{name}")
        return event.metadata

    assert metadata("embeddings")["dagster/row_count"].value == len(KEPT)
    assert metadata("embeddings")["models"].value == "all-minilm-l6-v2"
    assert {"scores", "plot"} <= metadata("benchmarks").keys()
    assert "| fused | test |" in metadata("benchmarks")["scores"].value
    assert {"end_to_end", "reliability", "reliability_plot"} <= metadata("cases").keys()
    release = load_release(store, "small")
    assert release.gate["label_status"] == "construction_derived"
    assert {"benchmark", "cases", "end_to_end"} <= release.index.keys()
    assert release.scores["intervals"].keys() == release.scores.keys() - {"intervals", "gate"}
    (tmp_path / "expected").mkdir()
    (tmp_path / "expected" / "small.toml").write_text("[scores.bm25.test]\nndcg = 2.0\n")
    with pytest.raises(GateError, match=r"bm25\.test\.ndcg: expected 2\.0"):
        build_corpus(str(manifest), root, executor=lambda: ThreadPoolExecutor(1))
