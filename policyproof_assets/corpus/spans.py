"""Which lines belong to a heading: its own body, its subtree, or what a container encloses."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import polars as pl

from policyproof_assets.corpus.lines import Lines
from policyproof_assets.errors import ProvenanceError
from policyproof_assets.schemas import SPANS, conform

Row = dict[str, Any]


def measure_spans(lines: Lines, hierarchy: pl.DataFrame) -> pl.DataFrame:
    """Return the spans of one document's nodes, in their order (columns of SPANS).

    ``direct_body`` runs to the next printed heading, ``subtree`` to the next printed heading of the
    same or a smaller depth, ``envelope`` to the next such node, printed or not; each to the
    document's end where there is none. A printed node has no envelope and a synthetic node nothing
    else. Raises ProvenanceError where a node is not in the lines or does not follow the one before
    it.
    """
    nodes = hierarchy.sort("order").to_dicts()
    ruler = _Ruler(lines, nodes)
    rows = [ruler.spans(index) for index in range(len(nodes))]
    return conform(pl.DataFrame(rows, schema=SPANS), SPANS)


class _Ruler:
    def __init__(self, lines: Lines, nodes: list[Row]) -> None:
        self.lines = lines
        self.nodes = nodes
        self.printed = [node["kind"] == "source" for node in nodes]
        self.first = [self._first(node) for node in nodes]
        self.blank_free = [0, *accumulate(bool(text.strip()) for text in lines.text)]
        self._check_order()

    def spans(self, index: int) -> Row:
        """Return the row of the node at ``index``."""
        node = self.nodes[index]
        row: Row = {name: node[name] for name in ("document_id", "node_id", "order")}
        if not self.printed[index]:
            return row | {"direct_body": None, "subtree": None, "envelope": self._envelope(index)}
        start = self.lines.position(node["page"], node["end_line"]) + 1
        return row | {
            "direct_body": self._span(start, self._next(index, printed=True)),
            "subtree": self._span(start, self._next(index, printed=True, below=False)),
            "envelope": None,
        }

    def _first(self, node: Row) -> int:
        """Return the position at which the node, or the first heading in a container, begins."""
        if node["kind"] == "synthetic":
            return self.lines.position(node["anchor_page"], node["anchor_line"])
        return self.lines.position(node["page"], node["start_line"])

    def _envelope(self, index: int) -> Row:
        closing = self._next(index, printed=False, below=False)
        headings = sum(self.printed[index:closing])
        return self._span(self.first[index], closing) | {"headings": headings}

    def _next(self, index: int, *, printed: bool, below: bool = True) -> int | None:
        """Return the index of the next node, if wanted only a printed one or none below this."""
        depth = self.nodes[index]["depth"]
        for later in range(index + 1, len(self.nodes)):
            if printed and not self.printed[later]:
                continue
            if below or self.nodes[later]["depth"] <= depth:
                return later
        return None

    def _span(self, start: int, closing: int | None) -> Row:
        """Measure the lines from position ``start`` to before the node at index ``closing``."""
        stop = len(self.lines) if closing is None else self.first[closing]
        empty = stop <= start
        ends = (
            (None,) * 4 if empty else self.lines.coordinate(start) + self.lines.coordinate(stop - 1)
        )
        following = (None, None) if closing is None else self.lines.coordinate(stop)
        return {
            "start_page": ends[0],
            "start_line": ends[1],
            "end_page": ends[2],
            "end_line": ends[3],
            "next_page": following[0],
            "next_line": following[1],
            "lines": max(0, stop - start),
            "nonblank": 0 if empty else self.blank_free[stop] - self.blank_free[start],
            "headings": None,
        }

    def _check_order(self) -> None:
        for (index, node), (later, after) in pairwise(enumerate(self.nodes)):
            end = self.first[index]
            if self.printed[index]:
                end = self.lines.position(node["page"], node["end_line"]) + 1
            if self.first[later] < end:
                raise ProvenanceError(
                    f"{after['node_id']} begins before {node['node_id']} ends",
                    expected=f"line {self.lines.coordinate(end - 1)} or later",
                    found=self.lines.coordinate(self.first[later]),
                )
