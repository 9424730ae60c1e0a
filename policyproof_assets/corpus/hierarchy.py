"""The tree over a document's headings, with synthetic containers where it prints none."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt

from policyproof_assets.errors import ProvenanceError
from policyproof_assets.schemas import HIERARCHY

if TYPE_CHECKING:
    from policyproof_assets.corpus.profiles import Profile

Key = tuple[str | int, ...]

_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NodeRule(_Model):
    """Where headings of one type stand."""

    type: str
    #: Depth the type has where every level above it is printed; with ``scheme``, what the parts of
    #: the number are added to.
    level: NonNegativeInt = 0
    #: Finds the named groups ``number`` and, where numbers restart by group, ``group``.
    number: re.Pattern[str] | None = None
    numerals: Literal["decimal", "roman", "letter"] = "decimal"
    #: Headings of one scheme nest by their numbers: 3.3.1 below 3.3 below 3.
    scheme: str | None = None
    #: Within what the numbers must ascend.
    ascending: Literal["document", "parent"] | None = None

    def key(self, text: str) -> Key:
        """Return a heading's number as comparable parts, its group first if it has one."""
        match = self.number.match(text) if self.number else None
        if match is None:
            return ()
        named = match.groupdict()
        parts = tuple(_ordinal(part, self.numerals) for part in named["number"].split("."))
        return (named["group"], *parts) if named.get("group") else parts


class Container(_Model):
    """A level of a scheme that is made where the document does not print it."""

    scheme: str
    #: How many parts of the number the level has, the group counted.
    parts: PositiveInt
    type: str
    #: The part of the node's id that names the level.
    slug: str
    #: How the node reads: of {group} and {number}.
    heading: str
    level: PositiveInt
    #: An open heading that reads so stands for the container; {group} is filled in.
    printed: str | None = None

    def is_printed(self, node: _Node, key: Key) -> bool:
        """Tell whether the open ``node`` stands for the container with the number ``key``."""
        if node.scheme == self.scheme and node.key == key:
            return True
        pattern = (self.printed or "").replace("{group}", re.escape(str(key[0])))
        return bool(self.printed and re.fullmatch(pattern, node.heading))


class HierarchyRules(_Model):
    """The section [hierarchy] of a profile."""

    nodes: tuple[NodeRule, ...] = Field(min_length=1)
    containers: tuple[Container, ...] = ()

    def rule(self, kind: str) -> NodeRule:
        """Return the rule for headings of type ``kind``; by default they stand at the top."""
        known = (rule for rule in self.nodes if rule.type == kind)
        return next(known, NodeRule(type=kind, level=1))

    def container_of(self, scheme: str | None, key: Key) -> tuple[str | None, str | None]:
        """Return group and number of the innermost container that ``key`` is in or is."""
        parts = max((c.parts for c in self.containers if c.scheme == scheme), default=0)
        if not parts or not key:
            return None, None
        return str(key[0]), _print(key[1:parts]) or None


def build_hierarchy(headings: pl.DataFrame, profile: Profile) -> pl.DataFrame:
    """Return the nodes of one document in preorder (columns of HIERARCHY).

    Raises ProvenanceError where numbers do not ascend as the profile says or a container would
    stand in two places, as when pages are out of order.
    """
    tree = _Tree(profile.hierarchy)
    for heading in headings.sort("order").iter_rows(named=True):
        tree.add(heading)
    return pl.DataFrame(tree.rows, schema=HIERARCHY)


@dataclass(frozen=True)
class _Node:
    """A node that may still get children."""

    node_id: str
    heading: str
    level: int
    scheme: str | None
    key: Key


@dataclass
class _Tree:
    rules: HierarchyRules
    rows: list[dict[str, Any]] = field(default_factory=list)
    open: list[_Node] = field(default_factory=list)
    last: dict[tuple[object, ...], Key] = field(default_factory=dict)

    def add(self, heading: dict[str, Any]) -> None:
        """Append the node of ``heading``, and the containers it needs before it."""
        rule = self.rules.rule(heading["type"])
        key = rule.key(heading["text"])
        level = rule.level + (len(key) if rule.scheme else 0)
        self._close(level, rule.scheme, key)
        for container in self.rules.containers:
            if container.scheme == rule.scheme and container.parts < len(key):
                self._add_container(container, key[: container.parts], heading)
        page, line = heading["page"], heading["start_line"]
        node_id = f"source:{heading['document_id']}:page-{page:04d}:line-{line:04d}"
        node = _Node(node_id, heading["text"], level, rule.scheme, key)
        self._check_order(rule, node)
        copied = ("document_id", "marker", "type", "page", "start_line", "end_line")
        self._append(node, kind="source", **{name: heading[name] for name in copied})

    def _close(self, level: int, scheme: str | None, key: Key) -> None:
        """Close the nodes that cannot hold one of this level and number."""
        while self.open:
            node = self.open[-1]
            other = scheme and node.scheme == scheme and key[: len(node.key)] != node.key
            if node.level < level and not other:
                return
            self.open.pop()

    def _add_container(self, container: Container, key: Key, heading: dict[str, Any]) -> None:
        if any(container.is_printed(node, key) for node in self.open):
            return
        self._close(container.level, container.scheme, key)
        group, number = self.rules.container_of(container.scheme, key)
        document, parts = heading["document_id"], ":".join(str(part).lower() for part in key)
        node_id = f"synthetic:{document}:{container.slug}:{parts}"
        if any(row["node_id"] == node_id for row in self.rows):
            raise ProvenanceError(
                f"{document}: {container.slug} {parts} begins again at page {heading['page']}, "
                f"line {heading['start_line']}",
                expected="the headings of one container one after the other",
                found=heading["text"],
                action="check that no page is missing or out of order",
            )
        text = container.heading.format(group=group, number=number)
        self._append(
            _Node(node_id, text, container.level, container.scheme, key),
            document_id=document,
            kind="synthetic",
            synthetic_type=container.type,
            marker=text,
            anchor_page=heading["page"],
            anchor_line=heading["start_line"],
        )

    def _append(self, node: _Node, **values: object) -> None:
        group, number = self.rules.container_of(node.scheme, node.key)
        ancestors = [above.node_id for above in self.open]
        self.open.append(node)
        row = {
            "node_id": node.node_id,
            "order": len(self.rows) + 1,
            "depth": len(self.open),
            "parent_id": ancestors[-1] if ancestors else None,
            "ancestors": ancestors,
            "path": [above.heading for above in self.open],
            "heading": node.heading,
            "group": group,
            "number": number,
        }
        self.rows.append(row | values)

    def _check_order(self, rule: NodeRule, node: _Node) -> None:
        if not rule.ascending or not node.key:
            return
        parent = self.open[-1].node_id if self.open and rule.ascending == "parent" else None
        group = node.key[0] if isinstance(node.key[0], str) else None
        scope = (rule.scheme or rule.type, group, parent)
        before = self.last.get(scope)
        if before is not None and before >= node.key:
            raise ProvenanceError(
                f"{node.node_id}: the heading is out of its numerical order",
                expected=f"a number after {_print(before)}",
                found=node.heading,
                action="check that no page is missing or out of order",
            )
        self.last[scope] = node.key


def _ordinal(text: str, numerals: str) -> int:
    if numerals == "roman":
        digits = [_ROMAN[letter] for letter in text.upper()]
        return sum(-a if a < b else a for a, b in pairwise([*digits, 0]))
    return ord(text.upper()) if numerals == "letter" else int(text)


def _print(key: Key) -> str:
    return ".".join(str(part) for part in key)
