"""One group of assets per corpus manifest, all made by one factory."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import dagster as dg
import polars as pl

from policyproof_assets.build import Build, open_build
from policyproof_assets.manifests import Corpus
from policyproof_assets.pipeline import PHASES
from policyproof_assets.project import Project
from policyproof_assets.publish import Publisher
from policyproof_assets.store import Store
from policyproof_assets.views import by_document, markdown_table, outline, sample
from policyproof_runtime.digest import Digest
from policyproof_runtime.objects import Snapshot

_PURPOSE = {
    "pages": "The text of every page, as extracted.",
    "headings": "The headings of every document, wrapped lines joined.",
    "hierarchy": "The tree of headings, with the containers a document implies but does not print.",
    "spans": "Which lines stand under which heading.",
    "units": "Logical sources packed under a budget of words, at safe boundaries.",
    "ledger": "The one owner of every line: content, context, or a reason to leave it out.",
    "passages": "What is retrieved and cited: logical sources cut to the models' token budget.",
    "proofs": "The properties of provenance that were proved of every document.",
}


def corpus_assets(project: Project, corpus: Corpus) -> list[dg.AssetsDefinition]:
    """Return the assets of one corpus in pipeline order."""
    desk = _Desk(project, corpus)
    phases = [_phase_asset(desk, "pages", ("manifest",))]
    phases += [_phase_asset(desk, phase.name, phase.inputs) for phase in PHASES]
    return [_manifest_asset(desk), *phases, *_corpus_wide(desk)]


class _Desk:
    """What every asset of a corpus shares."""

    def __init__(self, project: Project, corpus: Corpus) -> None:
        self.project = project
        self.corpus = corpus

    def key(self, name: str) -> dg.AssetKey:
        return dg.AssetKey([self.corpus.group, name])

    def options(self, name: str, deps: tuple[str, ...], purpose: str) -> dict[str, Any]:
        return {
            "key": self.key(name),
            "deps": [self.key(dep) for dep in deps],
            "group_name": self.corpus.group,
            "description": purpose,
        }

    @contextmanager
    def build(self, context: dg.AssetExecutionContext) -> Iterator[Build]:
        def progress(item: str, done: int, total: int) -> None:
            context.log.info("%s/%s %s", done, total, item)

        with open_build(self.project, self.corpus, Store(), progress=progress) as build:
            yield build


def _manifest_asset(desk: _Desk) -> dg.AssetsDefinition:
    @dg.asset(
        **desk.options("manifest", (), "The documents of the corpus and what is known of each.")
    )
    def manifest() -> dg.MaterializeResult:
        rows = [
            (d.id, d.title, d.version, d.status, d.classification, ", ".join(d.acl), d.licence)
            for d in desk.corpus.documents
        ]
        header = ("id", "title", "version", "status", "classification", "acl", "licence")
        content = desk.corpus.model_dump(mode="json", exclude={"folder"})
        return dg.MaterializeResult(
            data_version=_data_version(Digest.of_json(content)),
            metadata={
                "documents": len(rows),
                "table": dg.MetadataValue.md(markdown_table(header, rows)),
            },
        )

    return manifest


def _phase_asset(desk: _Desk, name: str, deps: tuple[str, ...]) -> dg.AssetsDefinition:
    @dg.asset(**desk.options(name, deps, _PURPOSE[name]))
    def phase(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
        with desk.build(context) as build:
            snapshot = build.phase(name)
            frame = build.store.phase_frame(snapshot.digest)
            return _result(snapshot.digest, frame, {"known": build.work.known})

    return phase


def _result(digest: Digest, frame: pl.DataFrame, more: Mapping[str, Any]) -> dg.MaterializeResult:
    metadata: dict[str, Any] = {
        "dagster/row_count": len(frame),
        "digest": str(digest),
        "sample": dg.MetadataValue.md(sample(frame)),
        **more,
    }
    if "document_id" in frame.columns:
        metadata["by_document"] = dg.MetadataValue.md(by_document(frame))
    if "depth" in frame.columns:
        metadata["outline"] = dg.MetadataValue.md(outline(frame))
    return dg.MaterializeResult(data_version=_data_version(digest), metadata=metadata)


def _corpus_wide(desk: _Desk) -> list[dg.AssetsDefinition]:
    """Return the assets that look at all documents of a corpus."""
    return [
        _wide_asset(desk, "index", ("passages",), "Frozen retrieval weights.", _index),
        _wide_asset(desk, "splits", ("passages",), "Which question is for what.", _splits),
        _wide_asset(
            desk, "benchmarks", ("index", "splits"), "Every question ranked and scored.", _benchmark
        ),
        _wide_asset(
            desk,
            "gate",
            ("pages", "headings", "spans", "ledger", "proofs", "benchmarks"),
            "Checks every figure and freezes the release; nothing else writes one.",
            _gate,
        ),
    ]


Make = Callable[[Publisher, Mapping[str, Snapshot]], dg.MaterializeResult]


def _wide_asset(
    desk: _Desk, name: str, deps: tuple[str, ...], purpose: str, make: Make
) -> dg.AssetsDefinition:
    @dg.asset(**desk.options(name, deps, purpose))
    def wide(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
        with desk.build(context) as build:
            return make(Publisher(build), build.phases())

    return wide


def _index(publisher: Publisher, snapshots: Mapping[str, Snapshot]) -> dg.MaterializeResult:
    part = publisher.index(snapshots["passages"])
    return _result(part.object, publisher.table(part), {})


def _splits(publisher: Publisher, snapshots: Mapping[str, Snapshot]) -> dg.MaterializeResult:
    splits = publisher.splits(snapshots["passages"])
    frame = pl.DataFrame(
        {"question_id": list(splits), "split": list(splits.values())},
        schema={"question_id": pl.String, "split": pl.String},
    )
    counts = frame.group_by("split").len().sort("split")
    table = markdown_table(counts.columns, counts.rows())
    return _result(Digest.of_json(splits), frame, {"by_split": dg.MetadataValue.md(table)})


def _benchmark(publisher: Publisher, snapshots: Mapping[str, Snapshot]) -> dg.MaterializeResult:
    part = publisher.benchmark(snapshots["passages"])
    rows = [
        (method, split, *scores.values())
        for method, splits in publisher.scores(part).items()
        for split, scores in splits.items()
    ]
    header = ("method", "split", "recall@10", "mrr@10", "hit@10", "ndcg@10")
    table = markdown_table(header, rows) if rows else "no benchmark"
    return _result(part.object, publisher.table(part), {"scores": dg.MetadataValue.md(table)})


def _gate(publisher: Publisher, snapshots: Mapping[str, Snapshot]) -> dg.MaterializeResult:
    publisher.check(snapshots)
    release = publisher.freeze_release(snapshots)
    return dg.MaterializeResult(
        data_version=_data_version(release), metadata={"release": str(release)}
    )


def _data_version(digest: Digest) -> dg.DataVersion:
    return dg.DataVersion(digest.hex)
