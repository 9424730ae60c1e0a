"""Which lines belong to a heading: its own body, its subtree, or what a container encloses."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import polars as pl

from policyproof_assets.corpus.lines import Lines
from policyproof_assets.errors import ProvenanceError
from policyproof_assets.schemas import SPANS

Row = dict[str, Any]


def measure_spans(lines: Lines, hierarchy: pl.DataFrame) -> pl.DataFrame:
    """Return the spans of one document's nodes, in their order (columns of SPANS).

    ``direct_body`` runs to the next printed heading, ``subtree`` to the next printed heading of the
    same or a smaller depth, ``envelope`` to the next such node, printed or not; each to the
    document's end where there is none. A printed node has no envelope and a synthetic node nothing
    else. Raises ProvenanceError where a node is not in the lines or does not follow the one before
    it.
    """
    ruler = _Ruler(lines, hierarchy.sort("order").to_dicts())
    return pl.DataFrame([ruler.spans(i) for i in range(len(ruler.nodes))], schema=SPANS)


class _Ruler:
    def __init__(self, lines: Lines, nodes: list[Row]) -> None:
        self.lines = lines
        self.nodes = nodes
        self.printed = [node["kind"] == "source" for node in nodes]
        #: Positions where each node, or the first heading in a container, begins and its text does.
        self.first = [_position(lines, node, "start_line") for node in nodes]
        ends = [_position(lines, node, "end_line") for node in nodes]
        self.body = [end + printed for end, printed in zip(ends, self.printed, strict=True)]
        self.nonblank = [0, *accumulate(bool(text.strip()) for text in lines.text)]
        self._check_order()

    def spans(self, index: int) -> Row:
        """Return the row of the node at ``index``."""
        row: Row = {name: self.nodes[index][name] for name in ("document_id", "node_id", "order")}
        later = range(index + 1, len(self.nodes))
        depth = self.nodes[index]["depth"]
        above = [i for i in later if self.nodes[i]["depth"] <= depth]
        if not self.printed[index]:
            envelope = self._span(index, above)
            headings = sum(self.printed[index : above[0] if above else None])
            return row | {"envelope": envelope | {"headings": headings}}
        body = self._span(index, [i for i in later if self.printed[i]])
        subtree = self._span(index, [i for i in above if self.printed[i]])
        return row | {"direct_body": body, "subtree": subtree}

    def _span(self, index: int, closing: list[int]) -> Row:
        """Measure the lines below the node at ``index`` to before the first of ``closing``."""
        start = self.body[index]
        stop = self.first[closing[0]] if closing else len(self.lines)
        span: Row = self.lines.extent(start, stop - 1) if stop > start else {}
        following = self.lines.coordinate(stop) if closing else (None, None)
        return span | {
            "next_page": following[0],
            "next_line": following[1],
            "lines": max(0, stop - start),
            "nonblank": self.nonblank[max(start, stop)] - self.nonblank[start],
        }

    def _check_order(self) -> None:
        for index, later in pairwise(range(len(self.nodes))):
            if self.first[later] < self.body[index]:
                raise ProvenanceError(
                    f"{self.nodes[later]['node_id']} begins before {self.nodes[index]['node_id']} "
                    "ends",
                    expected=f"line {self.lines.coordinate(self.body[index] - 1)} or later",
                    found=self.lines.coordinate(self.first[later]),
                )


def _position(lines: Lines, node: Row, line: str) -> int:
    if node["kind"] == "source":
        return lines.position(node["page"], node[line])
    return lines.position(node["anchor_page"], node["anchor_line"])
