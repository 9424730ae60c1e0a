"""One group of assets per corpus manifest, all made by one factory."""

import base64
import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import dagster as dg
import polars as pl

from policyproof_assets.build import Build
from policyproof_assets.evaluation.calibration import reliability
from policyproof_assets.evaluation.endtoend import count_outcomes
from policyproof_assets.evaluation.plots import methods_plot, reliability_plot
from policyproof_assets.manifests import Corpus
from policyproof_assets.pipeline import PHASES
from policyproof_assets.project import Project
from policyproof_assets.publish import Publisher
from policyproof_assets.store import Store
from policyproof_assets.views import by_document, frame_table, markdown_table, outline, sample
from policyproof_runtime.digest import Digest
from policyproof_runtime.objects import Part

#: What an asset made: the digest that is its data version, and what people see of it.
Made = tuple[Digest, dict[str, Any]]

_PURPOSE = {
    "pages": "The text of every page, as extracted.",
    "headings": "The headings of every document, wrapped lines joined.",
    "hierarchy": "The tree of headings, with the containers a document implies but does not print.",
    "spans": "Which lines stand under which heading.",
    "units": "Logical sources packed under a budget of words, at safe boundaries.",
    "ledger": "The one owner of every line: content, context, or a reason to leave it out.",
    "passages": "What is retrieved and cited: logical sources cut to the models' token budget.",
    "proofs": "The properties of provenance that were proved of every document.",
    "manifest": "The documents of the corpus and what is known of each.",
    "index": "Frozen retrieval weights.",
    "embeddings": "A vector per passage, if a model is named.",
    "splits": "Which question is for what.",
    "benchmarks": "Every question ranked and scored by every method.",
    "cases": "Evidence cases with labels, and what the trained gate makes of them.",
    "gate": "Checks every figure and freezes the release; nothing else writes one.",
}


def corpus_assets(project: Project, corpus: Corpus) -> list[dg.AssetsDefinition]:
    """Return the assets of one corpus in pipeline order."""

    def asset(name: str, deps: Sequence[str], make: Callable[[Build], Made]) -> dg.AssetsDefinition:
        @dg.asset(
            key=[corpus.group, name],
            deps=[dg.AssetKey([corpus.group, dep]) for dep in deps],
            group_name=corpus.group,
            description=_PURPOSE[name],
        )
        def made(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
            def progress(item: str, done: int, total: int) -> None:
                context.log.info("%s/%s %s", done, total, item)

            with Build(project, corpus, Store(), progress=progress) as build:
                digest, metadata = make(build)
            return dg.MaterializeResult(data_version=dg.DataVersion(digest.hex), metadata=metadata)

        return made

    phases = {"pages": ("manifest",)} | {phase.name: phase.inputs for phase in PHASES}
    served = ("index", "embeddings", "splits")
    checked = ("pages", "headings", "spans", "ledger", "proofs", "benchmarks", "cases")
    return [
        asset("manifest", (), _manifest),
        *(asset(name, deps, _phase(name)) for name, deps in phases.items()),
        asset("index", ("passages",), lambda build: _index(Publisher(build))),
        asset("embeddings", ("passages",), lambda build: _embeddings(Publisher(build))),
        asset("splits", ("passages",), lambda build: _splits(Publisher(build))),
        asset("benchmarks", served, lambda build: _benchmarks(Publisher(build))),
        asset("cases", served, lambda build: _cases(Publisher(build))),
        asset("gate", checked, lambda build: _gate(Publisher(build))),
    ]


def _manifest(build: Build) -> Made:
    columns = ("id", "title", "version", "status", "classification", "acl", "licence")
    rows = [[getattr(d, column) for column in columns] for d in build.corpus.documents]
    content = build.corpus.model_dump(mode="json", exclude={"folder"})
    return Digest.of_json(content), {"documents": len(rows), "table": _table(columns, rows)}


def _phase(name: str) -> Callable[[Build], Made]:
    def made(build: Build) -> Made:
        digest = build.phase(name).digest
        return digest, _shown(build.frame(digest)) | {"known": build.work.known}

    return made


def _index(publisher: Publisher) -> Made:
    parts = publisher.serving.indexes
    rows = [(name, part.rows, part.object) for name, part in parts.items()]
    digest = Digest.of_json({name: part.object for name, part in parts.items()})
    return digest, {"indexes": _table(("index", "rows", "digest"), rows)}


def _embeddings(publisher: Publisher) -> Made:
    snapshots = publisher.serving.embeddings
    names = ", ".join(model.id for model in publisher.serving.models.values())
    return Digest.of_json({name: snapshot.digest for name, snapshot in snapshots.items()}), {
        "dagster/row_count": sum(snapshot.rows for snapshot in snapshots.values()),
        "models": names or "the corpus names none",
    }


def _splits(publisher: Publisher) -> Made:
    splits = publisher.splits
    counts = sorted(Counter(splits.values()).items())
    table = _table(("split", "questions"), counts)
    return Digest.of_json(splits), {"dagster/row_count": len(splits), "by_split": table}


def _benchmarks(publisher: Publisher) -> Made:
    part = publisher.benchmark
    frame = publisher.table(part)
    rows = [
        (method, split, *scores.values())
        for method, splits in publisher.scores().items()
        for split, scores in splits.items()
    ]
    header = ("method", "split", "recall@10", "mrr@10", "hit@10", "ndcg@10")
    plot = {"plot": _picture(methods_plot(frame))} if rows else {}
    return part.object, _shown(frame) | {"scores": _table(header, rows)} | plot


def _cases(publisher: Publisher) -> Made:
    if not publisher.judged:
        return Digest.of_json({}), {"cases": "the corpus has none"}
    parts: dict[str, Part] = publisher.judged
    gate, cases, ended = (publisher.table(parts[n]) for n in ("gate", "cases", "end_to_end"))
    bins = reliability(cases["probability"].to_numpy(), cases["label"].to_numpy())
    return parts["cases"].object, _shown(cases) | {
        "scores": dg.MetadataValue.json(json.loads(gate["scores"][0])),
        "end_to_end": dg.MetadataValue.md(frame_table(count_outcomes(ended))),
        "reliability": dg.MetadataValue.md(frame_table(bins)),
        "reliability_plot": _picture(reliability_plot(cases)),
    }


def _gate(publisher: Publisher) -> Made:
    publisher.check()
    release = publisher.freeze_release()
    return release, {"release": release}


def _shown(frame: pl.DataFrame) -> dict[str, Any]:
    shown = {"sample": sample(frame)}
    if "document_id" in frame.columns:
        shown["by_document"] = by_document(frame)
    if "depth" in frame.columns:
        shown["outline"] = outline(frame)
    tables = {name: dg.MetadataValue.md(text) for name, text in shown.items()}
    return {"dagster/row_count": len(frame), **tables}


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> dg.MarkdownMetadataValue:
    return dg.MetadataValue.md(markdown_table(header, rows) if rows else "none")


def _picture(png: bytes) -> dg.MarkdownMetadataValue:
    return dg.MetadataValue.md(f"![plot](data:image/png;base64,{base64.b64encode(png).decode()})")
