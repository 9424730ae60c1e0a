"""From finished phases to a release: the benchmark, the checks and the gate.

Only ``freeze_release`` writes a release, and only after every check has passed.
"""

import json
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import fields, replace
from functools import cached_property
from typing import Any

import polars as pl

from policyproof_assets.build import Build, Progress, Work, libraries, no_progress
from policyproof_assets.evaluation.benchmarks import Question, check_passages, load_benchmark
from policyproof_assets.evaluation.cases import load_cases_manifest
from policyproof_assets.evaluation.grading import grade
from policyproof_assets.evaluation.retrieval import (
    intervals,
    mean_scores,
    score_questions,
    split_questions,
)
from policyproof_assets.figures import OBSERVED, check_figures, figures_table
from policyproof_assets.manifests import Document, read_toml
from policyproof_assets.project import Project
from policyproof_assets.serving import Serving
from policyproof_assets.store import Store
from policyproof_assets.workers import BoundedProcesses
from policyproof_runtime.digest import Digest
from policyproof_runtime.objects import Part
from policyproof_runtime.release import Document as ReleasedDocument
from policyproof_runtime.release import Phase, Release


class Publisher:
    """What is measured over all documents of a corpus, and the release it leads to."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._snapshots = build.phases()
        self.serving = Serving(build, self._snapshots["passages"])

    @cached_property
    def expected(self) -> dict[str, Any]:
        """The figures and scores the corpus must reproduce; empty if it states none."""
        path = self._build.project.data(self._build.corpus, "expected", ".toml")
        return read_toml(path) if path else {}

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """The benchmark of the corpus, checked against its passages; () if it has none."""
        path = self._build.project.data(self._build.corpus, "benchmarks", ".yaml")
        questions = load_benchmark(path) if path else ()
        if questions:
            check_passages(questions, self._passages)
        return questions

    @cached_property
    def splits(self) -> dict[str, str]:
        """Question id -> split."""
        if not self.questions:
            return {}
        columns = self._passages["passage_id", "source_key"]
        return split_questions(self.questions, dict(columns.iter_rows()))

    @property
    def _passages(self) -> pl.DataFrame:
        return self._build.frame(self._snapshots["passages"].digest)

    @cached_property
    def benchmark(self) -> Part:
        """The ranking and the scores of every benchmark question, by method."""
        inputs = (self._draft, self.questions, self.splits, self.serving.methods)
        return self._build.part("benchmark", score_questions, *inputs)

    def check(self) -> None:
        """Check the expected figures of every phase; raises GateError on the first that differs."""
        names = [name for name in OBSERVED if name in self.expected]
        snapshots = [self._snapshots[name] for name in names]
        part = self._build.part("figures", figures_table, names, *snapshots)
        for name, observed in self.table(part).iter_rows():
            check_figures(name, self.expected[name], json.loads(observed))

    def scores(self) -> dict[str, Any]:
        """Return method -> split -> metric -> mean; raises GateError if one expected differs."""
        scores = mean_scores(self.table(self.benchmark))
        expected, tolerances = (self.expected.get(name, {}) for name in ("scores", "tolerances"))
        check_figures("benchmark", expected, scores, tolerances)
        return scores

    def table(self, part: Part) -> pl.DataFrame:
        """Return the rows of a part made for the whole corpus."""
        return self._build.store.frame(part.object)

    @cached_property
    def judged(self) -> dict[str, Part]:
        """The trained gate, the cases it was measured on and what was answered end to end.

        Empty for a corpus without cases or questions: its release takes the gate that comes along.
        """
        path = self._build.project.data(self._build.corpus, "cases", ".yaml")
        if path is None or not self.questions:
            return {}
        manifest = load_cases_manifest(path)
        check_passages((*manifest.questions, *manifest.held_out), self._passages)
        inputs = (self._draft, manifest, self.questions, self.splits, self._cues)
        return self._build.parts(("gate", "cases", "end_to_end"), grade, *inputs)

    def freeze_release(self) -> Digest:
        """Write the release of checked phases and accept it; returns its digest."""
        scores, ends = self.scores(), intervals(self.table(self.benchmark))
        gate, judgement = self._gate()
        index = {**self._draft.index, "benchmark": self.benchmark.object}
        index |= {name: part.object for name, part in self.judged.items() if name != "gate"}
        scores |= {"intervals": ends} if ends else {}
        release = replace(self._draft, gate=gate, index=index, scores=scores | judgement)
        return self._build.store.put_release(release)

    @cached_property
    def _draft(self) -> Release:
        """The release as it is served, without gate and scores: what is measured."""
        serving, corpus = self.serving, self._build.corpus
        snapshots = {**self._snapshots, **serving.embeddings}
        left_out = sorted(self._build.work.left_out.items())
        return Release(
            corpus=corpus.id,
            title=corpus.title,
            documents=self._documents(),
            phases={name: Phase.of(snapshot) for name, snapshot in snapshots.items()},
            index={name: part.object for name, part in serving.indexes.items()},
            libraries=libraries(),
            models={k: v for model in serving.models.values() for k, v in model.digests().items()},
            retrieval=serving.rules,
            gate={},
            scores={},
            notes=tuple(f"left out: {name}: {error.message}" for name, error in left_out),
        )

    def _gate(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the trained gate and its scores, else the shared one."""
        if self.judged:
            [(params, scores)] = self.table(self.judged["gate"]).rows()
            return json.loads(params), {"gate": json.loads(scores)}
        path = self._build.project.manifests / "policy" / "gate.json"
        return json.loads(path.read_text(encoding="utf-8")) | {"cues": self._cues}, {}

    @cached_property
    def _cues(self) -> dict[str, Any]:
        return read_toml(self._build.project.manifests / "policy" / "cues.toml")

    def _documents(self) -> tuple[ReleasedDocument, ...]:
        counts = {part.document_id: part.rows for part in self._snapshots["pages"].parts}
        return tuple(_released(d, counts[d.id]) for d in self._build.documents)


def _released(document: Document, pages: int) -> ReleasedDocument:
    """Return what a release says of a document: the fields its manifest has, and its pages."""
    known = {f.name for f in fields(ReleasedDocument)} & set(Document.model_fields) - {"sha256"}
    values = {name: getattr(document, name) for name in known}
    return ReleasedDocument(**values, sha256=Digest(document.sha256), pages=pages)


def build_corpus(
    name: str,
    root: str | None = None,
    progress: Progress = no_progress,
    *,
    project: Project | None = None,
    keep_going: bool = False,
    executor: Callable[[], Executor] = BoundedProcesses,
) -> tuple[Digest, Work]:
    """Build the corpus ``name`` in the store at ``root``, check it and freeze its release.

    Returns the digest of the release and how much of the work was new. Raises a PolicyProofError
    with the reason if a document, a property or a figure stands in the way.
    """
    project = project or Project()
    corpus = project.corpus(name)
    with Build(project, corpus, Store(root), executor, progress, keep_going=keep_going) as build:
        publisher = Publisher(build)
        publisher.check()
        return publisher.freeze_release(), build.work
