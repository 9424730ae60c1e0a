"""Broken and malicious documents: a message with file and reason, never a hang or a traceback."""

import shutil
import time

import polars as pl
import pytest

from policyproof_assets import workers as bounds
from policyproof_assets.build import Build
from policyproof_assets.corpus.headings import find_headings
from policyproof_assets.corpus.hierarchy import build_hierarchy
from policyproof_assets.corpus.ledger import own_lines
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.markdown import front_matter
from policyproof_assets.corpus.passages import pack_passages
from policyproof_assets.corpus.profiles import Review, load_profile
from policyproof_assets.corpus.proofs import Evidence, prove_all
from policyproof_assets.corpus.reading import read_pages
from policyproof_assets.corpus.spans import measure_spans
from policyproof_assets.corpus.units import pack_units
from policyproof_assets.discover import discover
from policyproof_assets.errors import ExtractError, ManifestError
from policyproof_assets.manifests import Document
from policyproof_assets.project import Project
from policyproof_assets.store import Store
from policyproof_assets.workers import BoundedProcesses, run_each
from policyproof_runtime.tokenize import TokenCounter, pinned_vocabulary

from .hostile import MARKDOWN, MARKDOWN_MUTATORS, PDF_MUTATORS, mutations, sound_pdf

PDFS, MARKDOWNS = 208, 225
SECONDS = 10
DESCRIPTION = 'acl = ["staff"]\nclassification = "internal"\n'


@pytest.fixture(scope="module")
def workers():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "SECONDS_PER_TASK", SECONDS)
        executor = BoundedProcesses(2)
        yield executor
        executor.shutdown(cancel_futures=True)


@pytest.fixture(scope="module")
def counter(manifests):
    path = manifests / "models" / "bert-base-uncased-vocab.toml"
    return TokenCounter(pinned_vocabulary(path))


def document(name, kind):
    return Document(
        id=name,
        title=name,
        publisher="x",
        licence="x",
        version="1",
        status="active",
        classification="internal",
        acl=("staff",),
        path=name,
        profile=kind,
        sha256="0" * 64,
    )


def read_all(workers, profile, paths):
    """Read every file in a worker; returns {name: PAGES or ExtractError}."""
    tasks = [(p.name, (p, document(p.stem, "auto"), profile.extract, None)) for p in paths]
    return {tasks[i][0]: found for i, found in run_each(workers, read_pages, tasks)}


def follow(pages, profile, counter):
    """Run every phase after the pages; all lines owned and all properties proven."""
    review, lines = Review(document_id="doc"), Lines.from_pages(pages)
    headings = find_headings(lines, profile, review)
    tree = build_hierarchy(headings, profile)
    spans = measure_spans(lines, tree)
    units = pack_units(lines, tree, spans, profile, review, namespace="pp")
    ledger = own_lines(lines, headings, units, profile)
    passages = pack_passages(lines, units, tree, profile, review, counter)
    frames = {
        "pages": pages,
        "headings": headings,
        "hierarchy": tree,
        "spans": spans,
        "units": units,
        "ledger": ledger,
        "passages": passages,
    }
    prove_all(Evidence(lines, frames, profile, review))


def check(found, profile, counter):
    """Every file either goes the whole way or is refused with its name and the reason."""
    read = {name: pages for name, pages in found.items() if isinstance(pages, pl.DataFrame)}
    for name, error in found.items():
        if name not in read:
            assert isinstance(error, ExtractError), name
            assert name in error.message or name in str(error)
            assert error.diagnostics()
    for pages in read.values():
        if pages["text"].str.len_chars().sum() < 30_000:
            follow(pages, profile, counter)
    return len(read)


def test_mutated_pdfs(tmp_path, workers, manifests, counter):
    paths = []
    for name, data in mutations(sound_pdf(tmp_path / "sound.pdf"), PDF_MUTATORS, PDFS, seed=4):
        paths.append(tmp_path / f"{name}.pdf")
        paths[-1].write_bytes(data)
    profile = load_profile(manifests / "profiles" / "auto.toml")
    read = check(read_all(workers, profile, paths), profile, counter)
    assert 40 < read < PDFS - 40  # both ways are taken


def test_mutated_markdown(tmp_path, workers, manifests, counter):
    paths = []
    sound = MARKDOWN.format(name="x").encode()
    for name, data in mutations(sound, MARKDOWN_MUTATORS, MARKDOWNS, seed=4):
        paths.append(tmp_path / f"{name}.md")
        paths[-1].write_bytes(data)
    profile = load_profile(manifests / "profiles" / "markdown.toml")
    read = check(read_all(workers, profile, paths), profile, counter)
    assert 40 < read < MARKDOWNS - 20


def test_mutated_front_matter(tmp_path):
    refused = 0
    sound = MARKDOWN.format(name="x").encode()
    for name, data in mutations(sound, MARKDOWN_MUTATORS, MARKDOWNS, seed=5):
        path = tmp_path / f"{name}.md"
        path.write_bytes(data)
        error = fault_of(front_matter, path)
        refused += error is not None
        assert error is None or name in error.message
    assert refused > 20


def fault_of(read, path):
    try:
        read(path)
    except ManifestError as error:
        return error
    return None


def test_a_pdf_that_claims_very_many_pages_costs_nothing(tmp_path, manifests):
    data = sound_pdf(tmp_path / "sound.pdf").replace(b"/Count 3", b"/Count 900000000")
    path = tmp_path / "many.pdf"
    path.write_bytes(data)
    rules = load_profile(manifests / "profiles" / "auto.toml").extract
    start = time.perf_counter()
    assert read_pages(path, document("many", "auto"), rules, None).height == 3
    assert time.perf_counter() - start < 10


def test_other_documents_are_built_when_asked_to_continue(tmp_path, manifests):
    folder = tmp_path / "docs"
    folder.mkdir()
    data = sound_pdf(folder / "sound.pdf")
    (folder / "cut.pdf").write_bytes(data[: len(data) // 3])
    (folder / "empty.pdf").write_bytes(b"")
    for name in ("sound", "cut", "empty"):
        (folder / f"{name}.toml").write_text(DESCRIPTION)
    (folder / "good.md").write_text(MARKDOWN.format(name="good"))
    (folder / "nothing.md").write_text("---\nacl: [staff]\nclassification: internal\n---\n\n")
    places = (Project(manifests), discover(folder), Store(tmp_path / "store"))
    with Build(*places, executor=lambda: BoundedProcesses(1), keep_going=True) as build:
        parts = build.phases()["passages"].parts
    assert [part.document_id for part in parts] == ["good-v1", "sound-v1"]
    assert set(build.work.left_out) == {"cut-v1", "empty-v1", "nothing-v1"}
    assert all(str(error) for error in build.work.left_out.values())
    shutil.rmtree(folder)
