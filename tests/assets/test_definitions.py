"""The asset graph as Dagster sees it."""

import dagster as dg
import pytest

from policyproof_assets.assets import corpus_assets
from policyproof_assets.checks import corpus_checks
from policyproof_assets.definitions import defs
from policyproof_assets.manifests import load_corpus
from policyproof_assets.project import Project
from policyproof_assets.store import Store

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
