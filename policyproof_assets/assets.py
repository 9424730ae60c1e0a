"""One group of assets per corpus manifest, all made by one factory."""

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import dagster as dg
import polars as pl

from policyproof_assets.build import Build, open_build
from policyproof_assets.evaluation.confidence import methods_plot
from policyproof_assets.evaluation.endtoend import endtoend_table
from policyproof_assets.evaluation.plots import reliability_plot
from policyproof_assets.manifests import Corpus
from policyproof_assets.pipeline import PHASES
from policyproof_assets.project import Project
from policyproof_assets.publish import Publisher
from policyproof_assets.store import Store
from policyproof_assets.views import by_document, markdown_table, outline, sample
from policyproof_runtime.digest import Digest

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
    gate_deps = ("pages", "headings", "spans", "ledger", "proofs", "benchmarks", "cases")
    return [
        _wide_asset(desk, "index", ("passages",), "Frozen retrieval weights.", _index),
        _wide_asset(
            desk, "embeddings", ("passages",), "A vector per passage, if a model is named.", _embed
        ),
        _wide_asset(desk, "splits", ("passages",), "Which question is for what.", _splits),
        _wide_asset(
            desk,
            "benchmarks",
            ("index", "embeddings", "splits"),
            "Every question ranked and scored by every method.",
            _benchmark,
        ),
        _wide_asset(
            desk,
            "cases",
            ("index", "embeddings", "splits"),
            "Evidence cases with labels, and what the trained gate makes of them.",
            _cases,
        ),
        _wide_asset(
            desk,
            "gate",
            gate_deps,
            "Checks every figure and freezes the release; nothing else writes one.",
            _gate,
        ),
    ]


Make = Callable[[Publisher], dg.MaterializeResult]


def _wide_asset(
    desk: _Desk, name: str, deps: tuple[str, ...], purpose: str, make: Make
) -> dg.AssetsDefinition:
    @dg.asset(**desk.options(name, deps, purpose))
    def wide(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
        with desk.build(context) as build:
            return make(Publisher(build, build.phases()))

    return wide


def _index(publisher: Publisher) -> dg.MaterializeResult:
    parts = publisher.serving.indexes
    rows = [(name, part.rows, part.object) for name, part in parts.items()]
    return dg.MaterializeResult(
        data_version=_data_version(Digest.of_json({n: p.object for n, p in parts.items()})),
        metadata={"indexes": _table(("index", "rows", "digest"), rows)},
    )


def _embed(publisher: Publisher) -> dg.MaterializeResult:
    snapshots = publisher.serving.embeddings
    digests = {name: snapshot.digest for name, snapshot in snapshots.items()}
    models = [model.id for model in publisher.serving.models.values()]
    return dg.MaterializeResult(
        data_version=_data_version(Digest.of_json(digests)),
        metadata={
            "dagster/row_count": sum(snapshot.rows for snapshot in snapshots.values()),
            "models": ", ".join(models) or "the corpus names none",
        },
    )


def _splits(publisher: Publisher) -> dg.MaterializeResult:
    splits = publisher.splits
    counts = sorted(Counter(splits.values()).items())
    return dg.MaterializeResult(
        data_version=_data_version(Digest.of_json(splits)),
        metadata={
            "dagster/row_count": len(splits),
            "by_split": _table(("split", "questions"), counts),
        },
    )


def _benchmark(publisher: Publisher) -> dg.MaterializeResult:
    frame = publisher.table(publisher.benchmark)
    rows = [
        (method, split, *scores.values())
        for method, splits in publisher.scores().items()
        for split, scores in splits.items()
    ]
    header = ("method", "split", "recall@10", "mrr@10", "hit@10", "ndcg@10")
    more = {"scores": _table(header, rows)}
    if rows:
        more["plot"] = _picture(methods_plot(frame))
    return _result(publisher.benchmark.object, frame, more)


def _cases(publisher: Publisher) -> dg.MaterializeResult:
    judged = publisher.judged
    if not judged:
        return dg.MaterializeResult(metadata={"cases": "the corpus has none"})
    frame = publisher.table(judged["cases"])
    ended = publisher.table(judged["end_to_end"])
    numbers = json.loads(publisher.table(judged["gate"])["scores"][0])
    more = {
        "scores": dg.MetadataValue.json(numbers),
        "end_to_end": dg.MetadataValue.md(endtoend_table(ended)),
        "reliability": _picture(reliability_plot(frame)),
    }
    return _result(judged["cases"].object, frame, more)


def _gate(publisher: Publisher) -> dg.MaterializeResult:
    publisher.check()
    release = publisher.freeze_release()
    return dg.MaterializeResult(data_version=_data_version(release), metadata={"release": release})


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> dg.MarkdownMetadataValue:
    return dg.MetadataValue.md(markdown_table(header, rows) if rows else "none")


def _picture(png: bytes) -> dg.MarkdownMetadataValue:
    return dg.MetadataValue.md(f"![plot](data:image/png;base64,{base64.b64encode(png).decode()})")


def _data_version(digest: Digest) -> dg.DataVersion:
    return dg.DataVersion(digest.hex)
