"""Leakage components and the splits that respect them.

Two items leak into one another when they share the question, a passage or a logical source. The
components of that relation are assigned whole, so nothing seen in one split is met in another.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from policyproof_assets.errors import ManifestError
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
    keys: dict[tuple[str, str], int] = {}
    rows, columns = [], []
    for row, item in enumerate(items):
        for key in _leaks(item, source_of):
            rows.append(row)
            columns.append(len(items) + keys.setdefault(key, len(keys)))
    size = len(items) + len(keys)
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(size, size))
    labels = connected_components(graph, directed=False)[1][: len(items)]
    groups: dict[int, list[str]] = {}
    for item, label in zip(items, labels, strict=True):
        groups.setdefault(int(label), []).append(item.id)
    return tuple(sorted(tuple(sorted(group)) for group in groups.values()))


def _leaks(item: Item, source_of: Mapping[str, str]) -> set[tuple[str, str]]:
    text = " ".join(unicodedata.normalize("NFKC", item.question).casefold().split())
    shared = {("question", text)}
    for passage in item.passages:
        shared |= {("passage", passage), ("source", source_of[passage])}
    return shared


def assign_splits(
    items: Sequence[Item],
    components: Sequence[tuple[str, ...]],
    shares: Mapping[str, float],
    pinned: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Assign every component to one split; returns item id -> split, sorted by id.

    ``shares`` gives the split names and the fraction of each stratum they should get. Components
    go, the largest first and equals in the order of a digest of their members, to the split that
    lacks most of their strata. ``pinned`` sends the whole component of an item to a split (items
    that were looked at while designing). Raises ManifestError if one is pinned to two splits.
    """
    stratum = {item.id: item.stratum for item in items}
    totals = Counter(stratum.values())
    filled: dict[str, Counter[str]] = {name: Counter() for name in shares}
    chosen: dict[str, str] = {}
    for component in sorted(components, key=_order):
        strata = Counter(stratum[name] for name in component)
        lacks = {
            name: sum(n * (share - filled[name][s] / totals[s]) for s, n in strata.items())
            for name, share in shares.items()
        }
        split = _pinned_split(component, pinned or {}) or max(lacks, key=lacks.__getitem__)
        filled[split] += strata
        chosen.update(dict.fromkeys(component, split))
    return dict(sorted(chosen.items()))


def _order(component: tuple[str, ...]) -> tuple[int, str]:
    return -len(component), Digest.of_json(component).hex


def _pinned_split(component: tuple[str, ...], pinned: Mapping[str, str]) -> str | None:
    wanted = {pinned[name] for name in component if name in pinned}
    if len(wanted) > 1:
        raise ManifestError(
            "items of one leakage component are pinned to different splits",
            expected="one split per component",
            found=sorted(wanted),
        )
    return next(iter(wanted), None)
