"""The engine on documents it was not made for: provenance holds, or the build says why it stops."""

import hashlib
import re
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import polars as pl
import pytest

from policyproof_assets.build import Build
from policyproof_assets.corpus.profiles import load_profile, load_review
from policyproof_assets.corpus.proofs import PROPERTIES
from policyproof_assets.errors import ReviewError
from policyproof_assets.pipeline import PHASES, Job, run_phases
from policyproof_assets.project import Project
from policyproof_assets.store import Store
from policyproof_runtime.diff import compare, pieces
from policyproof_runtime.errors import PolicyProofError
from policyproof_runtime.passages import Passages

DOCUMENTS = ["nist-ai-rmf-1.0", "nist-ai-600-1-genai-profile"]
DOCUMENTS += ["eu-ai-act-2024-1689", "openai-gpt-4o-system-card-2024-08-08"]
REVIEWED = "eu-ai-act-2024-1689"
PLACE = re.compile(r"page[ -]\d+,?[ :]line[ -]\d+")


class Built(NamedTuple):
    proofs: pl.DataFrame
    passages: list


@pytest.fixture
def original(accepted_pages):
    return lambda name: accepted_pages.filter(pl.col("document_id") == name)


@pytest.fixture
def build(corpus, tmp_path):
    """Run every phase and proof of one document on pages of our making."""
    project, store = Project(), Store(tmp_path / "store")

    def run(name, pages, *rows) -> Built:
        document = corpus.document(name)
        review = load_review(project.review(corpus, name))
        job = Job(
            store=store,
            document=document,
            namespace=corpus.namespace,
            profile=load_profile(project.find(corpus, "profiles", document.profile)),
            review=review.model_validate({"document_id": name, "rows": [*review.rows, *rows]}),
            vocabulary=project.model("bert-base-uncased-vocab"),
            rules=defaultdict(str),  # only the memo needs them, and this store is new
        )
        start = {"pages": store.put_part(name, pages)}
        parts = run_phases(job, start, [phase.name for phase in PHASES])
        table = store.table(parts["passages"].object)
        found = pieces(Passages(table, {}), scoped=False)
        return Built(store.frame(parts["proofs"].object), found)

    return run


def outcome(build, name, pages) -> tuple[pl.DataFrame | None, PolicyProofError | None]:
    try:
        return build(name, pages).proofs, None
    except PolicyProofError as error:
        return None, error


def with_text(pages, index, text):
    texts = pages["text"].to_list()
    texts[index] = text
    return pages.with_columns(text=pl.Series(texts))


def with_line(pages, page, line, change):
    """Change one line (counted from 1) of the page with the number ``page``."""
    index = pages["page"].to_list().index(page)
    lines = pages["text"][index].splitlines()
    lines[line - 1] = change(lines[line - 1])
    return with_text(pages, index, "\n".join(lines))


def without_page(pages, index):
    kept = pl.concat([pages[:index], pages[index + 1 :]])
    return kept.with_columns(page=pl.Series(range(1, len(kept) + 1), dtype=pl.Int32))


def with_pages_swapped(pages, index):
    first, second = pages["text"][index], pages["text"][index + 1]
    return with_text(with_text(pages, index, second), index + 1, first)


def test_the_later_version_of_a_document_goes_through_the_whole_engine(corpus, shared, tmp_path):
    path = next((shared / "sources").glob("later-version--*.pdf"))
    document = corpus.document(path.stem.partition("--")[2])
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert digest != document.sha256
    changes = {"sha256": digest, "url": None, "path": str(path)}
    later = corpus.model_copy(update={"documents": (document.model_copy(update=changes),)})
    store = Store(tmp_path)
    with Build(Project(), later, store, executor=lambda: ThreadPoolExecutor(2)) as work:
        proofs = work.phases()["proofs"]
    assert store.phase_frame(proofs.digest)["property"].to_list() == [p.name for p in PROPERTIES]


@pytest.mark.parametrize("alter", [without_page, with_pages_swapped])
@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_provenance_holds_or_the_build_stops_at_a_place(name, share, alter, original, build):
    pages = original(name)
    proofs, error = outcome(build, name, alter(pages, int(share * len(pages))))
    if error is None:
        assert proofs["property"].to_list() == [p.name for p in PROPERTIES]
        return
    assert name in error.message
    assert PLACE.search(error.message)
    assert (error.expected, error.found) != (None, None)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_one_altered_line_changes_one_text(name, original, build):
    pages = original(name)
    page = pages["page"][len(pages) // 2]
    altered = with_line(pages, page, 12, lambda line: f"Altered {line}")
    found = compare(build(name, pages).passages, build(name, altered).passages)
    assert [(w.old, w.new) for change in found.changes for w in change.words] == [("", "Altered")]


@pytest.mark.parametrize("kind", ["long_source", "cut_in_line"])
def test_a_review_row_whose_text_moved_stops_the_build(kind, original, build):
    rows = load_review(Project().manifests / "reviews" / f"{REVIEWED}.toml").rows
    number, row = next((n, row) for n, row in enumerate(rows, 1) if row.kind == kind)
    pages = with_line(original(REVIEWED), row.page, row.line, lambda line: f"Altered {line}")
    name = f"review row {number} ({kind}, page {row.page}, line {row.line}) does not match"
    with pytest.raises(ReviewError, match=re.escape(name)) as failure:
        build(REVIEWED, pages)
    assert failure.value.expected != failure.value.found


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_review_row_that_decides_nothing_stops_the_build(name, original, build):
    pages = original(name)
    page, text = next(pages[len(pages) // 2 :].select("page", "text").iter_rows())
    line = " ".join(text.splitlines()[11].split())
    row = {"kind": "not_heading", "page": page, "line": 12, "text": line, "reason": "a test"}
    where = f"(not_heading, page {page}, line 12) decides nothing"
    with pytest.raises(ReviewError, match=re.escape(where)):
        build(name, pages, row)
