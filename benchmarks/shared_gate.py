"""The gate that comes along, for corpora without cases: trains manifests/policy/gate.json.

    python benchmarks/shared_gate.py [--write] [--parity 1] [CORPUS GOLDEN PERSONAS]…

Trains on what the gate of ai-governance is trained on (policyproof build ai-governance), and on the
golden items of the handbook (policyproof build handbook) or of the corpora named. Each of those is
asked as its persona; where a fact stands in one document only, it is asked again with that document
taken away, and then nothing answers it. ``--parity 1`` takes the items with odd numbers, to measure
on the others. It compares no meaning: such corpora have no finding aid.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from policyproof_assets.evaluation.annotation import released_cases
from policyproof_assets.evaluation.benchmarks import load_benchmark
from policyproof_assets.evaluation.cases import load_cases_manifest
from policyproof_assets.evaluation.gate import Asked, train_gate
from policyproof_assets.manifests import read_toml
from policyproof_assets.project import MANIFESTS
from policyproof_runtime import load
from policyproof_runtime.sufficiency import ANSWER, OUTSIDE_CORPUS, compiled_cues

CORPUS = "ai-governance"
GATE = MANIFESTS / "policy" / "gate.json"
HANDBOOK = ("handbook", MANIFESTS / "golden/handbook.yaml", MANIFESTS / "policy/personas.yaml")
#: Categories whose facts no other document states, not even differently.
ONE_SOURCE = ("factual", "table", "version-conflict", "permission-allowed")


def main() -> None:
    """Train, and print or write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("golden", nargs="*", metavar="CORPUS GOLDEN PERSONAS")
    parser.add_argument("--store")
    parser.add_argument("--parity", type=int, choices=(0, 1))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    cues = read_toml(MANIFESTS / "policy" / "cues.toml")
    named = options.golden
    sets = [named[i : i + 3] for i in range(0, len(named), 3)] or [HANDBOOK]
    further = [row for s in sets for row in examples(*s, cues, options.store, options.parity)]
    gate = train(cues, options.store, further) | {"trained_on": [CORPUS, *(s[0] for s in sets)]}
    text = json.dumps({k: v for k, v in gate.items() if k != "cues"}, indent=2) + "\n"
    if options.write:
        GATE.write_text(text, encoding="utf-8")
    print(text)


def examples(
    name: str, golden: Path, personas: Path, cues: Any, store: str | None, parity: int | None
) -> Iterator[Asked]:
    """Yield each golden item as read for its persona, and whether that one can be answered."""
    corpus, groups = load(name, store), yaml.safe_load(Path(personas).read_text("utf-8"))
    documents, patterns = corpus.release.documents, compiled_cues(cues)
    for item in yaml.safe_load(Path(golden).read_text("utf-8")):
        if parity not in (None, int("".join(filter(str.isdigit, item["id"]))) % 2):
            continue
        open_to = {d for d in documents if not {*d.acl}.isdisjoint(groups[item["persona"]])}
        expected = {source.replace(" ", "-") for source in item["expected_sources"]}
        question, kind = item["question"], ANSWER if expected else OUTSIDE_CORPUS
        reader = corpus.reader(patterns, {d.id for d in open_to}, aided=False)
        yield Asked.of(reader, question, kind)
        if expected and item["category"] in ONE_SOURCE:
            families = {d.family for d in documents if d.id in expected}
            rest = {d.id for d in open_to if d.family not in families}
            reader = corpus.reader(patterns, rest, aided=False)
            yield Asked.of(reader, question, OUTSIDE_CORPUS)


def train(cues: Any, store: str | None, further: list[Asked]) -> dict[str, Any]:
    """Return the parameters of a gate trained on ai-governance and ``further`` examples."""
    corpus = load(CORPUS, store)
    manifest = load_cases_manifest(MANIFESTS / "cases" / f"{CORPUS}.yaml")
    ended = corpus.index_table("end_to_end").to_pylist()
    tested = {row["question_id"] for row in ended if row["split"] == "test"}
    benchmark = load_benchmark(MANIFESTS / "benchmarks" / f"{CORPUS}.yaml")
    seen = [q for q in (*benchmark, *manifest.questions) if q.id not in tested]
    corpus.prepare(q.question for q in seen)
    cost = manifest.construction.cost_by_rates
    reader = corpus.reader(compiled_cues(cues), aided=False)
    return train_gate(reader, seen, released_cases(corpus), cues, cost, further)


if __name__ == "__main__":
    main()
