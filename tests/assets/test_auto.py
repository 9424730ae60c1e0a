"""Headings and their levels found by layout alone."""

import importlib.util
from pathlib import Path

import pytest

from policyproof_assets.corpus.headings import find_headings
from policyproof_assets.corpus.hierarchy import build_hierarchy
from policyproof_assets.corpus.layout import read_layout
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.outline import levels
from policyproof_assets.corpus.profiles import Review, load_profile
from policyproof_assets.corpus.recognize import Found
from policyproof_assets.corpus.typography import Line
from policyproof_assets.errors import ProvenanceError, ReviewError

from .test_layout import PROSE, Sheet

MANIFESTS = Path(__file__).resolve().parents[2] / "manifests"
BOLD = {"font": "Helvetica-Bold"}


@pytest.fixture(scope="module")
def profile():
    return load_profile(MANIFESTS / "profiles" / "auto.toml")


@pytest.fixture
def sheet(tmp_path):
    return Sheet(tmp_path / "sheet.pdf")


@pytest.fixture
def find(sheet, profile):
    """Return [(level, text)] of the headings of the sheet."""

    def find(review=None):
        if not sheet.path.exists():
            sheet.canvas.save()
        lines = Lines.from_pages(read_layout(sheet.path, "doc", profile.extract))
        frame = find_headings(lines, profile, review or Review(document_id="doc"))
        return [
            (int(kind.removeprefix("level-")), text)
            for kind, text in frame.select("type", "text").iter_rows()
        ]

    return find


def body(sheet, y, lines=4):
    sheet.column(72, y, [PROSE + "."] * lines)


def test_numbers_give_the_levels_and_the_title_stands_above(sheet, find):
    sheet.write(72, 60, "Rules for meter readings", size=20)
    for row, heading in enumerate(["1 Purpose", "2 Readings", "2.1 Who reads", "2.1.1 Proxies"]):
        sheet.write(72, 110 + 90 * row, heading, size=12, **BOLD)
        body(sheet, 130 + 90 * row)
    assert find() == [
        (1, "Rules for meter readings"),
        (2, "1 Purpose"),
        (2, "2 Readings"),
        (3, "2.1 Who reads"),
        (4, "2.1.1 Proxies"),
    ]


def test_size_and_weight_give_the_levels_where_nothing_is_numbered(sheet, find):
    sheet.write(72, 60, "Handbook", size=24)
    for row, (heading, size) in enumerate(
        [("Work", 16), ("Hours", 12), ("Leave", 12), ("Pay", 16)]
    ):
        sheet.write(72, 110 + 90 * row, heading, size=size, **BOLD)
        body(sheet, 130 + 90 * row)
    assert find() == [(1, "Handbook"), (2, "Work"), (3, "Hours"), (3, "Leave"), (2, "Pay")]


def test_bold_lines_of_the_size_of_the_text_are_headings_when_set_apart(sheet, find):
    body(sheet, 60)
    sheet.write(72, 136, "Who may read", **BOLD)
    body(sheet, 152)
    sheet.write(72, 230, "Not a heading but a sentence in bold.", **BOLD)
    body(sheet, 246)
    sheet.write(72, 298, "Nor this, amid the lines", **BOLD)
    body(sheet, 311)
    assert find() == [(1, "Who may read")]


def test_wrapped_and_hyphenated_headings_are_joined(sheet, find):
    sheet.column(
        72, 60, ["1 Transport and delivery guaran-", "tees of readings"], 16, size=13, **BOLD
    )
    sheet.column(72, 110, ["Guarantees of a risk-based", "kind hold for all. " + PROSE])
    sheet.column(72, 200, ["2 Rules that are risk-", "based and simple"], 16, size=13, **BOLD)
    body(sheet, 240)
    assert find() == [
        (1, "1 Transport and delivery guarantees of readings"),
        (1, "2 Rules that are risk-based and simple"),
    ]


def test_a_marker_takes_the_title_below_it_and_words_rank(sheet, find):
    y = 60
    for marker, title in [
        ("CHAPTER I", "GENERAL RULES"),
        ("Article 1", "Aim"),
        ("Article 2", "Scope"),
        ("CHAPTER II", "DUTIES"),
        ("SECTION 1", "Of operators"),
        ("Article 3", "Reports"),
        ("ANNEX I", "Forms"),
    ]:
        sheet.canvas.setFont("Helvetica", 10)
        sheet.canvas.drawCentredString(297, 842 - y, marker)
        sheet.canvas.setFont("Helvetica-Bold", 10)
        sheet.canvas.drawCentredString(297, 842 - y - 15, title)
        for row in range(2):
            sheet.canvas.setFont("Helvetica", 10)
            sheet.canvas.drawCentredString(
                297, 802 - y - 13 * row, f"{PROSE} on time, {PROSE}"[:96]
            )
        y += 95
    assert find() == [
        (1, "CHAPTER I — GENERAL RULES"),
        (2, "Article 1 — Aim"),
        (2, "Article 2 — Scope"),
        (1, "CHAPTER II — DUTIES"),
        (2, "SECTION 1 — Of operators"),
        (3, "Article 3 — Reports"),
        (1, "ANNEX I — Forms"),
    ]


def test_a_reference_to_an_article_is_no_heading(sheet, find):
    sheet.column(
        72, 60, [PROSE + " as laid down in", "Article 5", "and in", "Section 3 applies too."]
    )
    assert find() == []


def test_labelled_statements_are_headings_down_to_the_end_of_their_sentence(sheet, find):
    y = 60
    for number in ("1", "1.1", "1.2", "2", "2.1"):
        sheet.write(72, y, f"CONTROL {number}:", size=10, **BOLD)
        sheet.write(145, y, "Roles are documented, and")
        sheet.write(72, y + 13, "known to all who need them.")
        y += 40
    assert [level for level, _ in find()] == [1, 2, 2, 1, 2]
    assert find()[1][1] == "CONTROL 1.1: Roles are documented, and known to all who need them."


def test_captions_keys_and_addresses_are_no_headings(sheet, find):
    body(sheet, 60)
    for row, text in enumerate(
        [
            "Table 3: Classes of readings",
            "Owner: Head of metering",
            "https://example.org/rules",
            "12",
        ]
    ):
        sheet.write(72, 140 + 40 * row, text, **BOLD)
    body(sheet, 320)
    assert find() == []


def test_bookmarks_make_headings_of_plain_lines(sheet, find):
    for row, (title, level) in enumerate([("Duties", 0), ("Reports", 1), ("Fines", 0)]):
        sheet.canvas.bookmarkPage(title)
        sheet.canvas.addOutlineEntry(title, title, level)
        sheet.write(72, 60 + 80 * row, title)
        body(sheet, 80 + 80 * row)
    assert find() == [(1, "Duties"), (2, "Reports"), (1, "Fines")]


def test_authors_and_dates_below_the_title_head_nothing(sheet, find):
    sheet.write(72, 60, "Rules", size=24).write(72, 90, "Ann Writer", size=13)
    sheet.write(72, 110, "1 May 2030", size=13)
    sheet.write(72, 150, "1 Aim", size=14, **BOLD)
    body(sheet, 170)
    assert find() == [(1, "Rules"), (2, "1 Aim")]


def test_headings_of_two_columns_come_in_reading_order(sheet, find):
    for column, x in enumerate((60, 320)):
        for row in range(2):
            number = 2 * column + row + 1
            sheet.write(x, 60 + 200 * row, f"{number} Part", size=13, **BOLD)
            sheet.column(x, 80 + 200 * row, ["some words that fill the column of it"] * 10)
    assert [text for _, text in find()] == ["1 Part", "2 Part", "3 Part", "4 Part"]


def test_a_document_all_in_bold_has_no_headings_by_weight(sheet, find):
    sheet.column(72, 60, [PROSE] * 20, leading=30, **BOLD)
    assert find() == []


def test_a_review_refuses_a_heading(sheet, find):
    sheet.write(72, 60, "Who reads", size=14)
    body(sheet, 80)
    row = {"page": 1, "line": 1, "text": "Who reads", "reason": "a caption"}
    refuse = Review(document_id="doc", rows=({"kind": "not_heading", **row},))
    assert find(refuse) == []
    unused = Review(document_id="doc", rows=({"kind": "heading", "type": "x", **row},))
    with pytest.raises(ReviewError, match="decides nothing"):
        find(unused)


def test_pages_without_layout_are_refused(profile):
    lines = Lines("doc", (1,), (1,), ("1 Aim",))
    with pytest.raises(ProvenanceError, match="carry no layout"):
        find_headings(lines, profile, Review(document_id="doc"))


def test_the_tree_is_that_of_the_levels(sheet, profile):
    for row, heading in enumerate(["1 Aim", "1.1 Scope", "2 Duties"]):
        sheet.write(72, 60 + 80 * row, heading, size=14, **BOLD)
        body(sheet, 80 + 80 * row)
    sheet.canvas.save()
    lines = Lines.from_pages(read_layout(sheet.path, "doc", profile.extract))
    headings = find_headings(lines, profile, Review(document_id="doc"))
    paths = build_hierarchy(headings, profile)["path"].to_list()
    assert paths == [["1 Aim"], ["1 Aim", "1.1 Scope"], ["2 Duties"]]


def entry(kind="style", number="", *, word="", outline=None, size=12.0):
    parts = tuple(number.split(".")) if number else ()
    line = Line(0, 1, "x", "text", size, True, False, 0, 0.0, 0.0, 0.0, 0, outline, None)
    return Found([line], kind, word, parts, outline=outline)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([entry("number", "1"), entry("number", "1.1"), entry("number", "2")], [1, 2, 1]),
        # A gap in the numbering does not nest under a stranger.
        ([entry("number", "1.1"), entry("number", "2.1.1")], [1, 1]),
        # Unnumbered headings run beside numbered ones unless the numbers begin again below them.
        ([entry(size=16), entry("number", "1", size=14)], [1, 1]),
        (
            [entry(size=16), entry("number", "1"), entry(size=16), entry("number", "1")],
            [1, 2, 1, 2],
        ),
        ([entry(outline=1, size=10), entry(outline=2, size=14), entry(outline=1)], [1, 2, 1]),
        (
            [
                entry("word", "I", word="part"),
                entry("number", "1"),
                entry("word", "A", word="annex"),
                entry("number", "A.1"),
            ],
            [1, 2, 1, 2],
        ),
    ],
)
def test_levels(entries, expected, profile):
    assert levels(entries, profile.headings) == expected


def test_the_accepted_headings_are_found_without_their_profiles(shared):
    path = MANIFESTS.parent / "benchmarks" / "structure.py"
    spec = importlib.util.spec_from_file_location("structure", path)
    structure = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(structure)
    total = structure.Score()
    for name, truth in structure.read_truth(shared / "oracle", shared / "sources").items():
        found = structure.by_auto(shared / "sources" / f"{name}.pdf")
        total += structure.compare(found, truth, [])
    assert total.accepted == 349
    assert total.right / total.accepted >= 0.99
    assert total.parents / total.accepted >= 0.99
    assert (total.right + total.known) / total.found >= 0.93
