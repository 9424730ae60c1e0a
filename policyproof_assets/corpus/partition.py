"""The best way to cut a row of weighted pieces into parts under a limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate


def partition(
    weights: Sequence[int], cuts: Mapping[int, int], *, label: int, hard: int, target: int
) -> list[int] | None:
    """Return the ends (exclusive, ascending) of the parts, or None if a part cannot fit.

    A part of the pieces ``i`` to ``j`` weighs ``label`` plus the sum of their ``weights`` and may
    weigh at most ``hard``. ``cuts`` maps each index a part may end before (1 to
    ``len(weights) - 1``) to its penalty. Chosen are the fewest parts, then the least penalty, then
    the smallest sum of ``|target - weight|``; on a tie the last part starts earliest, and so on for
    what precedes it.
    Dynamic programming over the cuts; every part looks back only as far as ``hard`` allows.
    """
    total = [0, *accumulate(weights)]
    places = [0, *sorted(cuts), len(weights)]
    best: list[tuple[int, int, int] | None] = [(0, 0, 0)]
    before = [0]
    first = 0
    for j, end in enumerate(places[1:], 1):
        while first < j and label + total[end] - total[places[first]] > hard:
            first += 1
        choice, origin = None, 0
        for i in range(first, j):
            if (past := best[i]) is None:
                continue
            weight = label + total[end] - total[places[i]]
            cost = (past[0] + 1, past[1] + cuts.get(end, 0), past[2] + abs(target - weight))
            if choice is None or cost < choice:
                choice, origin = cost, i
        best.append(choice)
        before.append(origin)
    return _ends(places, before) if best[-1] is not None else None


def _ends(places: Sequence[int], before: Sequence[int]) -> list[int]:
    ends, j = [], len(places) - 1
    while j > 0:
        ends.append(places[j])
        j = before[j]
    return ends[::-1]
