"""Which lines belong to a heading: its own body, its subtree, or what a container encloses."""

from __future__ import annotations

from collections.abc import Iterable
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
        printed = [index for index, is_printed in enumerate(self.printed) if is_printed]
        #: Where the spans of each node close; a node without an entry runs to the document's end.
        self.body_close = dict(pairwise(printed))
        self.subtree_close = self._as_high(printed)
        self.envelope_close = self._as_high(range(len(nodes)))
        self.headings = [0, *accumulate(self.printed)]
        self._check_order()

    def spans(self, index: int) -> Row:
        """Return the row of the node at ``index``."""
        row: Row = {name: self.nodes[index][name] for name in ("document_id", "node_id", "order")}
        if not self.printed[index]:
            close = self.envelope_close.get(index)
            last = len(self.nodes) if close is None else close
            headings = self.headings[last] - self.headings[index]
            return row | {"envelope": self._span(index, close) | {"headings": headings}}
        body = self._span(index, self.body_close.get(index))
        subtree = self._span(index, self.subtree_close.get(index))
        return row | {"direct_body": body, "subtree": subtree}

    def _as_high(self, indices: Iterable[int]) -> dict[int, int]:
        """Return, of each of ``indices``, the next of them of the same or a smaller depth."""
        found: dict[int, int] = {}
        waiting: list[int] = []  # depths ascend, so that only the last ones can close
        for index in indices:
            while waiting and self.nodes[index]["depth"] <= self.nodes[waiting[-1]]["depth"]:
                found[waiting.pop()] = index
            waiting.append(index)
        return found

    def _span(self, index: int, close: int | None) -> Row:
        """Measure the lines below the node at ``index`` to before the node at ``close``."""
        start = self.body[index]
        stop = len(self.lines) if close is None else self.first[close]
        span: Row = self.lines.extent(start, stop - 1) if stop > start else {}
        following = (None, None) if close is None else self.lines.coordinate(stop)
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
