"""Hierarchy: levels, numbers that nest, containers that are not printed, order."""

import polars as pl
import pytest

from policyproof_assets.corpus.hierarchy import Container, HierarchyRules, NodeRule, build_hierarchy
from policyproof_assets.errors import ProvenanceError
from policyproof_assets.schemas import HEADINGS, HIERARCHY

LEVELS = (
    NodeRule(type="chapter", level=1, number=r"Chapter (?P<number>[IVXLC]+)", numerals="roman",
             ascending="document"),
    NodeRule(type="section", level=2, number=r"Section (?P<number>\d+)", ascending="parent"),
    NodeRule(type="article", level=3, number=r"Article (?P<number>\d+)", ascending="document"),
    NodeRule(type="annex", level=1, number=r"Annex (?P<number>[A-Z])", numerals="letter",
             ascending="document"),
)  # fmt: skip
NUMBERS = (NodeRule(type="part", scheme="part", number=r"(?P<number>\d+(\.\d+)*)",
                    ascending="document"),)  # fmt: skip
GROUPS = NodeRule(type="rule", scheme="rule", level=1, ascending="document",
                  number=r"(?P<group>MAP|RUN) (?P<number>\d+(\.\d+)?)")  # fmt: skip
CONTAINERS = (
    Container(scheme="rule", parts=1, type="rule_group", slug="rule-group", heading="{group}",
              level=2, printed=r"\d+(\.\d+)* (?i:{group})"),
    Container(scheme="rule", parts=2, type="rule_class", slug="rule-class",
              heading="{group} {number}", level=3),
)  # fmt: skip


def _build(*headings: tuple[str, str], nodes=LEVELS, containers=()) -> pl.DataFrame:
    rows = [
        {"document_id": "doc", "order": i, "type": kind, "page": i, "start_line": 1, "end_line": 1,
         "line_numbers": [1], "source_lines": [text], "marker": text, "title": "", "text": text,
         "method": "single_line"}
        for i, (kind, text) in enumerate(headings, 1)
    ]  # fmt: skip

    class _Profile:
        hierarchy = HierarchyRules(nodes=nodes, containers=containers)

    return build_hierarchy(pl.DataFrame(rows, schema=HEADINGS), _Profile())


def _paths(frame: pl.DataFrame) -> list[str]:
    return [" > ".join(path) for path in frame["path"]]


def test_a_level_stands_below_the_nearest_one_above_it():
    found = _build(
        ("chapter", "Chapter I"),
        ("article", "Article 1"),
        ("section", "Section 1"),
        ("article", "Article 2"),
        ("section", "Section 2"),
        ("annex", "Annex A"),
        ("section", "Section 1"),
    )
    assert found.columns == list(HIERARCHY)
    assert _paths(found) == [
        "Chapter I",
        "Chapter I > Article 1",
        "Chapter I > Section 1",
        "Chapter I > Section 1 > Article 2",
        "Chapter I > Section 2",
        "Annex A",
        "Annex A > Section 1",
    ]
    assert found["depth"].to_list() == [1, 2, 2, 3, 2, 1, 2]
    assert found["parent_id"][3] == "source:doc:page-0003:line-0001"
    assert found["ancestors"][3].to_list() == found["node_id"][[0, 2]].to_list()


def test_numbers_nest_below_the_nearest_printed_prefix():
    texts = ["1", "1.1", "1.1.1", "1.2", "2", "2.1.1", "2.10"]
    found = _build(*(("part", text) for text in texts), nodes=NUMBERS)
    assert _paths(found) == [
        "1", "1 > 1.1", "1 > 1.1 > 1.1.1", "1 > 1.2", "2", "2 > 2.1.1", "2 > 2.10"
    ]  # fmt: skip


def test_a_type_without_a_rule_stands_at_the_top():
    assert _build(("chapter", "Chapter I"), ("other", "Notes"))["depth"].to_list() == [1, 1]


def test_no_headings_make_no_nodes():
    assert _build().height == 0


def test_containers_are_made_before_their_first_heading():
    found = _build(
        ("part", "3"),
        ("rule", "MAP 1.1"),
        ("rule", "MAP 1.2"),
        ("rule", "MAP 2.1"),
        ("rule", "RUN 1.1"),
        ("part", "4"),
        nodes=(*NUMBERS, GROUPS),
        containers=CONTAINERS,
    )
    assert _paths(found) == [
        "3",
        "3 > MAP",
        "3 > MAP > MAP 1",
        "3 > MAP > MAP 1 > MAP 1.1",
        "3 > MAP > MAP 1 > MAP 1.2",
        "3 > MAP > MAP 2",
        "3 > MAP > MAP 2 > MAP 2.1",
        "3 > RUN",
        "3 > RUN > RUN 1",
        "3 > RUN > RUN 1 > RUN 1.1",
        "4",
    ]
    made = found.filter(pl.col("kind") == "synthetic").row(1, named=True)
    assert made["node_id"] == "synthetic:doc:rule-class:map:1"
    assert (made["synthetic_type"], made["type"], made["page"]) == ("rule_class", None, None)
    assert (made["group"], made["number"], made["marker"]) == ("MAP", "1", "MAP 1")
    assert (made["anchor_page"], made["anchor_line"]) == (2, 1)


def test_a_printed_heading_stands_for_its_container():
    found = _build(
        ("part", "5"),
        ("part", "5.2 Map"),
        ("rule", "MAP 1: A class"),
        ("rule", "MAP 1.1"),
        nodes=(*NUMBERS, GROUPS),
        containers=CONTAINERS,
    )
    assert _paths(found)[-1] == "5 > 5.2 Map > MAP 1: A class > MAP 1.1"
    assert set(found["kind"]) == {"source"}
    assert found.select("group", "number").rows()[2:] == [("MAP", "1"), ("MAP", "1")]


@pytest.mark.parametrize(
    ("headings", "message"),
    [
        ([("chapter", "Chapter IX"), ("chapter", "Chapter IV")], "Chapter IV"),
        ([("article", "Article 2"), ("article", "Article 2")], "Article 2"),
        (
            [("article", "Article 2"), ("chapter", "Chapter I"), ("article", "Article 1")],
            "Article 1",
        ),
        ([("section", "Section 2"), ("section", "Section 1")], "Section 1"),
        ([("annex", "Annex D"), ("annex", "Annex C")], "Annex C"),
    ],
)
def test_numbers_out_of_order_stop_the_build(headings, message):
    with pytest.raises(ProvenanceError, match="out of its numerical order") as error:
        _build(*headings)
    assert error.value.found == message


def test_numbers_may_start_again_below_another_parent():
    found = _build(
        ("chapter", "Chapter I"), ("section", "Section 2"),
        ("chapter", "Chapter II"), ("section", "Section 1"),
    )  # fmt: skip
    assert found["depth"].to_list() == [1, 2, 1, 2]


def test_a_container_that_begins_again_stops_the_build():
    with pytest.raises(ProvenanceError, match=r"doc: rule-group map begins again at page 3"):
        _build(
            ("rule", "MAP 1.1"),
            ("rule", "RUN 1.1"),
            ("rule", "MAP 1.2"),
            nodes=(GROUPS,),
            containers=CONTAINERS,
        )


def test_the_accepted_corpus_has_its_hierarchy(structures, accepted):
    ours = pl.concat(s.hierarchy for s in structures.values())
    theirs = accepted("heading-hierarchy")
    assert ours["node_id"].to_list() == [row["node_id"] for row in theirs]
    assert ours["path"].to_list() == [row["hierarchy_path"] for row in theirs]
