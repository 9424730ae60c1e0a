"""What each ingredient of retrieval adds: the full method without it, and the bare one with it.

    python benchmarks/ablation.py [--store DIR] [--questions FILE.jsonl …] [--split development]

Reads the newest release of ai-governance (policyproof build ai-governance) and asks the development
questions of its benchmark. Further questions come from JSONL lines with ``question`` and either
``gold_units`` (art_26, anx_III, rec_29) or ``gold_subcategories`` (GOVERN 1.1), grouped by ``set``.
Columns: nDCG@10 / MRR@10 / hit@10 of our benchmark, MRR@10 / hit@10 of each further set, where
a passage counts if it stands under a named provision.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl

from policyproof_assets.evaluation.benchmarks import Question, load_benchmark
from policyproof_assets.evaluation.metrics import hit_at, mrr_at, ndcg_at
from policyproof_assets.evaluation.retrieval import split_questions
from policyproof_assets.indexes import AID, fields_table
from policyproof_assets.project import MANIFESTS
from policyproof_runtime.dense import Neural
from policyproof_runtime.objects import ObjectStore
from policyproof_runtime.passages import Passages
from policyproof_runtime.provisions import provision_name
from policyproof_runtime.release import load_release
from policyproof_runtime.retrieve import RETRIEVAL_INDEXES, make_methods

CORPUS = "ai-governance"
KINDS = {"art": "article", "anx": "annex", "rec": "recital"}
Rules = dict[str, Any]
Rank = Callable[[str, int], list[tuple[int, float]]]


class Bench:
    """The release and the questions."""

    def __init__(self, store: str | None, split: str, files: Iterable[Path]) -> None:
        objects = ObjectStore(store)
        release = load_release(objects, CORPUS)
        snapshot = release.phase("passages").snapshot
        titles = {document.id: document.title for document in release.documents}
        self.passages = Passages(objects.phase(snapshot), titles)
        self.rules: Rules = dict(release.retrieval)
        self.tables = {
            n: objects.table(d) for n, d in release.index.items() if n in RETRIEVAL_INDEXES
        }
        self._release, self._titles = release, titles
        self._frame = pl.from_arrow(objects.phase(snapshot))
        self.neural = None
        if "embeddings" in release.phases:
            phase = release.phase("embeddings").snapshot
            asks = release.index.get("ask_vectors")
            self.neural = Neural(
                self.rules,
                lambda: objects.phase(phase),
                self.passages.retrieval_text,
                lambda _question, _k: [],
                (lambda: objects.table(asks)) if asks else None,
            )
        self.graded = list(self._benchmark(split))
        self.sets = dict(self._further(files))

    def _benchmark(self, split: str) -> Iterator[Question]:
        questions = load_benchmark(MANIFESTS / "benchmarks" / f"{CORPUS}.yaml")
        columns = (self.passages.column(name) for name in ("passage_id", "source_key"))
        splits = split_questions(questions, dict(zip(*columns, strict=True)))
        return (q for q in questions if splits[q.id] == split and q.behaviour == "answer")

    def _further(self, files: Iterable[Path]) -> Iterator[tuple[str, list[tuple[str, set[int]]]]]:
        places: dict[str, set[int]] = defaultdict(set)
        for i, path in enumerate(self.passages.column("path")):
            for heading in path:
                places[provision_name(heading) or ""].add(i)
        sets: dict[str, list[tuple[str, set[int]]]] = defaultdict(list)
        for line in (line for file in files for line in file.read_text("utf-8").splitlines()):
            row = json.loads(line)
            units = [unit.split("_") for unit in row.get("gold_units", ())]
            names = [f"{KINDS[kind]} {number.lower()}" for kind, number in units]
            names += [name.lower() for name in row.get("gold_subcategories", ())]
            if gold := set().union(*(places[name] for name in names)):
                sets[row["set"]].append((row["question"], gold))
        return iter(sets.items())

    def method(self, rules: Rules, *, dense: bool, aids: bool = True) -> Rank:
        """Return the method under changed rules."""
        rows = zip(*(self.tables["asks"][c].to_pylist() for c in ("passage", "text")), strict=True)
        texts = [""] * len(self.passages)
        for i, text in rows if aids else ():
            texts[i] += text + "\n"
        fields = fields_table(self._frame, self._titles, texts, rules)
        tables = self.tables | {"fields": fields}
        if not aids:
            tables = {n: t for n, t in tables.items() if n not in ("asks", "ask_terms")}
        similarity = self.neural.similarity if dense and self.neural else None
        methods = make_methods(tables, self.passages, rules, self._release.documents, similarity)
        return methods["fused" if similarity else "structured"]

    def scores(self, rank: Rank) -> list[str]:
        """Return the cells of one row."""
        ids = self.passages.column("passage_id")
        rows = []
        for question in self.graded:
            ranking = [ids[i] for i, _ in rank(question.question, 10)]
            grades = {judgment.id: judgment.grade for judgment in question.passages}
            rows.append([metric(10, ranking, grades) for metric in (ndcg_at, mrr_at, hit_at)])
        cells = [" ".join(f"{value:.3f}" for value in np.mean(rows, axis=0))]
        for questions in self.sets.values():
            found = [_first(rank(question, 10), gold) for question, gold in questions]
            cells.append(f"{fmean(found):.3f} {fmean(map(bool, found)):.3f}")
        return cells


def _first(ranking: list[tuple[int, float]], gold: set[int]) -> float:
    return next((1 / rank for rank, (i, _) in enumerate(ranking, start=1) if i in gold), 0.0)


def variants(rules: Rules) -> Iterator[tuple[str, Rules, Rules]]:
    """Yield (ingredient, rules without it, rules with it alone) for each ingredient."""
    bare = _bare(rules)
    for name in rules["fields"]:
        if name not in ("text", AID):
            yield (
                f"field {name}",
                _change(rules, "fields", name, None),
                _change(bare, "fields", name, rules["fields"][name]),
            )
    yield "kinds of passage", rules | {"kinds": {}}, bare | {"kinds": rules["kinds"]}
    for name, weight in rules["weights"].items():
        if name not in ("asks", "superseded"):
            yield name, _change(rules, "weights", name, 0.0), _change(bare, "weights", name, weight)


def _bare(rules: Rules) -> Rules:
    fields = {"text": rules["fields"]["text"], "label": {"weight": 1.0, "b": 0.75}}
    return rules | {"fields": fields, "kinds": {}, "weights": {}}


def _change(rules: Rules, section: str, name: str, value: Any) -> Rules:
    changed: Mapping[str, Any] = {**rules[section], name: value}
    return rules | {section: {k: v for k, v in changed.items() if v is not None}}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store")
    parser.add_argument("--split", default="development", choices=("development", "test"))
    parser.add_argument("--questions", nargs="*", type=Path, default=[])
    options = parser.parse_args()
    bench = Bench(options.store, options.split, options.questions)
    rules, bare = bench.rules, _bare(bench.rules)
    with_model = bench.neural is not None
    print(f"{len(bench.graded)} questions of our {options.split} half;", end=" ")
    print("; ".join(f"{name} {len(questions)}" for name, questions in bench.sets.items()))
    _line("", ["nDCG  MRR   hit  ", *(f"{name[:11]:11}" for name in bench.sets)])
    bm25 = make_methods(bench.tables, bench.passages, rules, ())["bm25"]
    _line("bm25, the accepted contract", bench.scores(bm25))
    _line(
        "bare: stems, stop words, label", bench.scores(bench.method(bare, dense=False, aids=False))
    )
    _line(
        "structured, without finding aid",
        bench.scores(bench.method(rules, dense=False, aids=False)),
    )
    _line("structured", bench.scores(bench.method(rules, dense=False)))
    if with_model:
        _line(
            "fused, without finding aid", bench.scores(bench.method(rules, dense=True, aids=False))
        )
        flat = rules | {"fusion": rules["fusion"] | {"power": 0.0}}
        _line("fused, one weight for all", bench.scores(bench.method(flat, dense=True)))
        _line("fused", bench.scores(bench.method(rules, dense=True)))
    for name, without, alone in variants(rules):
        _line(f"structured − {name}", bench.scores(bench.method(without, dense=False)))
        if with_model:
            _line(f"fused − {name}", bench.scores(bench.method(without, dense=True)))
        _line(f"bare + {name}", bench.scores(bench.method(alone, dense=False, aids=False)))
    one_field = _change(rules, "fields", AID, None)
    _line("structured − field aid", bench.scores(bench.method(one_field, dense=False)))
    no_asks = _change(rules, "weights", "asks", 0.0)
    _line("structured − asks one by one", bench.scores(bench.method(no_asks, dense=False)))


def _line(name: str, cells: list[str]) -> None:
    print(f"{name:34}", "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
