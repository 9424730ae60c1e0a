"""Units: greedy packing under a word budget, and the accepted units to the byte."""

import hashlib
import tomllib
from collections import Counter

import polars as pl
import pytest

from policyproof_assets.corpus.exclusions import LedgerRules, LineRule
from policyproof_assets.corpus.logical_sources import SourceRules
from policyproof_assets.corpus.recitals import RecitalRules
from policyproof_assets.corpus.reviews import Review
from policyproof_assets.corpus.units import UnitRules, pack
from policyproof_assets.errors import ProvenanceError, ReviewError
from policyproof_assets.export.records import json_lines
from policyproof_assets.export.units import retrieval_units

from .packing import LENIENT, Rules, Text


def cut(words, boundaries, target=4, hard=8, *, strict=True):
    return pack(words, list(boundaries), target, hard, strict=strict)


def test_the_rest_is_taken_if_it_fits():
    assert cut([3, 3, 2], ["t", "t"]) == [(0, 3, "end_of_source_unit")]


def test_a_unit_ends_at_the_first_boundary_at_or_after_the_target():
    assert cut([2, 2, 2, 2, 2], "tttt")[0] == (0, 2, "t")


def test_a_unit_ends_at_the_last_boundary_before_the_target_if_none_follows():
    assert cut([1, 1, 5, 3], ["a", "b", None])[0] == (0, 2, "b")


def test_without_a_safe_boundary_a_strict_profile_stops():
    assert cut([5, 5], [None]) is None


def test_a_lenient_profile_cuts_at_line_ends_and_lets_a_long_line_stand_alone():
    assert cut([5, 9, 2], [None, None], strict=False) == [
        (0, 1, "at_line_end"),
        (1, 2, "at_line_end"),
        (2, 3, "end_of_source_unit"),
    ]


def test_the_words_of_the_label_count():
    text = Text([["# One two", "a b c.", "D e f."]], Rules(UnitRules(target=5, hard=8)))
    assert len(text.units()) == 1
    assert Text(text.pages, Rules(UnitRules(target=5, hard=7))).units()["parts"].to_list() == [2, 2]


def test_a_source_that_cannot_be_packed_is_named():
    with pytest.raises(ProvenanceError, match=r"“One” from page 1 line 2") as failure:
        Text([["# One", "a b c", "d e f"]], Rules(UnitRules(target=2, hard=4))).units()
    assert "7 words" in failure.value.diagnostics()[1]


def test_a_reviewed_source_may_be_longer():
    row = {"kind": "long_source", "page": 1, "line": 2, "limit": 7, "text": "a b", "reason": "why"}
    review = Review.model_validate({"document_id": "doc", "rows": [row]})
    text = Text([["# One", "a b c", "d e f"]], Rules(UnitRules(target=2, hard=4)), review)
    assert text.units()["hard_limit"].to_list() == [7]


def test_a_review_of_another_source_decides_nothing():
    row = {"kind": "long_source", "page": 1, "line": 3, "limit": 7, "text": "d e", "reason": "why"}
    review = Review.model_validate({"document_id": "doc", "rows": [row]})
    with pytest.raises(ReviewError, match=r"long_source, page 1, line 3.*decides nothing"):
        Text([["# One", "a b c", "d e f"]], review=review).units()


def test_segments_break_at_blank_lines_and_pages():
    text = Text([["# One", "a", "", "b"], ["c"]])
    segments = text.units()["segments"][0].to_list()
    assert [(s["start_page"], s["start_line"], s["end_line"]) for s in segments] == [
        (1, 2, 2),
        (1, 4, 4),
        (2, 1, 1),
    ]


def test_a_heading_without_text_is_evidence_itself():
    units = Text([["# One", "# Two", "text."]]).units()
    assert units.select("kind", "label", "content_words").rows() == [
        ("heading_only", "One", 1),
        ("heading_body", "Two", 1),
    ]


def test_a_heading_above_excluded_lines_is_evidence_unless_the_profile_says_otherwise():
    ledger = LedgerRules(furniture=(LineRule(pattern="Page \\d+", reason="page_label"),))
    pages = [["# One", "Page 1"], ["# Two", "text."]]
    assert len(Text(pages, Rules(ledger=ledger)).units()) == 2
    units = UnitRules(sources=SourceRules(bare_headings="empty_span"))
    assert Text(pages, Rules(units, ledger)).units()["label"].to_list() == ["Two"]


def test_text_before_the_first_heading_is_a_source_unless_it_is_excluded():
    pages = [["A title", "# One", "text."]]
    assert Text(pages).units()["source_key"].to_list()[0] == "ns:doc:opening"
    assert len(Text(pages, Rules(ledger=LedgerRules(front_matter="cover"))).units()) == 1


def test_a_document_without_headings_is_one_source():
    units = Text([["Only text.", "And more."]], LENIENT).units()
    assert units.select("kind", "coordinates").rows() == [("frontmatter_body", 2)]


RECITALS = RecitalRules(after="^Whereas:$", before="^HAVE ADOPTED", footnote=r"\((\d+)\)\s")


def recital_text(*pages: list[str]) -> Text:
    rules = UnitRules(sources=SourceRules(recitals=RECITALS))
    ledger = LedgerRules(
        front_matter="front",
        structure=(LineRule(pattern="HAVE ADOPTED.*", reason="enacting_formula"),),
    )
    return Text([*pages, ["HAVE ADOPTED THIS:", "# One", "text."]], Rules(rules, ledger))


def test_recitals_and_footnotes_of_the_same_form_are_told_apart_by_their_count():
    text = recital_text(
        ["Whereas:", "(1) First, as (1) says.", "(2) Second,", "(1) A note.", "of two lines."],
        ["which goes on.", "(3) Third.", "(2) Another note."],
    )
    units = text.units().filter(pl.col("kind") == "recital")
    assert units.select("label", "coordinates").rows() == [
        ("Recital 1", 1),
        ("Recital 2", 2),
        ("Recital 3", 1),
    ]
    reasons = Counter(text.ledger()["reason"])
    assert reasons["numbered_reference_region"] == 3


def test_a_missing_recital_stops_the_build():
    text = recital_text(["Whereas:", "(1) First.", "(3) Third."])
    with pytest.raises(ProvenanceError, match="missing or out of order at page 1 line 3"):
        text.units()


def test_recitals_that_nothing_ends_stop_the_build():
    text = recital_text(["Whereas:", "(1) First."])
    with pytest.raises(ProvenanceError, match="nothing ends the recitals at page 1 line 1"):
        Text([text.pages[0], ["# One", "text."]], text.rules).units()


def test_the_units_are_the_accepted_ones_to_the_byte(packed, accepted, expected):
    ours = list(retrieval_units(packed.units))
    for mine, theirs in zip(ours, accepted("retrieval-units"), strict=True):
        assert list(mine) == list(theirs)
        assert mine == theirs
    digest = hashlib.sha256(b"".join(json_lines(ours))).hexdigest()
    assert digest == expected["export"]["retrieval-units.jsonl"]


def test_the_units_have_the_expected_figures(packed, expected):
    figures, units = expected["units"], packed.units
    assert figures["units"] == len(units)
    assert figures["sources"] == units["source_key"].n_unique()
    assert figures["kinds"] == Counter(units["kind"])
    assert figures["boundaries"] == Counter(units["boundary"])
    inside = units.filter(~pl.col("boundary").str.starts_with("end_of"))
    assert figures["internal_boundaries"] == len(inside)


def test_the_profiles_name_no_document(manifests, corpus):
    for document in corpus.documents:
        path = manifests / "profiles" / f"{document.profile}.toml"
        assert document.id not in path.read_text(encoding="utf-8")
        assert tomllib.loads(path.read_text(encoding="utf-8"))["units"]


@pytest.mark.parametrize(
    "rule", [{"number": r"\d+"}, {"key": "recital-{n}"}], ids=["no group", "unknown name"]
)
def test_recital_rules_that_cannot_work_are_refused_when_they_are_read(rule):
    with pytest.raises(ValueError, match="validation error"):
        RecitalRules.model_validate({"after": "a", "before": "b"} | rule)
