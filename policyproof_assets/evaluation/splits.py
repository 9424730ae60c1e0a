"""Leakage components and the splits that respect them.

Two items leak into one another when they share the question, a passage or a logical source. The
components of that relation are assigned whole, so nothing seen in one split is met in another.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from policyproof_runtime.digest import Digest


@dataclass(frozen=True)
class Item:
    """Something to be split: its id, its question and the passages it shows or is graded on."""

    id: str
    question: str
    passages: frozenset[str]
    #: Items of one stratum are spread over the splits in proportion.
    stratum: str = ""


def leakage_components(
    items: Sequence[Item], source_of: Mapping[str, str]
) -> tuple[tuple[str, ...], ...]:
    """Group the ids of ``items`` that share a question, a passage or a logical source.

    ``source_of`` maps a passage id to its logical source. The relation is transitive and the result
    does not depend on the order of ``items``: components and their members are sorted by id.
    """
    nodes: dict[tuple[str, str], int] = {}
    edges = [
        (row, nodes.setdefault(key, len(items) + len(nodes)))
        for row, item in enumerate(items)
        for key in _leaks(item, source_of)
    ]
    size = len(items) + len(nodes)
    places = np.array(edges, dtype=int).reshape(-1, 2).T
    graph = coo_array((np.ones(len(edges)), places), shape=(size, size))
    labels = connected_components(graph, directed=False)[1][: len(items)]
    groups: dict[int, list[str]] = defaultdict(list)
    for item, label in zip(items, labels, strict=True):
        groups[label].append(item.id)
    return tuple(sorted(tuple(sorted(group)) for group in groups.values()))


def _leaks(item: Item, source_of: Mapping[str, str]) -> set[tuple[str, str]]:
    text = " ".join(unicodedata.normalize("NFKC", item.question).casefold().split())
    passages = {("passage", passage) for passage in item.passages}
    return {("question", text), *passages, *(("source", source_of[p]) for p in item.passages)}


def assign_splits(
    items: Sequence[Item], source_of: Mapping[str, str], shares: Mapping[str, float]
) -> dict[str, str]:
    """Assign every leakage component to one split; returns item id -> split, sorted by id.

    ``shares`` gives the split names and the fraction of each stratum they should get. Components
    go, the largest first and equals in the order of a digest of their members, to the split that
    lacks most of their strata.
    """
    stratum = {item.id: item.stratum for item in items}
    totals = Counter(stratum.values())
    filled: dict[str, Counter[str]] = {name: Counter() for name in shares}
    chosen: dict[str, str] = {}
    components = leakage_components(items, source_of)
    for component in sorted(components, key=lambda ids: (-len(ids), Digest.of_json(ids).hex)):
        strata = Counter(stratum[name] for name in component)
        lacks = {
            name: sum(n * (share - filled[name][s] / totals[s]) for s, n in strata.items())
            for name, share in shares.items()
        }
        split = max(lacks, key=lacks.__getitem__)
        filled[split] += strata
        chosen |= dict.fromkeys(component, split)
    return dict(sorted(chosen.items()))
