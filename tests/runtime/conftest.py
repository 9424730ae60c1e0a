"""A small store with one accepted release, and ways to tamper with it."""

from pathlib import Path

import polars as pl
import pytest

from policyproof_assets.store import Store
from policyproof_runtime.digest import Digest
from policyproof_runtime.objects import object_name
from policyproof_runtime.release import Document, Phase, Release

SOURCE = b"%PDF-1.7 a source"


def make_document(name: str) -> Document:
    return Document(
        id=name,
        title=f"Title of {name}",
        publisher="A publisher",
        url="https://example.org/source.pdf",
        sha256=Digest.of(SOURCE),
        licence="public domain",
        version="1",
        status="active",
        classification="public",
        acl=("public",),
        pages=2,
    )


def make_release(store: Store, word: str = "word") -> Release:
    """Fill ``store`` with two phases of two documents and an index, and accept the release."""
    phases = {}
    for phase in ("pages", "passages"):
        parts = [
            store.put_part(name, pl.DataFrame({"document_id": [name] * 2, "text": [phase, word]}))
            for name in ("first", "second")
        ]
        phases[phase] = Phase.of(store.put_snapshot(parts))
    store.put_source(SOURCE, Digest.of(SOURCE))
    release = Release(
        corpus="demo",
        title="A demonstration",
        documents=(make_document("first"), make_document("second")),
        phases=phases,
        index={"bm25": store.put(pl.DataFrame({"term": [word], "weight": [0.5]}))},
        libraries={"pyarrow": "1"},
        models={"vocabulary": Digest.of(b"vocabulary")},
        retrieval={"k1": 1.2},
        gate={"threshold": 0.5},
        scores={"bm25": {"mrr": 0.75}},
    )
    store.put_release(release)
    return release


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def release(store: Store) -> Release:
    return make_release(store)


@pytest.fixture
def part(store: Store, release: Release) -> Path:
    """The file of one part of the release."""
    snapshot = store.snapshot(release.phase("passages").snapshot)
    return Path(store.storage.path(object_name(snapshot.part("second").object)))


@pytest.fixture
def overwrite():
    """Put other bytes in a read-only file of the store, as an intruder would."""

    def write(path: Path, data: bytes) -> None:
        path.chmod(0o644)
        path.write_bytes(data)

    return write
