"""Headings: which lines begin one, what continues it, how it reads."""

import polars as pl
import pytest

from policyproof_assets.corpus.headings import HeadingPattern, HeadingRules, Repair, find_headings
from policyproof_assets.corpus.hyphens import Hyphens
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.reviews import Review
from policyproof_assets.errors import ReviewError
from policyproof_assets.schemas import HEADINGS, PAGES

PART = {"type": "part", "pattern": r"PART \d+"}
NONE = Review(document_id="doc")


class _Profile:
    def __init__(self, *patterns: dict, **rules) -> None:
        self.headings = HeadingRules(
            patterns=tuple(HeadingPattern(**pattern) for pattern in patterns), **rules
        )


def _find(pages: list[str], *patterns: dict, review: Review = NONE, **rules) -> pl.DataFrame:
    frame = pl.DataFrame(
        [{"document_id": "doc", "page": i, "text": text} for i, text in enumerate(pages, 1)],
        schema=PAGES,
    )
    return find_headings(Lines.from_pages(frame), _Profile(*patterns or (PART,), **rules), review)


def _review(**row) -> Review:
    return Review(document_id="doc", rows=({"page": 1, "reason": "looked at", **row},))


def test_a_heading_is_a_whole_line_whatever_its_white_space():
    found = _find(["see PART 1\n PART  2 \nPART 3 of\n"])
    assert found.columns == list(HEADINGS)
    assert found.select("order", "page", "start_line", "end_line", "text").rows() == [
        (1, 1, 2, 2, "PART 2")
    ]


def test_a_document_without_headings_has_none():
    assert _find(["some text"]).height == 0


def test_a_page_with_a_contents_line_has_no_headings():
    found = _find(["Table of Contents\nPART 1\n", "PART 1\n"])
    assert found["page"].to_list() == [2]


def test_a_line_over_the_limit_or_of_the_frame_is_no_heading():
    assert _find(["PART 1234"], max_chars=8).height == 0
    assert _find(["PART 1"], furniture=("PART .*",)).height == 0


def test_the_first_pattern_that_matches_decides():
    found = _find(["PART 1"], {"type": "named", "pattern": "PART 1"}, PART)
    assert found["type"].to_list() == ["named"]


def test_a_type_may_be_limited_to_below_another():
    annex = {"type": "annex", "pattern": "[A-Z] .*", "below": ("part",)}
    found = _find(["A dog\nPART 1\n", "B cat\n"], PART, annex)
    assert found["text"].to_list() == ["PART 1", "B cat"]


def test_a_type_may_be_a_reference_below_another_on_its_page():
    annex = {"type": "annex", "pattern": "ANNEX"}
    part = PART | {"not_below_on_page": ("annex",)}
    found = _find(["PART 1\nANNEX\nPART 2\n", "PART 3\n"], part, annex)
    assert found["text"].to_list() == ["PART 1", "ANNEX", "PART 3"]


TITLED = PART | {"continuation": "title_line", "form": "{marker} — {title}", "method": "two"}


def test_a_title_line_may_follow_blank_lines():
    (row,) = _find(["PART 1\n\n \nGoals and\nmeans\n"], TITLED).rows(named=True)
    assert (row["marker"], row["title"], row["text"]) == (
        "PART 1",
        "Goals and",
        "PART 1 — Goals and",
    )
    assert (row["line_numbers"], row["end_line"]) == ([1, 4], 4)
    assert (row["source_lines"], row["method"]) == (["PART 1", "Goals and"], "two")


@pytest.mark.parametrize(
    "page", ["PART 1\n", "PART 1\n\n", "PART 1\nPART 2\n", "PART 1\n1. Text\n"]
)
def test_a_marker_without_a_title_reads_as_itself(page):
    first = _find([page, "on the next page"], TITLED, body=(r"\d+\. .*",)).row(0, named=True)
    assert (first["text"], first["title"], first["end_line"]) == ("PART 1", "", 1)


def test_a_title_may_run_until_the_body_opens():
    until_body = TITLED | {"continuation": "until_body"}
    (row,) = _find(["PART 1\nGoals of\nthe law\nThis is:\nx"], until_body, body=(".*:",)).rows(
        named=True
    )
    assert row["text"] == "PART 1 — Goals of the law"


def test_a_sentence_may_run_on_until_it_ends():
    rule = {"type": "rule", "pattern": r"R\d+: .*", "continuation": "until_sentence_end"}
    pages = ["R1: One (e.g. a\nor b.)\nBody.\nR2: Two\nR3: Three\nTable 1\nmore\n"]
    found = _find(pages, rule, furniture=(r"Table \d+",))
    assert found["text"].to_list() == ["R1: One (e.g. a or b.)", "R2: Two", "R3: Three"]
    assert found["title"].to_list() == ["", "", ""]


LONG = {"type": "rule", "pattern": r"R\d+: .*", "continuation": "until_sentence_end"}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("neither half is a word", "R1: The system."),
        ("a system", "R1: The system."),
        ("a sys-tem", "R1: The sys-tem."),
        ("a sys-tem, a system", "R1: The system."),
        ("the tem of a sys", "R1: The sys-tem."),
    ],
)
def test_a_hyphen_at_a_line_end_is_decided_by_the_words_of_the_document(body, text):
    (row,) = _find([f"{body}\nR1: The sys-\ntem.\n"], LONG).rows(named=True)
    assert row["text"] == text
    assert row["marker"] == "R1: The sys-"


def test_halves_of_broken_words_are_no_words():
    hyphens = Hyphens(["a con-", "text now", "of rele-", "vant use"])
    assert not hyphens.belongs_to_word("con-", "vant")


def test_a_hyphen_before_a_capital_or_a_dash_stays():
    (row,) = _find(["R1: Human-\nAI –\nand more.\n"], LONG).rows(named=True)
    assert row["text"] == "R1: Human- AI – and more."


def test_a_repair_mends_what_the_extraction_broke():
    repair = Repair(pattern=r"(?<=[a-z])(?=MAP\b)", replacement=" ")
    (row,) = _find(["R1: In theMAP use."], LONG, repairs=(repair,)).rows(named=True)
    assert (row["text"], row["marker"]) == ("R1: In the MAP use.", "R1: In theMAP use.")


def test_a_review_keeps_a_hyphen():
    row = {"kind": "keep_hyphen", "line": 2, "text": "sys-", "next_text": "tem"}
    found = _find(["system\nR1: The sys-\ntem.\n"], LONG, review=_review(**row))
    assert found["text"].to_list() == ["R1: The sys-tem."]


def test_a_review_corrects_a_text():
    row = {"kind": "correct_text", "line": 1, "text": "teh", "replacement": "the"}
    (found,) = _find(["R1: In teh end."], LONG, review=_review(**row)).rows(named=True)
    assert (found["text"], found["marker"]) == ("R1: In the end.", "R1: In teh end.")


def test_a_review_adds_a_heading_and_rejects_one():
    row = {"kind": "heading", "line": 1, "text": "Preamble", "type": "part"}
    assert _find(["Preamble\nof the law"], TITLED, review=_review(**row))["text"].to_list() == [
        "Preamble — of the law"
    ]
    row = {"kind": "not_heading", "line": 1, "text": "PART 1"}
    assert _find(["PART 1\nPART 2"], review=_review(**row))["text"].to_list() == ["PART 2"]


@pytest.mark.parametrize(
    "row",
    [
        {"kind": "not_heading", "line": 2, "text": "text"},
        {"kind": "correct_text", "line": 2, "text": "text", "replacement": "Text"},
        {"kind": "keep_hyphen", "line": 2, "text": "text", "next_text": "end-"},
        {"kind": "keep_hyphen", "line": 3, "text": "end-", "next_text": "ing"},
    ],
)
def test_a_review_row_that_decides_nothing_stops_the_build(row):
    with pytest.raises(ReviewError, match="decides nothing"):
        _find(["PART 1\ntext\nend-\ning"], review=_review(**row))


def test_the_accepted_corpus_has_its_headings(structures, accepted):
    ours = pl.concat(s.headings for s in structures.values())
    theirs = accepted("reconstructed-headings")
    assert ours["text"].to_list() == [row["full_heading"] for row in theirs]
    assert sum(ours["line_numbers"].list.len() > 1) == sum(
        row["continuation_line_count"] > 0 for row in theirs
    )
