"""The digest of a phase's code follows its imports."""

import sys

import pytest

from policyproof_assets import code


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "policyproof_assets_probe"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "phase.py").write_text("from policyproof_assets_probe import helper\n")
    (folder / "helper.py").write_text("LIMIT = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(code, "_OURS", ("policyproof_assets_probe",))
    yield folder
    for cached in (code.code_digest, code._source, code._imports):
        cached.cache_clear()
    for name in [n for n in sys.modules if n.startswith("policyproof_assets_probe")]:
        del sys.modules[name]


def digest():
    for cached in (code.code_digest, code._source, code._imports):
        cached.cache_clear()
    return code.code_digest("policyproof_assets_probe.phase")


def test_a_change_in_an_imported_module_changes_the_digest(package):
    before = digest()
    (package / "helper.py").write_text("LIMIT = 2\n")
    assert digest() != before


def test_a_module_that_is_not_imported_does_not_count(package):
    before = digest()
    (package / "other.py").write_text("LIMIT = 2\n")
    assert digest() == before
