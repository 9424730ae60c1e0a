"""Passages: the best partition under a token budget, and the accepted passages to the byte."""

import hashlib
from collections import Counter
from itertools import combinations, pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyproof_assets.corpus.partition import partition
from policyproof_assets.corpus.passages import PassageRules
from policyproof_assets.corpus.proofs import Evidence, prove_all
from policyproof_assets.corpus.reviews import Review
from policyproof_assets.corpus.units import UnitRules
from policyproof_assets.errors import ProvenanceError, ReviewError
from policyproof_assets.export.records import json_lines
from policyproof_assets.export.units import retrieval_passages

from .packing import COUNTER, LENIENT, Rules, Text

HARD, TARGET = 20, 16


def cost(weights, cuts, label, ends):
    """What partitions are ordered by, said plainly; None if a part is over the limit."""
    sizes = [label + sum(weights[a:b]) for a, b in pairwise([0, *ends])]
    if max(sizes) > HARD:
        return None
    penalty = sum(cuts.get(end, 0) for end in ends)
    return len(ends), penalty, sum(abs(TARGET - size) for size in sizes)


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=9),
    st.dictionaries(st.integers(1, 8), st.integers(0, 1)),
    st.integers(0, 4),
)
def test_no_other_partition_is_better(weights, cuts, label):
    cuts = {place: penalty for place, penalty in cuts.items() if place < len(weights)}
    choices = [
        [*places, len(weights)]
        for size in range(len(cuts) + 1)
        for places in combinations(sorted(cuts), size)
    ]
    costs = [found for ends in choices if (found := cost(weights, cuts, label, ends))]
    ends = partition(weights, cuts, label=label, hard=HARD, target=TARGET)
    if ends is None:
        assert not costs
    else:
        assert cost(weights, cuts, label, ends) == min(costs)


def test_on_a_tie_the_last_part_starts_earliest():
    assert partition([8, 4, 8], {1: 0, 2: 0}, label=0, hard=12, target=10) == [1, 3]


def test_a_cut_inside_a_line_is_worse_than_an_uneven_one_at_its_end():
    assert partition([5, 5, 5], {1: 0, 2: 1}, label=0, hard=10, target=8) == [1, 3]


words = st.text("abc", min_size=1, max_size=50)
line = st.lists(words | st.sampled_from(["End.", "(a)", "1."]), min_size=0, max_size=12).map(
    " ".join
)
page = st.lists(line | st.just("# Head"), max_size=6)


@given(st.lists(page, min_size=1, max_size=3))
def test_any_text_is_cut_without_loss_under_the_limit(pages):
    text = Text([["Start.", *pages[0]], *pages[1:]], LENIENT)
    # Lenient profiles cut inside lines without a review.
    text.prove(but="cuts_inside_a_line_are_reviewed_or_lenient")
    passages = text.passages()
    assert passages["tokens"].to_list() == COUNTER.count_all(passages["retrieval_text"])


def test_lines_join_with_a_newline_and_gaps_of_a_page_with_a_blank_line():
    text = Text([["# One", " a ", "b", "", "c"], ["d"]])
    passage = text.passages().row(0, named=True)
    assert passage["citation_text"] == "a\nb\n\nc\nd"
    assert passage["retrieval_text"] == "One\n\na\nb\n\nc\nd"


def test_a_heading_without_text_is_its_own_passage():
    passage = Text([["# One"]]).passages().row(0, named=True)
    assert (passage["citation_text"], passage["retrieval_text"]) == ("One", "One")


CUT = {
    "kind": "cut_in_line",
    "page": 1,
    "line": 2,
    "char": 9,
    "text": "aaaa ab.",
    "next_text": "Bbbb",
    "reason": "the only sentence end",
}


def reviewed(**change) -> Text:
    rows = [CUT | change]
    review = Review.model_validate({"document_id": "doc", "rows": rows})
    rules = Rules(UnitRules(), passages=PassageRules(target=12, hard=13))
    return Text([["# x", "aaaa ab. Bbbb bb", "bb."]], rules, review)


def test_a_reviewed_place_inside_a_line_may_end_a_passage():
    found = reviewed().passages()
    assert found["citation_text"].to_list() == ["aaaa ab.", "Bbbb bb\nbb."]
    assert found["boundary"].to_list() == ["after_sentence_in_line", "end_of_source_unit"]
    assert found["boundary_char"].to_list() == [9, None]
    assert found["coordinates"].to_list() == [1, 2]


def test_without_a_review_a_strict_profile_stops():
    text = reviewed()
    with pytest.raises(ProvenanceError, match="“x” from page 1 line 2 does not fit"):
        Text(text.pages, text.rules).passages()


def test_a_cut_that_does_not_match_its_source_is_an_error():
    with pytest.raises(ReviewError, match=r"cut_in_line, page 1, line 2\) does not match"):
        reviewed(next_text="Cccc").passages()


def test_a_cut_in_a_line_that_is_no_content_decides_nothing():
    with pytest.raises(ReviewError, match="decides nothing"):
        reviewed(line=1, char=1, text="#", next_text="x").passages()


def test_the_target_is_under_the_limit():
    with pytest.raises(ValueError, match="at most its hard limit"):
        PassageRules(target=500)


def test_the_passages_are_the_accepted_ones_to_the_byte(packed, accepted, expected):
    ours = list(retrieval_passages(packed.passages))
    for mine, theirs in zip(ours, accepted("retrieval-passages"), strict=True):
        assert list(mine) == list(theirs)
        assert mine == theirs
    digest = hashlib.sha256(b"".join(json_lines(ours))).hexdigest()
    assert digest == expected["export"]["retrieval-passages.jsonl"]


def test_the_passages_have_the_expected_figures(packed, expected):
    figures, passages = expected["passages"], packed.passages
    assert figures["passages"] == len(passages)
    assert figures["kinds"] == Counter(passages["kind"])
    assert figures["documents"] == Counter(passages["document_id"])
    assert figures["boundaries"] == Counter(passages["boundary"])
    assert figures["cuts_in_lines"] == passages["boundary_char"].count()
    assert figures["with_reference_entries"] == passages["entry_first"].count()
    assert figures["maximum_tokens"] == passages["tokens"].max()
    assert figures["at_maximum_tokens"] == Counter(passages["tokens"])[figures["maximum_tokens"]]
    for name in ("retrieval", "citation"):
        characters = passages[f"{name}_text"].str.len_chars().sum()
        assert figures[f"{name}_characters"] == characters


def test_the_accepted_corpus_has_every_property(packed, structures, counter):
    for document, s in structures.items():
        frames = {
            phase: frame.filter(pl.col("document_id") == document)
            for phase, frame in packed._asdict().items()
        }
        assert len(prove_all(Evidence(s.lines, frames, s.profile, s.review))) == 9
    passages = packed.passages
    assert passages["tokens"].to_list() == counter.count_all(passages["retrieval_text"])
