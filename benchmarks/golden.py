"""Golden items: is an expected source among the first passages that the persona may see.

    python benchmarks/golden.py [--corpus handbook] [--golden FILE] [--personas FILE] [--list]

For each method and category: the share of items with a passage of an expected source ("AIG-003 v2"
is the document AIG-003-v2) at rank 1, 3 and 10, and the share of items all of whose required words
stand in those ten. Passages that the persona shares no group with are passed over, as the service
does. ``--list`` names the items that the last method misses at rank 3.
"""

import argparse
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table

from policyproof_assets.project import MANIFESTS
from policyproof_runtime import load
from policyproof_runtime.corpus import Corpus

DEPTHS = (1, 3, 10)
#: Passages looked at before those that the persona may not see are passed over.
POOL = 60


def main() -> None:
    """Print hit rates by method and category."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="handbook")
    parser.add_argument("--golden", type=Path)
    parser.add_argument("--personas", type=Path, default=MANIFESTS / "policy" / "personas.yaml")
    parser.add_argument("--store")
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    corpus = load(options.corpus, options.store)
    golden = options.golden or MANIFESTS / "golden" / f"{options.corpus}.yaml"
    items = [item for item in _read(golden) if item["expected_sources"]]
    methods = options.methods or ["bm25", corpus.release.retrieval.get("method", "bm25")]
    outcomes = {m: _outcomes(corpus, items, _read(options.personas), m) for m in methods}
    _show(items, outcomes)
    if options.list:
        for item in items:
            rank, _ = outcomes[methods[-1]][item["id"]]
            if rank is None or rank > 3:
                print(item["id"], item["category"], f"rank {rank}:", item["question"])


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


Outcome = tuple[int | None, bool]


def _outcomes(
    corpus: Corpus, items: list[dict[str, Any]], personas: Mapping[str, list[str]], method: str
) -> dict[str, Outcome]:
    """Return by item the rank of its first expected source and whether all its words are there."""
    readers = {document.id: {*document.acl} for document in corpus.release.documents}
    outcomes = {}
    for item in items:
        groups = personas[item["persona"]]
        hits = corpus.retrieve(item["question"], POOL, method)
        seen = [hit for hit in hits if readers[hit.document_id].intersection(groups)][: DEPTHS[-1]]
        expected = {source.replace(" ", "-") for source in item["expected_sources"]}
        found = [n for n, hit in enumerate(seen, 1) if hit.document_id in expected]
        text = " ".join(_words(corpus, hit.passage_id) for hit in seen)
        complete = all(" ".join(w.split()).lower() in text for w in item["must_include"])
        outcomes[item["id"]] = (found[0] if found else None, complete)
    return outcomes


def _words(corpus: Corpus, passage_id: str) -> str:
    passages = corpus.passages
    return " ".join(passages.citation_text(passages.position(passage_id)).split()).lower()


def _show(items: list[dict[str, Any]], outcomes: dict[str, dict[str, Outcome]]) -> None:
    groups: dict[str, list[str]] = defaultdict(list)
    for item in items:
        groups[item["category"]].append(item["id"])
        groups["all"].append(item["id"])
    columns = ("method", "category", "items", *(f"hit@{k}" for k in DEPTHS), "words@10")
    table = Table(title="expected source among the first k passages the persona may see")
    for column in columns:
        is_name = column in columns[:2]
        table.add_column(column, justify="left" if is_name else "right", no_wrap=is_name)
    for method, by_item in outcomes.items():
        for category in sorted(groups, key=lambda name: (name == "all", name)):
            found = [by_item[name] for name in groups[category]]
            rates = [_share([r is not None and r <= k for r, _ in found]) for k in DEPTHS]
            words = _share([complete for _, complete in found])
            table.add_row(method, category, str(len(found)), *rates, words)
    Console().print(table)


def _share(values: list[bool]) -> str:
    return f"{sum(values) / len(values):.3f}"


if __name__ == "__main__":
    main()
