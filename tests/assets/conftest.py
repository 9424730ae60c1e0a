"""Fixtures of the accepted corpus: its pages, and our records of its structure."""

import gzip
import json
import tomllib
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

from policyproof_assets.corpus.headings import find_headings
from policyproof_assets.corpus.hierarchy import build_hierarchy
from policyproof_assets.corpus.ledger import own_lines
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.passages import pack_passages
from policyproof_assets.corpus.profiles import Profile, Review, load_profile, load_review
from policyproof_assets.corpus.spans import measure_spans
from policyproof_assets.corpus.units import pack_units
from policyproof_assets.manifests import load_corpus
from policyproof_assets.schemas import PAGES
from policyproof_runtime.tokenize import TokenCounter, pinned_vocabulary

MANIFESTS = Path(__file__).resolve().parents[2] / "manifests"


class Structure(NamedTuple):
    """One document of the accepted corpus as far as its spans."""

    pages: pl.DataFrame
    profile: Profile
    review: Review
    lines: Lines
    headings: pl.DataFrame
    hierarchy: pl.DataFrame
    spans: pl.DataFrame


@pytest.fixture(scope="session")
def manifests() -> Path:
    return MANIFESTS


@pytest.fixture(scope="session")
def corpus():
    return load_corpus(MANIFESTS / "corpora" / "ai-governance.toml")


@pytest.fixture(scope="session")
def accepted(shared):
    """Read the accepted records of one file, without the suffix."""

    def read(name: str) -> list[dict]:
        with gzip.open(shared / "oracle" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    return read


@pytest.fixture(scope="session")
def accepted_pages(accepted) -> pl.DataFrame:
    """The accepted page texts (columns of PAGES), documents in corpus order."""
    return pl.DataFrame(
        [
            {"document_id": r["document_id"], "page": r["page_number"], "text": r["text"]}
            for r in accepted("pages")
        ],
        schema=PAGES,
    )


@pytest.fixture(scope="session")
def structures(corpus, accepted_pages) -> dict[str, Structure]:
    """Our structure of each document of the accepted corpus, by document id, in corpus order."""
    found = {}
    for document in corpus.documents:
        pages = accepted_pages.filter(pl.col("document_id") == document.id)
        profile = load_profile(MANIFESTS / "profiles" / f"{document.profile}.toml")
        review = load_review(MANIFESTS / "reviews" / f"{document.id}.toml")
        found[document.id] = Structure(pages, profile, review, *structure(pages, profile, review))
    return found


def structure(pages: pl.DataFrame, profile: Profile, review: Review):
    lines = Lines.from_pages(pages)
    headings = find_headings(lines, profile, review)
    hierarchy = build_hierarchy(headings, profile)
    return lines, headings, hierarchy, measure_spans(lines, hierarchy)


@pytest.fixture(scope="session")
def read_structure():
    """The phases from pages to spans as one function of (pages, profile, review)."""
    return structure


class Packed(NamedTuple):
    """Our units, ledger and passages of the whole accepted corpus, documents in corpus order."""

    units: pl.DataFrame
    ledger: pl.DataFrame
    passages: pl.DataFrame


@pytest.fixture(scope="session")
def expected() -> dict:
    """The figures a build of the accepted corpus must reproduce."""
    return tomllib.loads((MANIFESTS / "expected" / "ai-governance.toml").read_text("utf-8"))


@pytest.fixture(scope="session")
def counter() -> TokenCounter:
    manifest = MANIFESTS / "models" / "bert-base-uncased-vocab.toml"
    return TokenCounter(pinned_vocabulary(manifest))


@pytest.fixture(scope="session")
def packed(structures, corpus, counter) -> Packed:
    found = [packed_document(s, corpus.namespace, counter) for s in structures.values()]
    return Packed(*(pl.concat(frames) for frames in zip(*found, strict=True)))


def packed_document(s: Structure, namespace: str, counter: TokenCounter) -> Packed:
    units = pack_units(s.lines, s.hierarchy, s.spans, s.profile, s.review, namespace=namespace)
    ledger = own_lines(s.lines, s.headings, units, s.profile)
    passages = pack_passages(s.lines, units, s.hierarchy, s.profile, s.review, counter)
    return Packed(units, ledger, passages)
