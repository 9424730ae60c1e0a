"""The ledger: one owner or one reason for every line, and the accepted ledger to the byte."""

import hashlib
from collections import Counter

import polars as pl
import pytest

from policyproof_assets.corpus.exclusions import LedgerRules, LineRule, RegionRule
from policyproof_assets.corpus.ledger import own_lines
from policyproof_assets.errors import ProvenanceError
from policyproof_assets.export.records import json_lines
from policyproof_assets.export.units import retrieval_ledger

from .packing import Rules, Text


def owners(text: Text) -> list[str]:
    rows = text.ledger().select("reason", "owner").rows()
    return [reason or owner.removeprefix("ns:doc:") for reason, owner in rows]


def with_rules(pages: list[list[str]], **rules) -> Text:
    return Text(pages, Rules(ledger=LedgerRules(**rules)))


def test_every_line_has_a_unit_a_heading_or_a_reason():
    text = Text([["# One", "", "text."]])
    node = "source:doc:page-0001:line-0001"
    assert owners(text) == [node, "blank_source_line", f"{node}:part-001"]


def test_furniture_may_be_bound_to_the_foot_of_a_page():
    rule = LineRule(pattern=r"\d+", reason="page_number", at="last")
    found = owners(with_rules([["# One", "7", "text.", "12"]], furniture=(rule,)))
    assert found[1].endswith("part-001")
    assert found[3] == "page_number"


def test_front_matter_keeps_its_furniture_apart():
    rules = {
        "front_matter": "front",
        "furniture": (LineRule(pattern="HEADER", reason="header"),),
    }
    assert owners(with_rules([["HEADER", "Title", "", "# One", "text."]], **rules))[:3] == [
        "header",
        "front",
        "front",
    ]


def test_a_region_runs_to_the_next_heading():
    region = RegionRule(start="Credits", reason="credits")
    text = with_rules(
        [["# One", "text.", "Credits", "A. Name"], ["# Two", "x."]], regions=(region,)
    )
    assert owners(text)[2:4] == ["credits", "credits"]
    assert owners(text)[5].endswith("part-001")


def test_a_division_is_context_of_what_follows():
    rule = LineRule(
        pattern=r"Part (?P<number>\d+): .*", reason="part_{number}_label", division="doc-{slug}"
    )
    text = with_rules([["# One", "x.", "Part 2: The Core", "# Two", "y."]], structure=(rule,))
    assert owners(text)[2] == "part_2_label"
    assert text.units()["structural_context"].to_list() == [[], ["doc-part-2-the-core"]]


def test_a_line_that_nobody_owns_stops_the_build():
    text = Text([["# One", "text."]])
    _, hierarchy, _ = text.structure()
    with pytest.raises(ProvenanceError, match="page 1 line 2 is owned by nobody"):
        own_lines(text.lines(), text.structure()[0], text.units().head(0), text.rules)
    assert len(hierarchy) == 1


def test_a_line_that_two_units_own_stops_the_build():
    text = Text([["# One", "text."]])
    twice = pl.concat([text.units(), text.units()])
    with pytest.raises(ProvenanceError, match="page 1 line 2 is owned twice"):
        own_lines(text.lines(), text.structure()[0], twice, text.rules)


def test_the_ledger_is_the_accepted_one_to_the_byte(packed, expected):
    digest = hashlib.sha256(b"".join(json_lines(retrieval_ledger(packed.ledger)))).hexdigest()
    assert digest == expected["export"]["retrieval-coordinate-ledger.jsonl"]


def test_the_ledger_has_the_expected_figures(packed, expected):
    figures, ledger = expected["ledger"], packed.ledger
    assert figures["records"] == len(ledger)
    assert figures["classifications"] == Counter(ledger["classification"])
    assert figures["reasons"] == Counter(ledger["reason"].drop_nulls())


@pytest.mark.parametrize(
    "rule",
    [
        {"pattern": "(", "reason": "r"},
        {"pattern": "Part (?P<number>\\d+)", "reason": "part_{numbre}"},
        {"pattern": "x", "reason": "r", "division": "{slugs}"},
    ],
    ids=["pattern", "reason", "division"],
)
def test_a_line_rule_that_cannot_work_is_refused_when_it_is_read(rule):
    with pytest.raises(ValueError, match="validation error"):
        LineRule.model_validate(rule)
