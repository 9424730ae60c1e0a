"""The artifacts of a release as JSON lines, in the published fields and their order."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from policyproof_assets.corpus.profiles import load_profile
from policyproof_assets.errors import ManifestError
from policyproof_assets.export import structure, units
from policyproof_assets.export.records import Row, json_lines
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
    files = _files(project, project.corpus(name), frames)
    for file, records in files.items():
        with durable(folder / file) as out:
            out.writelines(json_lines(records))
    return [folder / file for file in files]


def _files(project: Project, corpus: Corpus, frames: dict) -> dict[str, Iterable[Row]]:
    if corpus.export is None:
        raise ManifestError(
            f"corpus {corpus.id} does not say how its export is named",
            action="add [export] with corpus_id, corpus_version and retrieved_date to its manifest",
        )
    names = corpus.export.model_dump()
    pages, headings, tree = frames["pages"], frames["headings"], frames["hierarchy"]
    profiles = {d.id: project.find(corpus, "profiles", d.profile) for d in corpus.documents}
    extractors = {name: load_profile(path).extract.extractor for name, path in profiles.items()}
    return {
        "pages.jsonl": structure.pages(pages, names, corpus, extractors),
        "heading-candidates.jsonl": structure.heading_candidates(headings, names, pages),
        "reconstructed-headings.jsonl": structure.reconstructed_headings(headings, names),
        "heading-hierarchy.jsonl": structure.heading_hierarchy(tree),
        "heading-spans.jsonl": structure.heading_spans(tree, headings, frames["spans"]),
        "retrieval-units.jsonl": units.retrieval_units(frames["units"]),
        "retrieval-coordinate-ledger.jsonl": units.retrieval_ledger(frames["ledger"]),
        "retrieval-passages.jsonl": units.retrieval_passages(frames["passages"]),
    }
