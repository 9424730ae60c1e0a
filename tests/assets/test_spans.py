"""Spans: what belongs to a heading; and that they share out a document whatever happened to it."""

from itertools import pairwise

import polars as pl
import pytest

from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.spans import measure_spans
from policyproof_assets.errors import ProvenanceError, ReviewError
from policyproof_assets.schemas import HIERARCHY, SPANS

LINES = Lines("doc", (1, 1, 1, 1, 2, 2), (1, 2, 3, 4, 1, 2), ("A", "text", " ", "B", "C", "text"))


def _node(order: int, depth: int, page: int, start: int, end: int) -> dict:
    return dict.fromkeys(HIERARCHY) | {
        "document_id": "doc", "node_id": f"source:{order}", "kind": "source", "order": order,
        "depth": depth, "page": page, "start_line": start, "end_line": end,
    }  # fmt: skip


def _synthetic(order: int, depth: int, page: int, line: int) -> dict:
    return dict.fromkeys(HIERARCHY) | {
        "document_id": "doc", "node_id": f"synthetic:{order}", "kind": "synthetic", "order": order,
        "depth": depth, "anchor_page": page, "anchor_line": line,
    }  # fmt: skip


def _measure(*nodes: dict) -> list[dict]:
    frame = measure_spans(LINES, pl.DataFrame(nodes, schema=HIERARCHY))
    assert frame.columns == list(SPANS)
    return frame.rows(named=True)


def _ends(span: dict) -> tuple:
    return tuple(span[key] for key in ("start_page", "start_line", "end_page", "end_line"))


def test_a_body_ends_before_the_next_heading_and_a_subtree_before_the_next_as_high():
    a, b, c = _measure(_node(1, 1, 1, 1, 1), _node(2, 2, 1, 4, 4), _node(3, 1, 2, 1, 1))
    assert _ends(a["direct_body"]) == (1, 2, 1, 3)
    assert (a["direct_body"]["lines"], a["direct_body"]["nonblank"]) == (2, 1)
    assert (a["direct_body"]["next_page"], a["direct_body"]["next_line"]) == (1, 4)
    assert _ends(a["subtree"]) == (1, 2, 1, 4)
    assert (a["subtree"]["next_page"], a["subtree"]["next_line"]) == (2, 1)
    assert (_ends(b["direct_body"]), b["direct_body"]["lines"]) == ((None,) * 4, 0)
    assert (_ends(c["subtree"]), c["subtree"]["next_page"]) == ((2, 2, 2, 2), None)
    assert [row["envelope"] for row in (a, b, c)] == [None] * 3


def test_a_container_encloses_its_headings_and_ends_no_subtree():
    a, made, b, other, c = _measure(
        _node(1, 2, 1, 1, 1),
        _synthetic(2, 2, 1, 4),
        _node(3, 3, 1, 4, 4),
        _synthetic(4, 2, 2, 1),
        _node(5, 3, 2, 1, 1),
    )
    assert (made["direct_body"], made["subtree"]) == (None, None)
    assert (_ends(made["envelope"]), made["envelope"]["headings"]) == ((1, 4, 1, 4), 1)
    assert (_ends(other["envelope"]), other["envelope"]["next_page"]) == ((2, 1, 2, 2), None)
    assert _ends(a["subtree"]) == (1, 2, 2, 2)
    assert (b["subtree"]["lines"], c["subtree"]["lines"]) == (0, 1)


def test_a_heading_on_the_last_line_has_an_empty_body():
    (row,) = _measure(_node(1, 1, 2, 2, 2))
    assert (row["direct_body"]["lines"], row["direct_body"]["next_page"]) == (0, None)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ((_node(1, 1, 1, 4, 4), _node(2, 1, 1, 2, 2)), "source:2 begins before source:1 ends"),
        ((_node(1, 1, 1, 1, 3), _node(2, 1, 1, 3, 3)), "source:2 begins before source:1 ends"),
        ((_node(1, 1, 3, 1, 1),), "no line on page 3"),
        ((_node(1, 1, 1, 1, 9),), "page 1 has no line 9"),
    ],
)
def test_nodes_that_are_not_in_the_lines_in_order_stop_the_build(nodes, message):
    with pytest.raises(ProvenanceError, match=message):
        _measure(*nodes)


def test_the_accepted_corpus_has_its_empty_bodies(structures, accepted):
    ours = [row for s in structures.values() for row in s.spans["direct_body"].to_list()]
    theirs = [row["direct_body"] for row in accepted("heading-spans")]
    assert [span and span["lines"] for span in ours] == [
        span and span["raw_line_count"] for span in theirs
    ]


def _assert_shared_out(lines: Lines, headings: pl.DataFrame, spans: pl.DataFrame) -> None:
    """Every line from the first heading on is of one heading or of one direct body."""
    firsts = [lines.position(*at) for at in headings.select("page", "start_line").iter_rows()]
    assert all(a < b for a, b in pairwise(firsts))
    owned = []
    for page, start, end in headings.select("page", "start_line", "end_line").iter_rows():
        owned += range(lines.position(page, start), lines.position(page, end) + 1)
    for span in spans["direct_body"]:
        if span and span["lines"]:
            first, last, following, final = _ends(span)
            owned += range(lines.position(first, last), lines.position(following, final) + 1)
    assert sorted(owned) == list(range(firsts[0], len(lines)))


def _holds_or_says_why(read, pages, profile, review) -> str | None:
    """Return the reason the build stopped, or None where what it made holds together."""
    try:
        lines, headings, _, spans = read(pages, profile, review)
    except (ProvenanceError, ReviewError) as error:
        return str(error)
    _assert_shared_out(lines, headings, spans)
    return None


def test_the_accepted_spans_share_out_each_document(structures):
    for s in structures.values():
        _assert_shared_out(s.lines, s.headings, s.spans)


def _with_texts(pages: pl.DataFrame, texts: dict[int, str]) -> pl.DataFrame:
    new = [texts.get(page, text) for page, text in pages.select("page", "text").iter_rows()]
    return pages.with_columns(pl.Series("text", new))


def test_a_missing_page_leaves_a_document_that_is_shared_out(structures, read_structure):
    for s in structures.values():
        for page in s.pages["page"].to_list()[::25]:
            rest = s.pages.filter(pl.col("page") != page)
            assert _holds_or_says_why(read_structure, rest, s.profile, s.review) is None


def test_two_pages_in_each_others_place_are_shared_out_or_refused(structures, read_structure):
    reasons = []
    for s in structures.values():
        texts = dict(s.pages.select("page", "text").iter_rows())
        for page in list(texts)[:-7:25]:
            swapped = _with_texts(s.pages, {page: texts[page + 7], page + 7: texts[page]})
            reasons.append(_holds_or_says_why(read_structure, swapped, s.profile, s.review))
    assert any("order" in reason for reason in reasons if reason)


def test_swapped_pages_with_headings_are_refused(structures, read_structure):
    for s in structures.values():
        kinds = s.headings.filter(pl.col("text").str.contains(r"\d"))
        numbered = kinds["page"].unique().sort().to_list()
        first, last = numbered[len(numbered) // 3], numbered[2 * len(numbered) // 3]
        texts = dict(s.pages.select("page", "text").iter_rows())
        swapped = _with_texts(s.pages, {first: texts[last], last: texts[first]})
        reason = _holds_or_says_why(read_structure, swapped, s.profile, s.review)
        assert "order" in str(reason) or "begins again" in str(reason)


@pytest.mark.parametrize(
    "change",
    [str.lower, lambda _: "", lambda line: line[: len(line) // 2]],
    ids=["lower case", "lost", "cut in half"],
)
def test_an_altered_heading_line_leaves_a_document_that_is_shared_out(
    structures, read_structure, change
):
    for s in structures.values():
        texts = dict(s.pages.select("page", "text").iter_rows())
        for page, line in s.headings[::60].select("page", "end_line").iter_rows():
            rows = texts[page].splitlines()
            rows[line - 1] = change(rows[line - 1])
            altered = _with_texts(s.pages, {page: "\n".join(rows)})
            _holds_or_says_why(read_structure, altered, s.profile, s.review)
