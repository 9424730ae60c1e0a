"""A small store with one accepted release, and ways to tamper with it."""

from pathlib import Path

import polars as pl
import pytest

from policyproof_assets.schemas import PASSAGES
from policyproof_assets.store import Store
from policyproof_runtime.bm25 import freeze
from policyproof_runtime.digest import Digest
from policyproof_runtime.features import COVERAGE, SCOPE
from policyproof_runtime.objects import object_name
from policyproof_runtime.references import find_references
from policyproof_runtime.release import Document, Phase, Release
from policyproof_runtime.sufficiency import WITHIN_REACH

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


def make_passage(document: str, label: str, lines: list[str], page: int, first: int) -> dict:
    """One passage of whole lines that stand together on a page."""
    text = "\n".join(lines)
    place = {"start_page": page, "start_line": first, "start_char": None, "end_char": None}
    place |= {"end_page": page, "end_line": first + len(lines) - 1}
    return dict.fromkeys(PASSAGES) | {
        "document_id": document,
        "passage_id": f"demo:{document}:page-{page:04}:line-{first:04}:passage-001",
        "label": label,
        "path": [label],
        "slices": [place],
        "retrieval_text": f"{label}\n\n{text}",
        "citation_text": text,
        "tokens": 1,
    }


def hand_gate() -> dict:
    """A gate to compute in the head: 1 for a question in scope, less 2.05 for each fault."""
    faults = {name for name in SCOPE if name not in {"names_corpus", "uncovered_terms"}}
    return {
        "kind": "scope-and-coverage",
        "label_status": "construction_derived",
        "threshold": 0.5,
        "scope_threshold": 0.5,
        "scope": {"intercept": 1, "weights": {n: -2.05 * (n in faults) for n in SCOPE}},
        "coverage": {
            "intercept": -20,
            "weights": dict.fromkeys(COVERAGE, 0.0) | {"worst_part_score": 10, WITHIN_REACH: 20},
        },
        "cues": {"legal_advice_boundary": [r"\blawsuit\b"]},
    }


SERVED = [
    make_passage("travel", "Article 1 — Booking", ["Flights are booked by the travel desk."], 1, 3),
    make_passage(
        "travel", "Article 2 — Meals", ["Meals abroad are paid up to", "a limit of 40."], 1, 7
    ),
    make_passage(
        "travel",
        "Article 3 — Claims",
        [
            *(f"Receipt rule {n}: keep each paper for the audit." for n in range(1, 15)),
            "A claim for mileage is filed within",
            "thirty days of the journey.",
            *(f"Card rule {n}: never lend a card to others." for n in range(1, 15)),
        ],
        2,
        1,
    ),
    make_passage("models", "Section 1 — Register", ["Every model has an owner."], 1, 2),
]


@pytest.fixture
def served(store: Store) -> Store:
    """A store with an accepted release of the corpus ``served`` that can be asked."""
    frame = pl.DataFrame(SERVED, PASSAGES)
    names = ("travel", "models")
    parts = [store.put_part(n, frame.filter(pl.col("document_id") == n)) for n in names]
    store.put_release(
        Release(
            corpus="served",
            title="A corpus that can be asked",
            documents=tuple(make_document(name) for name in names),
            phases={"passages": Phase.of(store.put_snapshot(parts))},
            index={
                "bm25": store.put(freeze(frame["retrieval_text"].to_list())),
                "references": store.put(
                    find_references(
                        *(frame[n].to_list() for n in ("document_id", "label", "path")),
                        frame["citation_text"].to_list(),
                        {},
                    )
                ),
            },
            libraries={},
            models={},
            retrieval={},
            gate=hand_gate(),
            scores={},
        )
    )
    return store
