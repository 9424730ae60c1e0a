"""Finding aids lead to the passage they were written for, or stop the build."""

import hashlib
from pathlib import Path

import polars as pl
import pytest

from policyproof_assets.errors import ManifestError
from policyproof_assets.finding_aids import load_finding_aids
from policyproof_assets.project import MANIFESTS

PASSAGES = pl.DataFrame({"passage_id": ["a", "b"], "citation_text": ["one", "two"]})


def write(path: Path, passage: str, text: str) -> Path:
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    path.write_text(f'{passage}:\n  text: "{digest}"\n  asks: ["Which?", "Why?"]\n')
    return path


def test_every_passage_has_its_questions_in_order(tmp_path: Path) -> None:
    path = write(tmp_path / "aid.yaml", "b", "two")
    assert load_finding_aids([path], PASSAGES) == ["", "Which?\nWhy?"]


@pytest.mark.parametrize(("passage", "text"), [("b", "changed"), ("c", "two")])
def test_an_entry_for_another_text_stops(tmp_path: Path, passage: str, text: str) -> None:
    path = write(tmp_path / "aid.yaml", passage, text)
    with pytest.raises(ManifestError, match=f"finding aid of {passage}"):
        load_finding_aids([path], PASSAGES)


def test_a_malformed_or_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "aid.yaml"
    with pytest.raises(ManifestError, match="no file at"):
        load_finding_aids([path], PASSAGES)
    path.write_text("a: {asks: []}")
    with pytest.raises(ManifestError, match="is not valid"):
        load_finding_aids([path], PASSAGES)


def test_the_bundled_finding_aids_are_named_by_a_corpus() -> None:
    bundled = {path.stem for path in (MANIFESTS / "finding_aids").glob("*.yaml")}
    named = (MANIFESTS / "corpora" / "ai-governance.toml").read_text()
    assert all(f'"{name}"' in named for name in bundled)
