"""Where a text may be cut between two lines."""

import dataclasses

import pytest

from policyproof_assets.corpus.boundaries import (
    ENTRY,
    STRUCTURED,
    TERMINAL,
    BoundaryRules,
    ReferenceRules,
)
from policyproof_assets.corpus.reviews import Review
from policyproof_assets.corpus.units import UnitRules
from policyproof_assets.errors import ProvenanceError, ReviewError

from .packing import Rules, Text

RULES = BoundaryRules(footnote=r"\d{1,2} [A-Z]")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("A sentence ends.", "Another begins.", TERMINAL),
        ("He asks why?”)", "Another begins.", TERMINAL),
        ("No sentence ends", "Another begins.", None),
        ("see point 4.5.", "and the fifth paragraph", None),
        ("It is published.", "https://example.org", None),
        ("It is widely known.", "11 The footnote says so", None),
        ("the first;", "(b) the second", STRUCTURED),
        ("the first;", "2. The second", STRUCTURED),
        ("a list", "• an item", STRUCTURED),
        ("a list", "[12] An entry", STRUCTURED),
        ("of points 1,", "6 and 7 of an annex", STRUCTURED),
        ("the following:", "(a) the first", None),
        ("A. Author, B. Author and", "C. Author, a title", None),
        ("Northern Sotho", "(Sepedi)", None),
        ("5. A full stop before an item.", "6. Another item", TERMINAL),
        ("the note says", "12 Another footnote", None),
    ],
)
def test_a_boundary_is_safe_after_a_sentence_or_before_an_item(before, after, expected):
    assert RULES.between(before, after) == expected


def test_without_a_footnote_pattern_a_number_starts_an_item():
    assert BoundaryRules().between("the note says", "12 Another line") == STRUCTURED


def test_a_reference_list_is_cut_between_entries_only():
    references = (ReferenceRules(heading="Ref", start=r"^\[\d+\]"),)
    units = Text(
        [["# Ref", "[1] A title. Ends here.", "Goes on in 2020.", "[2] Two.", "Three four."]],
        Rules(UnitRules(target=4, hard=11, references=references)),
    ).units()
    assert units["boundary"].to_list() == [ENTRY, "end_of_source_unit"]
    assert units.select("entry_first", "entry_last").rows() == [(1, 1), (2, 2)]


def rejecting(**change) -> Text:
    row = {
        "kind": "reject_boundary",
        "page": 1,
        "line": 3,
        "text": "two three.",
        "next_text": "Four five",
        "reason": "a caption ends here",
    }
    review = Review.model_validate({"document_id": "doc", "rows": [row | change]})
    pages = [["# One", "Zero one.", "two three.", "Four five", "six."]]
    return Text(pages, Rules(UnitRules(target=2, hard=6)), review)


def test_a_rejected_boundary_is_not_used():
    with pytest.raises(ProvenanceError, match="no safe boundary"):
        rejecting().units()
    assert len(dataclasses.replace(rejecting(), review=Text([]).review).units()) == 2


def test_a_rejection_that_does_not_match_its_source_is_an_error():
    with pytest.raises(ReviewError, match=r"reject_boundary, page 1, line 3"):
        rejecting(next_text="Other words").units()


def test_a_rejection_of_what_the_rules_reject_decides_nothing():
    with pytest.raises(ReviewError, match="decides nothing"):
        rejecting(line=2, text="Zero one.", next_text="two three.", next_line=None).units()
