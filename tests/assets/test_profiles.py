"""Profiles and reviews are validated where they are read."""

import pickle

import pytest

from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.profiles import load_profile, load_review
from policyproof_assets.errors import ManifestError, ReviewError

PROFILE = """
[extract]
extractor = "pypdf"

[[headings.patterns]]
type = "part"
pattern = 'PART \\d+'

[[hierarchy.nodes]]
type = "part"
level = 1
"""

ROW = """
[[rows]]
kind = "heading"
page = 1
line = 2
text = "Preamble"
type = "part"
reason = "printed without a number"
"""

LINES = Lines("doc", (1, 1, 2), (1, 2, 1), ("one", "Preamble ", "two"))


@pytest.fixture
def write(tmp_path):
    def write(text: str):
        path = tmp_path / "doc.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_every_profile_of_the_project_is_valid(manifests):
    for path in sorted((manifests / "profiles").glob("*.toml")):
        assert load_profile(path).name == path.stem


def test_every_review_of_the_project_is_valid(manifests):
    for path in sorted((manifests / "reviews").glob("*.toml")):
        assert load_review(path).rows


def test_no_profile_names_a_document(manifests, corpus):
    for path in (manifests / "profiles").glob("*.toml"):
        text = path.read_text(encoding="utf-8")
        assert not [document.id for document in corpus.documents if document.id in text]


def test_a_profile_is_named_after_its_file(write):
    profile = load_profile(write(PROFILE))
    assert profile.name == "doc"
    assert profile.headings.patterns[0].pattern.fullmatch("PART 4")


def test_a_profile_can_be_sent_to_a_worker_and_digested(write):
    profile = load_profile(write(PROFILE))
    assert pickle.loads(pickle.dumps(profile)) == profile  # noqa: S301
    assert profile.model_dump(mode="json")["headings"]["patterns"][0]["pattern"] == r"PART \d+"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("level = 1", "levle = 1", r"doc\.toml.*levle unknown key"),
        ("[extract]", "[extrakt]", r"extract is missing\s+.*extrakt unknown key"),
        ('"pypdf"', '"pdftotext"', "extract.extractor"),
        (r"PART \d+", "PART (", "headings.patterns.0.pattern"),
        ("level = 1", "level = -1", "hierarchy.nodes.0.level"),
        ("type =", 'form = "{line}"\ntype =', "headings.patterns.0.form"),
        ("type =", 'continuation = "page"\ntype =', "'none', 'title_line'"),
    ],
)
def test_a_faulty_profile_is_refused_by_file_and_key(write, before, after, message):
    with pytest.raises(ManifestError, match=message):
        load_profile(write(PROFILE.replace(before, after, 1)))


def test_a_profile_that_is_not_toml_is_refused(write):
    with pytest.raises(ManifestError, match="not valid TOML"):
        load_profile(write("[extract"))


def test_a_missing_profile_is_refused(tmp_path):
    with pytest.raises(ManifestError, match="no manifest at"):
        load_profile(tmp_path / "none.toml")


def test_a_document_without_a_review_has_no_exceptions(tmp_path):
    review = load_review(tmp_path / "doc.toml")
    assert (review.document_id, review.rows) == ("doc", ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROW.replace("heading", "haeding"), "keep_hyphen"),
        (ROW.replace("reason", "why"), "unknown key"),
        (ROW.replace("page = 1", "page = 0"), "page"),
        (ROW.replace('"printed without a number"', '" "'), "reason"),
        (ROW + ROW, "rows of one kind and place: heading page 1 line 2"),
    ],
)
def test_a_faulty_review_is_refused(write, text, message):
    with pytest.raises(ManifestError, match=message):
        load_review(write(text))


def test_a_row_that_holds_can_be_taken(write):
    rows = load_review(write(ROW)).of(LINES, "heading")
    assert rows.take("heading", 1, 1) is None
    assert rows.take("heading", 1, 2).type == "part"
    rows.finish()


def test_rows_of_other_kinds_are_left_alone(write):
    load_review(write(ROW.replace("Preamble", "Other"))).of(LINES, "keep_hyphen").finish()


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("Preamble", "Preambles", "Preamble "),
        ("line = 2", "line = 3", None),
        ("page = 1", "page = 3", None),
    ],
)
def test_a_row_that_does_not_match_is_named(write, before, after, found):
    review = load_review(write(ROW.replace(before, after)))
    with pytest.raises(ReviewError, match=r"doc: review row 1 \(heading, page") as error:
        review.of(LINES, "heading")
    assert error.value.found == [found]


def test_a_row_nobody_used_is_named(write):
    rows = load_review(write(ROW)).of(LINES, "heading")
    with pytest.raises(ReviewError, match=r"row 1 \(heading, page 1, line 2\) decides nothing"):
        rows.finish()


BOUNDARY = """
[[rows]]
kind = "reject_boundary"
page = 1
line = 2
text = "amble"
next_page = 2
next_line = 1
next_text = "tw"
reason = "the sentence goes on"
"""


def test_a_boundary_is_tied_to_both_sides(write):
    load_review(write(BOUNDARY)).of(LINES, "reject_boundary")
    for before, after in (
        ("amble", "ramble!"),
        ('"tw"', '"ten"'),
        ("next_line = 1", "next_line = 9"),
    ):
        review = load_review(write(BOUNDARY.replace(before, after)))
        with pytest.raises(ReviewError, match="does not match its source"):
            review.of(LINES, "reject_boundary")


CUT = """
[[rows]]
kind = "cut_in_line"
page = 1
line = 1
char = 5
text = "end."
next_text = "Next"
reason = "one sentence a passage"
"""


@pytest.mark.parametrize(
    ("text", "holds"), [("end. Next", True), ("ends. Next", False), ("", False)]
)
def test_a_cut_is_tied_to_both_sides(write, text, holds):
    lines, review = Lines("doc", (1,), (1,), (text,)), load_review(write(CUT))
    if holds:
        assert review.of(lines, "cut_in_line").take("cut_in_line", 1, 1).char == 5
    else:
        with pytest.raises(ReviewError, match="cut_in_line"):
            review.of(lines, "cut_in_line")
