"""The releases kept in the repository: what an accepted build froze can be made again."""

import pytest

from policyproof_assets.build import Build
from policyproof_assets.pipeline import PHASES
from policyproof_assets.project import Project
from policyproof_assets.store import Store
from policyproof_runtime.digest import Digest
from policyproof_runtime.release import Release


@pytest.fixture
def frozen(manifests):
    (path,) = (manifests / "releases" / "ai-governance").glob("*.json")
    return path


def test_a_kept_release_is_named_by_its_digest(frozen):
    assert Digest.of(frozen.read_bytes()).hex == frozen.stem


def test_a_build_gives_the_phases_of_the_kept_release(frozen, shared, tmp_path, monkeypatch):
    monkeypatch.setenv("POLICYPROOF_SOURCES", str(shared / "sources"))
    release = Release.from_json(frozen.read_bytes())
    project = Project()
    with Build(project, project.corpus(release.corpus), Store(str(tmp_path))) as build:
        made = {name: snapshot.content for name, snapshot in build.phases().items()}
    names = ["pages", *(phase.name for phase in PHASES)]
    assert made == {name: release.phase(name).content for name in names}
