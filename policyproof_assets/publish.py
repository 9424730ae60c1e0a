"""From finished phases to a release: the benchmark, the checks and the gate.

Only ``freeze_release`` writes a release, and only after every check has passed.
"""

import json
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import fields, replace
from functools import cache, cached_property
from typing import Any

import polars as pl

from policyproof_assets.build import Build, Progress, Work, libraries, no_progress, open_build
from policyproof_assets.code import code_digest
from policyproof_assets.evaluation.benchmarks import Question, check_passages, load_benchmark
from policyproof_assets.evaluation.cases import load_cases_manifest
from policyproof_assets.evaluation.confidence import intervals
from policyproof_assets.evaluation.retrieval import mean_scores, score_questions, split_questions
from policyproof_assets.figures import OBSERVED, check_figures, observe
from policyproof_assets.grading import grade
from policyproof_assets.manifests import Document, read_toml
from policyproof_assets.project import Project
from policyproof_assets.serving import Serving
from policyproof_assets.store import Store
from policyproof_assets.workers import BoundedProcesses
from policyproof_runtime.corpus import Corpus
from policyproof_runtime.digest import Digest
from policyproof_runtime.objects import Part, Snapshot
from policyproof_runtime.release import Document as ReleasedDocument
from policyproof_runtime.release import Phase, Release


class Publisher:
    """What is measured over all documents of a corpus, and the release it leads to."""

    def __init__(self, build: Build, snapshots: Mapping[str, Snapshot]) -> None:
        self._build = build
        self._snapshots = snapshots
        self._passages = snapshots["passages"]
        self.corpus = build.corpus
        self.serving = Serving(build, self._passages)

    @cached_property
    def expected(self) -> dict[str, Any]:
        """The figures and scores the corpus must reproduce; empty if it states none."""
        path = self._build.project.data(self.corpus, "expected", ".toml")
        return read_toml(path) if path else {}

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """The benchmark of the corpus, checked against its passages; () if it has none."""
        path = self._build.project.data(self.corpus, "benchmarks", ".yaml")
        questions = load_benchmark(path) if path else ()
        if questions:
            check_passages(questions, self._build.frame(self._passages))
        return questions

    @cached_property
    def splits(self) -> dict[str, str]:
        """Question id -> split."""
        if not self.questions:
            return {}
        frame = self._build.frame(self._passages)
        source_of = dict(zip(frame["passage_id"], frame["source_key"], strict=True))
        return split_questions(self.questions, source_of)

    @cached_property
    def benchmark(self) -> Part:
        """The ranking and the scores of every benchmark question, by method."""
        serving = self.serving
        inputs = {
            "passages": self._passages.digest,
            "questions": self._digest_of_questions,
            "retrieval": Digest.of_json(serving.rules),
            # Whatever ranks is part of what was measured.
            "methods": code_digest("policyproof_assets.serving"),
            **{name: part.object for name, part in serving.indexes.items()},
            **{name: snapshot.digest for name, snapshot in serving.embeddings.items()},
        }
        module = "policyproof_assets.evaluation.retrieval"
        return self._build.part("benchmark", module, inputs, self._scored)

    def _scored(self) -> pl.DataFrame:
        if not self.questions:
            return score_questions((), {}, {})
        ids = self._build.frame(self._passages)["passage_id"].to_list()
        ranks = {
            name: lambda question, k, rank=rank: [ids[i] for i, _ in rank(question, k)]
            for name, rank in self.serving.methods().items()
        }
        return score_questions(self.questions, self.splits, ranks)

    def figures(self) -> dict[str, Any]:
        """Return the figures of every phase that something is expected of, by phase."""
        names = [n for n in OBSERVED if n in self._snapshots and n in self.expected]

        def frame() -> pl.DataFrame:
            figures = [json.dumps(observe(n, self._build.frame(self._snapshots[n]))) for n in names]
            columns = {"phase": names, "figures": figures}
            return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))

        inputs = {name: self._snapshots[name].digest for name in names}
        part = self._build.part("figures", "policyproof_assets.figures", inputs, frame)
        return {name: json.loads(value) for name, value in self.table(part).iter_rows()}

    def check(self) -> None:
        """Check the expected figures of every phase; raises GateError on the first that differs."""
        for name, observed in self.figures().items():
            check_figures(name, self.expected.get(name, {}), observed)

    def scores(self) -> dict[str, Any]:
        """Return method -> split -> metric -> mean; raises GateError if one expected differs."""
        scores = mean_scores(self.table(self.benchmark))
        check_figures("benchmark", self.expected.get("scores", {}), scores)
        return scores

    def table(self, part: Part) -> pl.DataFrame:
        """Return the rows of a part made for the whole corpus."""
        return self._build.store.frame(part.object)

    @cached_property
    def judged(self) -> dict[str, Part]:
        """The trained gate, the cases it was measured on and what was answered end to end.

        Empty for a corpus without cases or questions: its release takes the gate that comes along.
        """
        path = self._build.project.data(self.corpus, "cases", ".yaml")
        if path is None or not self.questions:
            return {}
        manifest, draft = load_cases_manifest(path), self._draft
        served = cache(lambda: Corpus(self._build.store, draft))
        graded = cache(lambda: grade(served(), manifest, self.questions, self.splits, self._cues))
        inputs = {
            "release": draft.digest,
            "manifest": Digest.of_json(manifest.model_dump(mode="json")),
            "questions": self._digest_of_questions,
            "cues": Digest.of_json(self._cues),
        }
        module = "policyproof_assets.grading"
        return {
            name: self._build.part(name, module, inputs, lambda name=name: graded()[name])
            for name in ("gate", "cases", "end_to_end")
        }

    def freeze_release(self) -> Digest:
        """Write the release of checked phases and accept it; returns its digest."""
        return self._build.store.put_release(self._graded())

    @cached_property
    def _draft(self) -> Release:
        """The release without its gate."""
        serving = self.serving
        snapshots = {**self._snapshots, **serving.embeddings}
        return Release(
            corpus=self.corpus.id,
            title=self.corpus.title,
            documents=self._documents(),
            phases={name: Phase.of(snapshot) for name, snapshot in snapshots.items()},
            index={name: part.object for name, part in serving.indexes.items()}
            | {"benchmark": self.benchmark.object},
            libraries=libraries(),
            models={k: v for model in serving.models.values() for k, v in model.digests().items()},
            retrieval=serving.rules,
            gate={},
            scores=self.scores() | self._intervals(),
            notes=tuple(
                f"left out: {name}: {error.message}"
                for name, error in sorted(self._build.work.left_out.items())
            ),
        )

    def _graded(self) -> Release:
        """Return the release with its gate: the trained one if there is one, else the shared."""
        draft, judged = self._draft, self.judged
        if not judged:
            path = self._build.project.manifests / "policy" / "gate.json"
            shared = json.loads(path.read_text(encoding="utf-8"))
            return replace(draft, gate=shared | {"cues": self._cues})
        numbers = self.table(judged["gate"]).row(0, named=True)
        return replace(
            draft,
            gate=json.loads(numbers["params"]),
            scores={**draft.scores, "gate": json.loads(numbers["scores"])},
            index={**draft.index, **{n: judged[n].object for n in ("cases", "end_to_end")}},
        )

    @cached_property
    def _cues(self) -> dict[str, Any]:
        return read_toml(self._build.project.manifests / "policy" / "cues.toml")

    def _intervals(self) -> dict[str, Any]:
        """Return method -> split -> metric -> [low, high], the 95 % bootstrap interval."""
        found: dict[str, Any] = {}
        for row in intervals(self.table(self.benchmark)).iter_rows(named=True):
            splits = found.setdefault(row["method"], {}).setdefault(row["split"], {})
            splits[row["metric"]] = [row["low"], row["high"]]
        return {"intervals": found} if found else {}

    @cached_property
    def _digest_of_questions(self) -> Digest:
        return Digest.of_json([q.model_dump(mode="json") for q in self.questions])

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
    options = {"progress": progress, "keep_going": keep_going, "executor": executor}
    with open_build(project, corpus, Store(root), **options) as build:
        publisher = Publisher(build, build.phases())
        publisher.check()
        return publisher.freeze_release(), build.work
