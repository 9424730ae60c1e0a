"""From finished phases to a release: the index, the benchmark and the gate.

Only ``freeze_release`` writes a release, and only after every check has passed.
"""

import json
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from functools import cache
from typing import Any

import polars as pl
import pyarrow as pa

from policyproof_assets.build import Build, Progress, Work, libraries, no_progress, open_build
from policyproof_assets.code import code_digest
from policyproof_assets.embeddings import embed_asks, embed_passages
from policyproof_assets.evaluation.benchmarks import Question, check_passages, load_benchmark
from policyproof_assets.evaluation.cases import load_cases_manifest
from policyproof_assets.evaluation.confidence import intervals
from policyproof_assets.evaluation.retrieval import (
    mean_scores,
    score_questions,
    split_questions,
)
from policyproof_assets.figures import OBSERVED, check_figures, observe
from policyproof_assets.finding_aids import load_finding_aids
from policyproof_assets.grading import grade
from policyproof_assets.indexes import (
    ask_tables,
    fields_table,
    references_table,
    thesaurus_table,
)
from policyproof_assets.manifests import Document, read_toml
from policyproof_assets.project import Project
from policyproof_assets.store import Store
from policyproof_assets.workers import BoundedProcesses
from policyproof_runtime.bm25 import freeze
from policyproof_runtime.corpus import Corpus
from policyproof_runtime.dense import Neural
from policyproof_runtime.digest import Digest
from policyproof_runtime.models import ROLES, Model, find_model, load_model, read_model
from policyproof_runtime.objects import Part, Snapshot
from policyproof_runtime.passages import Passages
from policyproof_runtime.records import to_json
from policyproof_runtime.release import Document as ReleasedDocument
from policyproof_runtime.release import Phase, Release
from policyproof_runtime.retrieve import Method, make_methods


class Publisher:
    """The phases of a corpus that look at all of its documents, and the release they lead to."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._store = build.store
        self._frames: dict[Digest, pl.DataFrame] = {}
        self._parts: dict[Digest, Part] = {}
        self.corpus = build.corpus

    def expected(self) -> dict[str, Any]:
        """Return the figures and scores the corpus must reproduce; empty if it states none."""
        path = self._build.project.data(self.corpus, "expected", ".toml")
        return read_toml(path) if path else {}

    def frame(self, snapshot: Snapshot) -> pl.DataFrame:
        """Return all rows of a phase, which are kept: reading every part is what costs."""
        if snapshot.digest not in self._frames:
            self._frames[snapshot.digest] = self._store.phase_frame(snapshot.digest)
        return self._frames[snapshot.digest]

    def table(self, part: Part) -> pl.DataFrame:
        """Return the rows of a part made for the whole corpus."""
        return self._store.frame(part.object)

    def index(self, passages: Snapshot) -> Part:
        """Return the frozen BM25 weights of the passages."""
        key = _key("bm25", "policyproof_runtime.bm25", passages=passages.digest)
        return self._made(key, lambda: freeze(self.frame(passages)["retrieval_text"]))

    def indexes(self, passages: Snapshot) -> dict[str, Part]:
        """Return everything frozen for retrieval, by the name it has in a release."""
        rules, documents = self.retrieval(), self._build.documents
        titles = {document.id: document.title for document in documents}
        groups = read_toml(self._build.project.manifests / "thesaurus.toml")["groups"]
        named = [(d.id, d.title, d.version, d.family, d.names) for d in documents]
        files = self._build.project.finding_aids(self.corpus)
        digests = [str(Digest.of(path.read_bytes())) for path in files]

        def frame() -> pl.DataFrame:
            return self.frame(passages)

        @cache
        def aids() -> list[str]:
            return load_finding_aids(files, frame())

        makers: dict[str, tuple[Any, Callable[[], Any]]] = {
            "fields": (
                [rules["fields"], rules["kinds"], rules["k1"], titles, digests],
                lambda: fields_table(frame(), titles, aids(), rules),
            ),
            "references": (named, lambda: references_table(frame(), documents)),
            "thesaurus": (groups, lambda: thesaurus_table(groups, frame())),
        }
        if files:
            makers["asks"] = (digests, lambda: ask_tables(aids())["asks"])
            makers["ask_terms"] = (digests, lambda: ask_tables(aids())["ask_terms"])
        parts = {"bm25": self.index(passages)}
        for name, (inputs, make) in makers.items():
            named_inputs = {"passages": passages.digest, "rules": Digest.of_json(inputs)}
            parts[name] = self._made(_key(name, "policyproof_assets.indexes", **named_inputs), make)
        if files and (model := self.models().get("dense")):
            asks = parts["asks"].object
            key = _key(
                "ask_vectors", "policyproof_assets.embeddings", asks=asks, model=model.digest
            )
            parts["ask_vectors"] = self._made(
                key, lambda: embed_asks(self._store.table(asks), model)
            )
        return parts

    def retrieval(self) -> dict[str, Any]:
        """Return the parameters of retrieval, each model it names described under its role.

        The dense model of the corpus is left out, with the methods that need it, where it is not
        installed.
        """
        manifests = self._build.project.manifests
        rules = read_toml(manifests / "policy" / "retrieval.toml")
        named = {role: rules[f"{role}_model"] for role in ROLES if f"{role}_model" in rules}
        models = {role: load_model(name, manifests / "models") for role, name in named.items()}
        if self.corpus.dense_model and "dense" not in models:
            model = load_model(self.corpus.dense_model, manifests / "models")
            if find_model(model) is not None:
                models["dense"] = model
        if "dense" in models:
            rules["method"] = rules["dense_method"]
        return rules | {role: to_json(model) for role, model in models.items()}

    def models(self) -> dict[str, Model]:
        """Return the models that retrieval runs, by role."""
        rules = self.retrieval()
        return {role: read_model(rules[role]) for role in ROLES if role in rules}

    def embeddings(self, passages: Snapshot) -> dict[str, Snapshot]:
        """Return the phase of embeddings, under its name; {} if retrieval names no dense model."""
        model = self.models().get("dense")
        if model is None:
            return {}
        snapshot, new = embed_passages(self._store, passages, model)
        self._build.work.made += new
        self._build.work.known += len(snapshot.parts) - new
        return {"embeddings": snapshot}

    def questions(self, passages: Snapshot) -> tuple[Question, ...]:
        """Return the benchmark of the corpus, checked against its passages; () if it has none."""
        path = self._build.project.data(self.corpus, "benchmarks", ".yaml")
        questions = load_benchmark(path) if path else ()
        if questions:
            check_passages(questions, self.frame(passages))
        return questions

    def splits(self, passages: Snapshot) -> dict[str, str]:
        """Return question id -> split."""
        frame = self.frame(passages)
        source_of = dict(zip(frame["passage_id"], frame["source_key"], strict=True))
        return split_questions(self.questions(passages), source_of)

    def benchmark(self, passages: Snapshot) -> Part:
        """Return the ranking and the scores of every benchmark question, by method."""
        questions, parts = self.questions(passages), self.indexes(passages)
        embeddings = self.embeddings(passages)
        key = _key(
            "benchmark",
            "policyproof_assets.evaluation.retrieval",
            passages=passages.digest,
            questions=Digest.of_json([q.model_dump(mode="json") for q in questions]),
            retrieval=Digest.of_json(self.retrieval()),
            **{name: part.object for name, part in parts.items()},
            **{name: snapshot.digest for name, snapshot in embeddings.items()},
        )
        return self._made(key, lambda: self._scored(questions, passages, parts))

    def _scored(
        self, questions: tuple[Question, ...], passages: Snapshot, parts: Mapping[str, Part]
    ) -> pl.DataFrame:
        if not questions:
            return score_questions(questions, {}, {})
        served = Passages(self._store.phase(passages.digest), {})
        tables = {name: self._store.table(part.object) for name, part in parts.items()}
        rules, documents = self.retrieval(), self._build.documents
        methods = make_methods(tables, served, rules, documents)
        neural = self._neural(passages, served, methods["bm25"], tables.get("ask_vectors"))
        if "dense" in rules:
            methods |= make_methods(tables, served, rules, documents, neural.similarity)
            methods |= {"dense": neural.dense, "hybrid": neural.hybrid}
        if {*ROLES} <= {*rules}:
            methods["rerank"] = neural.rerank
        ids = served.column("passage_id")
        ranks = {
            name: lambda question, k, rank=rank: [ids[i] for i, _ in rank(question, k)]
            for name, rank in methods.items()
        }
        return score_questions(questions, self.splits(passages), ranks)

    def _neural(
        self, passages: Snapshot, served: Passages, lexical: Method, asks: pa.Table | None
    ) -> Neural:
        return Neural(
            self.retrieval(),
            lambda: self._store.phase(self.embeddings(passages)["embeddings"].digest),
            served.retrieval_text,
            lexical,
            None if asks is None else lambda: asks,
        )

    def figures(self, snapshots: Mapping[str, Snapshot]) -> dict[str, Any]:
        """Return the figures of every phase that something is expected of, by phase."""
        expected = self.expected()
        names = [name for name in OBSERVED if name in snapshots and name in expected]
        inputs = {name: snapshots[name].digest for name in names}
        part = self._made(
            _key("figures", "policyproof_assets.figures", **inputs),
            lambda: pl.DataFrame(
                {
                    "phase": names,
                    "figures": [
                        json.dumps(observe(n, self._store.phase_frame(snapshots[n].digest)))
                        for n in names
                    ],
                },
                schema=dict.fromkeys(("phase", "figures"), pl.String),
            ),
        )
        rows = self._store.frame(part.object)
        return {name: json.loads(value) for name, value in rows.iter_rows()}

    def check(self, snapshots: Mapping[str, Snapshot]) -> None:
        """Check the expected figures of every phase; raises GateError on the first that differs."""
        expected = self.expected()
        for name, observed in self.figures(snapshots).items():
            check_figures(name, expected.get(name, {}), observed)

    def _intervals(self, benchmark: Part) -> dict[str, Any]:
        """Return method -> split -> metric -> [low, high], the 95 % bootstrap interval."""
        found: dict[str, Any] = {}
        for row in intervals(self.table(benchmark)).iter_rows(named=True):
            splits = found.setdefault(row["method"], {}).setdefault(row["split"], {})
            splits[row["metric"]] = [row["low"], row["high"]]
        return {"intervals": found} if found else {}

    def scores(self, benchmark: Part) -> dict[str, Any]:
        """Return the mean scores of a benchmark, checked against those expected."""
        scores = mean_scores(self._store.frame(benchmark.object))
        check_figures("benchmark", self.expected().get("scores", {}), scores)
        return scores

    def freeze_release(self, snapshots: Mapping[str, Snapshot]) -> Digest:
        """Write the release of checked phases and accept it; returns its digest."""
        passages = snapshots["passages"]
        benchmark = self.benchmark(passages)
        release = Release(
            corpus=self.corpus.id,
            title=self.corpus.title,
            documents=self._documents(snapshots["pages"]),
            phases={
                name: Phase.of(snapshot)
                for name, snapshot in {**snapshots, **self.embeddings(passages)}.items()
            },
            index={name: part.object for name, part in self.indexes(passages).items()}
            | {"benchmark": benchmark.object},
            libraries=libraries(),
            models={k: v for model in self.models().values() for k, v in model.digests().items()},
            retrieval=self.retrieval(),
            gate={},
            scores=self.scores(benchmark) | self._intervals(benchmark),
            notes=tuple(
                f"left out: {name}: {error.message}"
                for name, error in sorted(self._build.work.left_out.items())
            ),
        )
        return self._store.put_release(self._graded(release, passages))

    def _graded(self, release: Release, passages: Snapshot) -> Release:
        """Return ``release`` with its gate: trained if the corpus has cases, else the shared one."""
        project, questions = self._build.project, self.questions(passages)
        policy = project.manifests / "policy"
        cues = read_toml(policy / "cues.toml")
        path = project.data(self.corpus, "cases", ".yaml")
        if path is None or not questions:
            shared = json.loads((policy / "gate.json").read_text(encoding="utf-8"))
            return replace(release, gate=shared | {"cues": cues})
        manifest, halves = load_cases_manifest(path), self.splits(passages)
        graded = cache(
            lambda: grade(Corpus(self._store, release), manifest, questions, halves, cues)
        )
        inputs = {
            "release": release.digest,
            "manifest": Digest.of_json(manifest.model_dump(mode="json")),
            "questions": Digest.of_json([q.model_dump(mode="json") for q in questions]),
            "cues": Digest.of_json(cues),
        }
        parts = {
            name: self._made(
                _key(name, "policyproof_assets.grading", **inputs), lambda name=name: graded()[name]
            )
            for name in ("gate", "cases", "end_to_end")
        }
        numbers = self.table(parts["gate"]).row(0, named=True)
        return replace(
            release,
            gate=json.loads(numbers["params"]),
            scores={**release.scores, "gate": json.loads(numbers["scores"])},
            index={**release.index, **{n: parts[n].object for n in ("cases", "end_to_end")}},
        )

    def _documents(self, pages: Snapshot) -> tuple[ReleasedDocument, ...]:
        counts = {part.document_id: part.rows for part in pages.parts}
        return tuple(_released(d, counts[d.id]) for d in self._build.documents)

    def _made(self, key: Any, make: Any) -> Part:
        name = Digest.of_json(key)
        if name in self._parts:
            return self._parts[name]
        part = self._store.memo.get(key)
        if part is None:
            part = self._store.put_part(self.corpus.id, make())
            self._store.memo.put(key, part)
            self._build.work.made += 1
        else:
            self._build.work.known += 1
        self._parts[name] = part
        return part


def _key(phase: str, module: str, **inputs: Digest) -> dict[str, Any]:
    return {
        "phase": phase,
        "code": str(code_digest(module)),
        "inputs": {name: str(digest) for name, digest in inputs.items()},
    }


def _released(document: Document, pages: int) -> ReleasedDocument:
    return ReleasedDocument(
        id=document.id,
        title=document.title,
        publisher=document.publisher,
        url=document.url,
        sha256=Digest(document.sha256),
        licence=document.licence,
        version=document.version,
        status=document.status,
        classification=document.classification,
        acl=document.acl,
        pages=pages,
        family=document.family,
        supersedes=document.supersedes,
        effective_date=document.effective_date,
        department=document.department,
        owner=document.owner,
        language=document.language,
    )


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
        publisher = Publisher(build)
        snapshots = build.phases()
        publisher.check(snapshots)
        return publisher.freeze_release(snapshots), build.work
