"""Pages read by layout: reading order, tables, furniture, notes, contents, scans."""

import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from reportlab import rl_config
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from policyproof_assets.corpus import layout, tables
from policyproof_assets.corpus.layout import LayoutRules, read_layout
from policyproof_assets.errors import ExtractError

rl_config.invariant = 1
RULES = LayoutRules(extractor="layout")


class Sheet:
    """A PDF drawn by line; ``y`` counts down from the top of an A4 page."""

    def __init__(self, path):
        self.path = path
        self.canvas = Canvas(str(path), pagesize=A4)

    def write(self, x, y, text, font="Helvetica", size=10):
        self.canvas.setFont(font, size)
        self.canvas.drawString(x, 842 - y, text)
        return self

    def column(self, x, y, texts, leading=13, **style):
        for row, text in enumerate(texts):
            self.write(x, y + leading * row, text, **style)
        return self

    def page(self):
        self.canvas.showPage()
        return self

    def read(self, rules=RULES):
        self.canvas.save()
        return read_layout(self.path, "doc", rules)


@pytest.fixture
def sheet(tmp_path):
    return Sheet(tmp_path / "sheet.pdf")


def rows(frame, page=1):
    """Return [(role, text)] of one page."""
    record = frame.filter(frame["page"] == page).row(0, named=True)
    texts = record["text"].splitlines()
    return list(zip([line["role"] for line in record["layout"]], texts, strict=True))


def texts(frame, page=1):
    return [text for _, text in rows(frame, page)]


WORDS = [["ash", "bay"], ["cod", "dew"], ["elm", "fox"], ["gum", "hay"], ["ivy", "jay"]]
PROSE = "The committee reads each report and decides within a week"


def test_two_columns_are_read_one_after_the_other(sheet):
    sheet.write(
        72, 60, "A title over the whole width of the page, above both columns of it", size=13
    )
    sheet.column(72, 100, [f"left {n} and words that fill its column" for n in range(8)])
    sheet.column(320, 103, [f"right {n} and words that fill its column" for n in range(8)])
    found = [text.split()[0] for text in texts(sheet.read())]
    assert found == ["A", *["left"] * 8, *["right"] * 8]


def test_a_line_over_both_columns_parts_what_is_above_from_what_is_below(sheet):
    for block, y in enumerate((60, 220)):
        sheet.column(72, y, [f"left {block} and words that fill its column"] * 6)
        sheet.column(320, y, [f"right {block} and words that fill its column"] * 6)
    sheet.write(
        72, 190, "And here a sentence runs over both of the columns of this page, then more"
    )
    found = [text[:7] for text in texts(sheet.read())]
    assert found == [
        *["left 0 "] * 6,
        *["right 0"] * 6,
        "And her",
        *["left 1 "] * 6,
        *["right 1"] * 6,
    ]


def test_a_ruled_table_gives_a_line_for_each_row(sheet):
    sheet.canvas.grid([72, 172, 300], [602, 642, 662])
    sheet.write(80, 192, "Class").write(180, 192, "Kept for")
    sheet.write(80, 212, "Meter readings").write(180, 212, "two years, or as").write(
        180, 224, "long as a dispute lasts"
    )
    assert rows(sheet.read()) == [
        ("table", "Class | Kept for"),
        ("table", "Meter readings | two years, or as long as a dispute lasts"),
    ]


def test_a_cell_beside_several_rows_is_a_line_above_them(sheet):
    canvas = sheet.canvas
    canvas.grid([172, 300], [602, 622, 642])
    canvas.grid([72, 172], [602, 642])
    sheet.write(80, 225, "Models").write(180, 215, "inventory").write(180, 235, "review")
    assert texts(sheet.read()) == ["Models", "inventory", "review"]


def test_rows_of_a_table_without_lines_are_lines_of_cells(sheet):
    sheet.write(72, 80, PROSE)
    for row, cells in enumerate(
        [("Tier", "Review", "Owner"), ("T1", "yearly", "Risk"), ("T2", "never", "IT")]
    ):
        for column, cell in enumerate(cells):
            sheet.write(72 + 120 * column, 110 + 14 * row, cell)
    sheet.write(72, 180, PROSE)
    assert texts(sheet.read()) == [
        PROSE,
        "Tier | Review | Owner",
        "T1 | yearly | Risk",
        "T2 | never | IT",
        PROSE,
    ]


def test_a_table_with_level_lines_only_has_the_columns_its_gaps_part(sheet):
    for y in (90, 110, 145, 165):
        sheet.canvas.line(72, 842 - y, 400, 842 - y)
    sheet.write(72, 104, "Class").write(200, 104, "Kept for")
    sheet.write(72, 124, "Meter readings").write(200, 124, "two years, or as")
    sheet.write(200, 136, "long as a dispute lasts")
    sheet.write(72, 159, "Maps").write(200, 159, "for ever")
    assert rows(sheet.read()) == [
        ("table", "Class | Kept for"),
        ("table", "Meter readings | two years, or as long as a dispute lasts"),
        ("table", "Maps | for ever"),
    ]


def test_a_long_row_is_cut_at_a_cell(sheet, monkeypatch):
    sheet.canvas.grid([72, 300, 500], [602, 662, 682])
    sheet.write(80, 172, "Class").write(310, 172, "Rule")
    sheet.column(80, 195, ["Some rather long name", "of a class of data"])
    sheet.column(310, 195, ["And the rule that holds", "for all of it"])
    monkeypatch.setattr(tables, "_MAX_ROW", 50)
    found = texts(sheet.read())
    assert found[1:] == [
        "Some rather long name of a class of data |",
        "And the rule that holds for all of it",
    ]


def test_a_number_set_apart_from_its_title_is_no_table(sheet):
    for row in range(3):
        sheet.write(72, 80 + 40 * row, f"{row + 1}").write(110, 80 + 40 * row, "Title of it")
    assert texts(sheet.read()) == ["1 Title of it", "2 Title of it", "3 Title of it"]


def test_repeated_lines_and_page_numbers_are_furniture(sheet):
    for page in range(1, 5):
        sheet.write(72, 30, "Data policy of the company").write(300, 820, f"Page {page} of 4")
        sheet.column(72, 80, [f"{PROSE}, page by page {word}" for word in WORDS[page]]).page()
    frame = sheet.read()
    for page in range(1, 5):
        assert [role for role, _ in rows(frame, page)] == ["furniture", "text", "text", "furniture"]


def test_articles_at_the_top_of_pages_are_no_furniture(sheet):
    for number in (3, 5, 10):
        sheet.write(280, 60, f"Article {number}").column(72, 100, WORDS[number % 5]).page()
    frame = sheet.read()
    assert all(rows(frame, page)[0][0] == "text" for page in range(1, 4))


def test_footnotes_are_kept_with_their_signs(sheet):
    sheet.column(72, 80, [PROSE] * 6)
    sheet.write(72, 780, "1", size=5).write(77, 783, "The second reading is not counted.", size=8)
    assert texts(sheet.read())[-1] == "1 The second reading is not counted."


def test_a_list_of_contents_is_known_by_its_page_numbers(sheet):
    sheet.write(72, 60, "Contents", size=14)
    for row, title in enumerate(["Purpose", "Scope", "Rules for readings", "Retention"]):
        sheet.write(72, 90 + 14 * row, title).write(500, 90 + 14 * row, str(row + 2))
    sheet.page().column(72, 80, [PROSE] * 3)
    frame = sheet.read()
    assert {role for role, _ in rows(frame)} == {"contents"}
    assert {role for role, _ in rows(frame, 2)} == {"text"}


def test_words_are_parted_by_distance_where_the_file_has_no_spaces(sheet):
    sheet.write(72, 80, "Every").write(100, 80, "reading").write(136, 80, "counts")
    assert texts(sheet.read()) == ["Every reading counts"]


def test_characters_without_a_glyph_are_left_out(sheet):
    sheet.write(72, 80, "kept\u200b for\u00ad ever\ufeff")
    found = texts(sheet.read())[0]
    assert not set(found) & set("\u200b\u00ad\ufeff")


def test_bookmarks_mark_the_lines_they_name(sheet):
    sheet.canvas.bookmarkPage("a")
    sheet.canvas.addOutlineEntry("Rules for the keeping of readings", "a", 0)
    sheet.column(72, 80, ["2 Rules for the keeping", "of readings"], size=14, leading=17)
    sheet.column(72, 130, [PROSE] * 3)
    layout = sheet.read()["layout"][0].to_list()
    assert [(line["outline"], line["outline_lines"]) for line in layout[:3]] == [
        (1, 2),
        (None, None),
        (None, None),
    ]


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_a_page_whose_text_is_turned_is_read_along_its_text(sheet, angle):
    canvas = sheet.canvas
    canvas.translate(300, 421)
    canvas.rotate(angle)
    canvas.drawString(-100, 20, "The first line of the page")
    canvas.drawString(-100, 0, "The second line of the page")
    assert texts(sheet.read()) == ["The first line of the page", "The second line of the page"]


def test_turned_text_stays_whole_and_comes_last(sheet):
    sheet.canvas.saveState()
    sheet.canvas.translate(100, 300)
    sheet.canvas.rotate(45)
    sheet.canvas.drawString(0, 0, "Draft of the policy")
    sheet.canvas.restoreState()
    sheet.column(72, 80, [PROSE, PROSE])
    assert texts(sheet.read()) == [PROSE, PROSE, "Draft of the policy"]


def test_scanned_pages_are_named(sheet):
    sheet.write(72, 80, PROSE).page()
    for _ in range(2):
        sheet.canvas.rect(50, 50, 400, 600, fill=1)
        sheet.page()
    with pytest.raises(ExtractError, match=r"sheet\.pdf: no text on page 2, 3"):
        sheet.read()
    skipping = LayoutRules(extractor="layout", pages_without_text="skip")
    assert read_layout(sheet.path, "doc", skipping).height == 3


def test_a_blank_page_is_no_scan(sheet):
    sheet.write(72, 80, PROSE).page().page().write(72, 80, PROSE).page()
    assert sheet.read()["text"].to_list() == [PROSE, "", PROSE]


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ("MAX_PAGES", "number of pages"),
        ("MAX_BYTES", "number of bytes"),
        ("MAX_PAGE_CHARACTERS", "characters on page 1"),
    ],
)
def test_limits_are_errors_with_both_figures(sheet, monkeypatch, limit, reason):
    monkeypatch.setattr(layout, limit, 1)
    sheet.write(72, 80, PROSE).page().write(72, 80, PROSE).page()
    with pytest.raises(ExtractError, match=f"sheet.pdf.*{reason}") as error:
        sheet.read()
    assert error.value.expected
    assert error.value.found


@pytest.mark.parametrize(
    "data", [b"", b"no PDF at all", b"%PDF-1.7 and then nothing", zlib.compress(b"%PDF-1.4")]
)
def test_what_is_no_pdf_is_refused_by_name(tmp_path, data):
    path = tmp_path / "broken.pdf"
    path.write_bytes(data)
    with pytest.raises(ExtractError, match=r"broken\.pdf: not a readable PDF"):
        read_layout(path, "doc", RULES)


def test_an_encrypted_file_is_refused(tmp_path):
    path = tmp_path / "locked.pdf"
    canvas = Canvas(str(path), encrypt="secret")
    canvas.drawString(72, 700, PROSE)
    canvas.save()
    with pytest.raises(ExtractError, match=r"locked\.pdf: the PDF is encrypted"):
        read_layout(path, "doc", RULES)


def test_a_file_of_blank_pages_only_is_refused(tmp_path):
    path = tmp_path / "blank.pdf"
    canvas = Canvas(str(path))
    canvas.showPage()
    canvas.save()
    with pytest.raises(ExtractError, match=r"blank\.pdf.*text"):
        read_layout(path, "doc", RULES)


def test_reading_twice_gives_the_same_bytes(sheet, tmp_path):
    sheet.column(72, 80, [PROSE] * 6).page()
    first = sheet.read()
    first.write_parquet(tmp_path / "a.parquet")
    read_layout(sheet.path, "doc", RULES).write_parquet(tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_threads_can_read_pdfs_at_once(tmp_path):
    path = tmp_path / "a.pdf"
    canvas = Canvas(str(path), pagesize=A4)
    for number in range(20):
        canvas.bookmarkPage(f"{number}")
        canvas.addOutlineEntry(f"Chapter {number}", f"{number}", level=0)
        for row in range(40):
            canvas.drawString(72, 800 - 15 * row, f"Line {row} of chapter {number}")
        canvas.showPage()
    canvas.save()
    with ThreadPoolExecutor(4) as pool:
        outlines = [*pool.map(layout.check_file, [path] * 60)]
    assert [mark.title for mark in outlines[0]] == [f"Chapter {n}" for n in range(20)]
    assert outlines.count(outlines[0]) == 60
