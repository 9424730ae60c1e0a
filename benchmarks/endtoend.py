"""Golden items end to end: is each answered with its facts, or declined, as its persona.

    python benchmarks/endtoend.py [--corpus handbook] [--golden FILE] [--personas FILE] [--list]

An answerable item is right if the excerpts hold all its required words and none of the forbidden
ones; any other is right if it is declined. Passages that the persona shares no group with are never
ranked. ``--parity 1`` takes the items with odd numbers, ``--parity 0`` those with even ones;
``--list`` names the items that went wrong.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table

from policyproof_assets.project import MANIFESTS
from policyproof_runtime import load
from policyproof_runtime.corpus import Corpus
from policyproof_runtime.sufficiency import Gate
from policyproof_runtime.types import Answer

RIGHT, LACKS, FORBIDDEN, DECLINED, FALSE = OUTCOMES = (
    "right",
    "lacks a fact",
    "forbidden words",
    "declined",
    "answered though it should not be",
)


def main() -> None:
    """Print the outcomes by category."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="handbook")
    parser.add_argument("--golden", type=Path)
    parser.add_argument("--personas", type=Path, default=MANIFESTS / "policy" / "personas.yaml")
    parser.add_argument("--store")
    parser.add_argument("--parity", type=int, choices=(0, 1))
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    corpus = load(options.corpus, options.store)
    personas = yaml.safe_load(options.personas.read_text(encoding="utf-8"))
    golden = options.golden or MANIFESTS / "golden" / f"{options.corpus}.yaml"
    items = [
        item
        for item in yaml.safe_load(golden.read_text(encoding="utf-8"))
        if options.parity in (None, number(item) % 2)
    ]
    asks = cache(lambda persona: asking(corpus, personas[persona]))
    outcomes = {i["id"]: outcome(i, asks(i["persona"])(i["question"])) for i in items}
    _show(items, outcomes)
    for item in items if options.list else ():
        if outcomes[item["id"]] != RIGHT:
            print(item["id"], item["category"], f"{outcomes[item['id']]}:", item["question"])


def number(item: dict[str, Any]) -> int:
    """Return the number in an item's id: 17 of HB-017."""
    return int("".join(filter(str.isdigit, item["id"])))


def asking(corpus: Corpus, groups: Collection[str]) -> Callable[[str], Answer]:
    """Return how a question is answered for a person of ``groups``."""
    readable = {d.id for d in corpus.release.documents if not {*d.acl}.isdisjoint(groups)}
    gate = Gate.from_params(corpus.release.gate)
    return corpus.answerer(corpus.reader(gate.cues, readable), gate).ask


def outcome(item: dict[str, Any], answer: Answer) -> str:
    """Return what came of an item, one of OUTCOMES."""
    if answer.decision == "abstain":
        return DECLINED if item["expected_sources"] else RIGHT
    if not item["expected_sources"]:
        return FALSE
    said = _plain(" ".join(citation.excerpt for citation in answer.citations))
    if not all(_plain(words) in said for words in item.get("must_include", ())):
        return LACKS
    forbidden = any(_plain(words) in said for words in item.get("must_not_include", ()))
    return FORBIDDEN if forbidden else RIGHT


def _plain(text: str) -> str:
    return " ".join(text.split()).lower()


def _show(items: list[dict[str, Any]], outcomes: dict[str, str]) -> None:
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for item in items:
        for name in (item["category"], "answerable" if item["expected_sources"] else "others"):
            groups[name][outcomes[item["id"]]] += 1
    table = Table(title="golden items end to end")
    for column in ("category", "items", *OUTCOMES):
        is_name = column == "category"
        table.add_column(column, justify="left" if is_name else "right", no_wrap=is_name)
    for name in sorted(groups, key=lambda name: (name in ("answerable", "others"), name)):
        counts = [groups[name][outcome] for outcome in OUTCOMES]
        table.add_row(name, str(sum(counts)), *map(str, counts))
    Console().print(table)


if __name__ == "__main__":
    main()
