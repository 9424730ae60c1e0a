"""The artifacts of a release as JSON lines, in the published fields and their order."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from policyproof_assets.corpus.profiles import load_profile
from policyproof_assets.errors import ManifestError
from policyproof_assets.export.pages import pages
from policyproof_assets.export.records import Row, json_lines
from policyproof_assets.export.structure import (
    heading_candidates,
    heading_hierarchy,
    heading_spans,
    reconstructed_headings,
)
from policyproof_assets.export.units import (
    retrieval_ledger,
    retrieval_passages,
    retrieval_units,
)
from policyproof_assets.manifests import Corpus
from policyproof_assets.project import Project
from policyproof_assets.store import Store
from policyproof_runtime.release import load_release
from policyproof_runtime.storage import durable

__all__ = ["export_jsonl"]


def export_jsonl(name: str, root: str | None, folder: Path) -> list[Path]:
    """Write the eight files of the newest release of corpus ``name`` into ``folder``.

    Returns the paths written. Raises ManifestError if the corpus has no [export] section, which
    gives the names under which the files know it.
    """
    project, store = Project(), Store(root)
    release = load_release(store, name)
    frames = {phase: store.phase_frame(entry.snapshot) for phase, entry in release.phases.items()}
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for file, records in _files(project, project.corpus(name), frames).items():
        path = folder / file
        with durable(path) as out:
            out.writelines(json_lines(records))
        written.append(path)
    return written


def _files(project: Project, corpus: Corpus, frames: dict) -> dict[str, Iterable[Row]]:
    identity = corpus.export
    if identity is None:
        raise ManifestError(
            f"corpus {corpus.id} does not say how its export is named",
            action="add [export] with corpus_id, corpus_version and retrieved_date to its manifest",
        )
    names = identity.corpus_id, identity.corpus_version
    page, heading, tree = frames["pages"], frames["headings"], frames["hierarchy"]
    return {
        "pages.jsonl": pages(page, corpus, identity, _extractors(project, corpus)),
        "heading-candidates.jsonl": heading_candidates(page, heading, *names),
        "reconstructed-headings.jsonl": reconstructed_headings(heading, *names),
        "heading-hierarchy.jsonl": heading_hierarchy(tree),
        "heading-spans.jsonl": heading_spans(heading, tree, frames["spans"]),
        "retrieval-units.jsonl": retrieval_units(frames["units"]),
        "retrieval-coordinate-ledger.jsonl": retrieval_ledger(frames["ledger"]),
        "retrieval-passages.jsonl": retrieval_passages(frames["passages"]),
    }


def _extractors(project: Project, corpus: Corpus) -> dict[str, str]:
    return {
        document.id: load_profile(
            project.find(corpus, "profiles", document.profile)
        ).extract.extractor
        for document in corpus.documents
    }
