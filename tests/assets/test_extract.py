"""Pages as text: equal to the plain libraries, split over ranges, and refused with a reason."""

import contextlib
import logging
import warnings

import pdfplumber
import pypdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pdfminer.pdfinterp import PDFContentParser
from pdfminer.pdftypes import PDFStream
from pdfminer.psparser import PSEOF
from pydantic import ValidationError
from pypdf.generic import ContentStream, DecodedStreamObject, NameObject
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from policyproof_assets.corpus import characters, extract, operations
from policyproof_assets.corpus.content import PlainReader
from policyproof_assets.corpus.extract import (
    ExtractRules,
    join_pages,
    page_chunks,
    page_count,
    read_pages,
)
from policyproof_assets.corpus.profiles import load_profile
from policyproof_assets.errors import ExtractError
from policyproof_assets.schemas import PAGES

PLUMBER = ExtractRules(extractor="pdfplumber")
PYPDF = ExtractRules(extractor="pypdf")
BOTH = pytest.mark.parametrize("rules", [PLUMBER, PYPDF], ids=["pdfplumber", "pypdf"])


def plain_texts(path, rules, pages=None):
    """What the library alone gives, and the only change made to it."""
    if rules.extractor == "pypdf":
        with pypdf.PdfReader(path) as reader:
            texts = [reader.pages[n - 1].extract_text() for n in pages or range_of(reader)]
    else:
        with pdfplumber.open(path) as reader:
            texts = [reader.pages[n - 1].extract_text() for n in pages or range_of(reader)]
    return [text.replace("\r\n", "\n").replace("\r", "\n") for text in texts]


def range_of(reader):
    return range(1, len(reader.pages) + 1)


def assert_plain(path, rules, pages=None):
    for few in [pages] if pages is None else [range(n, n + 1) for n in pages]:
        found = read_pages(path, "doc", rules, few)["text"].to_list()
        assert found == plain_texts(path, rules, few)


@pytest.fixture
def make_pdf(tmp_path):
    """Write a PDF with one page per text (or drawing function) and return its path."""

    def make(*pages, name="made.pdf", **options):
        path = tmp_path / name
        canvas = Canvas(str(path), pagesize=A4, **options)
        for page in pages:
            if callable(page):
                page(canvas)
            else:
                for row, line in enumerate(page.splitlines()):
                    canvas.drawString(72, 720 - 14 * row, line)
            canvas.showPage()
        canvas.save()
        return path

    return make


@pytest.fixture
def with_content(make_pdf, tmp_path):
    """Write a one-page PDF whose content stream is the given bytes; fonts are F1 and F2."""

    def make(*streams, edit=None):
        def fonts(canvas):
            canvas.setFont("Helvetica", 10)
            canvas.drawString(72, 720, "first font")
            canvas.setFont("Times-Roman", 10)
            canvas.drawString(72, 700, "second font")

        writer = pypdf.PdfWriter(clone_from=make_pdf(fonts))
        page = writer.pages[0]
        contents = pypdf.generic.ArrayObject()
        for data in streams:
            stream = DecodedStreamObject()
            stream.set_data(data)
            contents.append(writer._add_object(stream))
        page[NameObject("/Contents")] = contents
        if edit:
            edit(page)
        path = tmp_path / "content.pdf"
        writer.write(path)
        return path

    return make


# Equality with the plain libraries


@pytest.mark.parametrize("index", range(4))
def test_every_accepted_page_is_reproduced(shared, accepted_pages, corpus, manifests, index):
    document = corpus.documents[index]
    rules = load_profile(manifests / "profiles" / f"{document.profile}.toml").extract
    frame = read_pages(shared / "sources" / f"{document.id}.pdf", document.id, rules)
    texts = accepted_pages.filter(document_id=document.id)["text"]
    assert frame["text"].to_list() == texts.to_list()


LATER = "later-version--nist-ai-600-1-genai-profile"


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        (LATER, PYPDF),
        (LATER, PLUMBER),
        ("nist-ai-rmf-1.0", PLUMBER),
        ("openai-gpt-4o-system-card-2024-08-08", PLUMBER),
    ],
)
def test_pages_beyond_the_accepted_ones_equal_plain_extraction(shared, name, rules):
    assert_plain(shared / "sources" / f"{name}.pdf", rules, range(2, 30, 9))


def drawing(canvas):
    canvas.drawString(72, 720, "Upright (brackets) and a back\\slash, 5.5 - 3")
    canvas.rect(60, 600, 200, 90)
    canvas.bezier(10, 10, 20, 40, 60, 80, 90, 100)
    canvas.saveState()
    canvas.rotate(90)
    canvas.drawString(200, -300, "turned by ninety degrees")
    canvas.restoreState()
    canvas.saveState()
    canvas.skew(0, 20)
    canvas.drawString(100, 300, "slanted")
    canvas.restoreState()
    text = canvas.beginText(72, 500)
    text.setCharSpace(1.5)
    text.setWordSpace(4)
    text.setHorizScale(80)
    text.setRise(3)
    text.textLines("spaced and scaled\nover two lines")
    canvas.drawText(text)
    canvas.beginForm("form")
    canvas.drawString(72, 400, "inside a form")
    canvas.endForm()
    canvas.doForm("form")


@BOTH
def test_rotated_slanted_spaced_and_nested_text_equals_plain_extraction(make_pdf, rules):
    path = make_pdf(drawing, "second page")
    assert_plain(path, rules)
    assert "inside a form" in read_pages(path, "doc", rules)["text"][0]


@BOTH
@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_rotated_pages_and_shifted_media_boxes_equal_plain_extraction(
    with_content, rotation, rules
):
    def edit(page):
        page.rotate(rotation)
        page.mediabox.lower_left, page.mediabox.upper_right = (-30, 20), (565, 862)

    content = b"BT /F1 12 Tf 100 700 Td (one line) Tj 0 -30 Td (another) Tj ET\n"
    assert_plain(with_content(content, edit=edit), rules)


CONTENTS = {
    "escapes": rb"(a\(b\)c\\d\tg) Tj (\101\102) Tj (odd \q escape) Tj (nested (paren) s) Tj",
    "broken line": b"(over a \\\nline) Tj (and\rreturn) Tj",
    "hexadecimal": b"<48656C6C6F> Tj <48 65 6c> Tj <484> Tj <> Tj",
    "arrays": b"[(W)120(o)-20 <72> .5(d)-3000(s)] TJ [(a)%comment\n(b)] TJ [[(c)] (d)] TJ",
    "numbers": b"+5 -.5 Td (x) Tj 0005 -0.0 Td (y) Tj 1. 2. Td (z) Tj",
    "odd numbers": b"4-3 0 Td (x) Tj --5 0 Td (y) Tj 1.2.3 Td (z) Tj",
    "comments": b"% a comment (not) Tj\n(shown) Tj %end",
    "quotes": b"14 TL (first) Tj (second) ' 2 1 (third) \" T* (fourth) Tj",
    "marked content": b"/P <</MCID 3 /L [1 (x)] >>BDC (marked) Tj EMC /A#20b BMC (named) Tj EMC",
    "zero bytes": b"\x00(nul) Tj\x00\x0b(vt) Tj",
    "inline image": b"ET BI /W 2 /H 1 /CS /G /BPC 8 ID \x41\x42 EI BT (after) Tj",
    "truth values": b"true (yes) Tj false null (no) Tj",
    "unknown words": b"1 2 unknown (after) Tj longer_than_any_operator_of_any_version_ever 3 Tc",
    "missing operands": b"5 Td (x) Tj Tj (y) Tj /F2 Tf (z) Tj 0 w w",
    "no white space": b"0 -12 Td(a)Tj/F2 9 Tf[(b)-300(c)]TJ<64>Tj",
}


@pytest.mark.parametrize("name", CONTENTS)
@BOTH
def test_every_kind_of_token_equals_plain_extraction(with_content, name, rules):
    content = b"BT /F1 12 Tf 72 700 Td " + CONTENTS[name] + b" ET\nBT 72 100 Td (end) Tj ET"
    path = with_content(content)
    try:
        expected = plain_texts(path, rules)
    except Exception:  # noqa: BLE001 - what stops the library alone stops us, with our error
        with pytest.raises(ExtractError, match="page 1 cannot be read"):
            read_pages(path, "doc", rules)
    else:
        assert read_pages(path, "doc", rules)["text"].to_list() == expected


@BOTH
def test_a_token_may_begin_in_one_stream_and_end_in_the_next(with_content, rules):
    assert_plain(
        with_content(b"BT /F1 1", b"2 Tf 72 700 T", b"d (split ", b"string) Tj", b"ET"), rules
    )


def test_unknown_rules_are_refused():
    with pytest.raises(ValidationError, match="extractor"):
        ExtractRules(extractor="ocr")


def test_the_plain_reader_stops_before_what_it_leaves_to_the_library():
    reader = PlainReader(name=bytes, operator=bytes.decode)
    data = b"1 (a) Tj [2 <</K 1>>] TJ "
    assert list(reader.objects(data, 0)) == [1, b"a", "Tj"]
    assert data[reader.position :] == b" [2 <</K 1>>] TJ "


FRAGMENTS = [
    *rb"12 -3.5 .5 4. +7 1-2 --1 1.2.3 1,5 (a) (a\)b) (\n\101) ((n)e) (\q <4142> <4> <414>".split(),
    *rb"/Name /A#20 / [ ] << >> { } Tj T* ' \" BT BX true null %".split(),
    *(
        b"0" * 50,
        b"x" * 60,
        b"/\xe9",
        b"(\\\n)",
        b"<4 1>",
        b"%c\n",
        b" ",
        b"\n",
        b"\r",
        b"\0",
        b"\x0b",
    ),
]
SOUP = st.lists(st.sampled_from(FRAGMENTS), max_size=12).map(b" ".join) | st.lists(
    st.sampled_from(FRAGMENTS), max_size=12
).map(b"".join)


def outcome(read, data):
    """What reading ``data`` gives, or the kind of error."""
    try:
        return read(data)
    except Exception as error:  # noqa: BLE001 - any error must be the library's own
        return type(error)


def parsed_by_pdfminer(data):
    parser, found = PDFContentParser([PDFStream({}, data)]), []
    with contextlib.suppress(PSEOF):
        while True:
            found.append(parser.nextobject()[1])
    return found


def parsed_by_pypdf(data):
    stream = DecodedStreamObject()
    stream.set_data(data)
    pairs = ContentStream(stream, None, "bytes").operations
    return [(list(operands), bytes(operator)) for operands, operator in pairs]


def operations_of(data):
    pairs = operations.read_operations(data)
    return [(list(operands), bytes(operator)) for operands, operator in pairs]


@given(SOUP)
@settings(max_examples=300, deadline=None)
def test_any_sequence_of_tokens_is_parsed_as_pdfminer_parses_it(data):
    def objects(data):
        return list(characters.ContentParser([PDFStream({}, data)]).objects())

    assert outcome(objects, data) == outcome(parsed_by_pdfminer, data)


@given(SOUP)
@settings(max_examples=300, deadline=None)
def test_any_sequence_of_tokens_is_parsed_as_pypdf_parses_it(data):
    with warnings.catch_warnings(action="ignore"):
        assert outcome(operations_of, data) == outcome(parsed_by_pypdf, data)


# Ranges


@pytest.mark.parametrize("size", [1, 3, 4, 100])
def test_chunks_cover_every_page_once_and_evenly(make_pdf, size):
    path = make_pdf(*(f"page {n}" for n in range(10)))
    chunks = page_chunks(path, size)
    assert [n for chunk in chunks for n in chunk] == list(range(1, 11))
    lengths = {len(chunk) for chunk in chunks}
    assert max(lengths) <= size
    assert max(lengths) - min(lengths) <= 1


@BOTH
def test_parts_read_by_range_join_to_the_whole_in_any_order(make_pdf, rules):
    path = make_pdf(*(f"page {n}" for n in range(7)))
    parts = [read_pages(path, "doc", rules, chunk) for chunk in page_chunks(path, 2)]
    assert join_pages(parts[::-1]).equals(read_pages(path, "doc", rules))


def test_a_lost_or_doubled_part_is_an_error(make_pdf):
    path = make_pdf("a", "b", "c", "d")
    first, second = (read_pages(path, "doc", PYPDF, part) for part in page_chunks(path, 2))
    for parts in ([second], [first, first, second]):
        with pytest.raises(ExtractError, match="parts are not the whole document"):
            join_pages(parts)


@BOTH
def test_a_page_that_is_not_there_is_named(make_pdf, rules):
    path = make_pdf("only page")
    with pytest.raises(ExtractError, match="page 2 cannot be read"):
        read_pages(path, "doc", rules, range(1, 3))


# Refusals


@BOTH
def test_pages_without_text_are_named(make_pdf, rules):
    path = make_pdf("a", "", "", "b", "   ", "c")
    with pytest.raises(ExtractError, match="3 pages have no text") as caught:
        read_pages(path, "scan", rules)
    assert caught.value.found == "none on page 2, 3, 5"
    assert "scanned pages need OCR first" in caught.value.action


@BOTH
def test_a_document_without_any_text_says_so(make_pdf, rules):
    path = make_pdf(lambda canvas: canvas.rect(1, 1, 9, 9))
    with pytest.raises(ExtractError, match="scan: no page has text"):
        read_pages(path, "scan", rules)


@BOTH
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_truncated_pdf_is_refused(make_pdf, rules, share):
    path = make_pdf(*["some text " * 5] * 30)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(ExtractError, match=r"made\.pdf: the PDF is truncated"):
        read_pages(path, "doc", rules)


@BOTH
def test_a_pdf_with_a_broken_cross_reference_table_is_refused(make_pdf, rules):
    path = make_pdf("text")
    path.write_bytes(path.read_bytes().replace(b"xref", b"xxxx"))
    with pytest.raises(ExtractError, match=r"made\.pdf: the PDF is damaged"):
        read_pages(path, "doc", rules)


@pytest.mark.parametrize("password", ["", "secret"])
@BOTH
def test_an_encrypted_pdf_is_refused(make_pdf, tmp_path, rules, password):
    writer = pypdf.PdfWriter(clone_from=make_pdf("text"))
    writer.encrypt(password, "owner", algorithm="RC4-128")
    path = tmp_path / "locked.pdf"
    writer.write(path)
    with pytest.raises(ExtractError, match=r"locked\.pdf: the PDF is encrypted"):
        read_pages(path, "doc", rules)


def test_a_file_that_is_no_pdf_is_refused(tmp_path):
    path = tmp_path / "page.pdf"
    path.write_text("<html>Sign in</html>")
    with pytest.raises(ExtractError, match="not a PDF") as caught:
        page_count(path)
    assert "get the file again" in caught.value.action


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ExtractError, match="cannot be read"):
        page_count(tmp_path / "absent.pdf")


def test_limits_on_size_and_pages(make_pdf, monkeypatch):
    path = make_pdf("a", "b")
    monkeypatch.setattr(extract, "MAX_PAGES", 1)
    with pytest.raises(ExtractError, match="number of pages") as caught:
        page_count(path)
    assert (caught.value.expected, caught.value.found) == ("1 to 1 pages", "2 pages")
    monkeypatch.setattr(extract, "MAX_BYTES", 100)
    with pytest.raises(ExtractError, match="larger than the limit"):
        page_count(path)


@BOTH
def test_text_that_is_not_unicode_is_refused(make_pdf, rules, monkeypatch):
    path = make_pdf("text")
    monkeypatch.setattr(extract.TextReader, "text", lambda *_: "\ud800")
    monkeypatch.setattr(extract, "page_text", lambda _: "\ud800")
    with pytest.raises(ExtractError, match="page 1 cannot be read") as caught:
        read_pages(path, "doc", rules)
    assert "UnicodeEncodeError" in caught.value.found


@BOTH
def test_the_libraries_remarks_stay_out_of_the_log(with_content, rules, caplog):
    noisy = logging.getLogger("pypdf" if rules is PYPDF else "pdfminer")
    before = noisy.level
    path = with_content(b"BT /F9 12 Tf 72 700 Td (odd \\q) Tj (a) w (a) Tc /F1 9 Tf (x) Tj ET\n")
    with caplog.at_level(logging.WARNING):
        read_pages(path, "doc", rules)
    assert caplog.records == []
    assert noisy.level == before


def test_the_frame_has_the_columns_of_the_phase(make_pdf):
    frame = read_pages(make_pdf("a", "b"), "doc", PYPDF)
    assert frame.schema == PAGES
    assert frame["page"].to_list() == [1, 2]
    assert frame["document_id"].unique().to_list() == ["doc"]


def test_a_damaged_content_stream_is_an_error_of_ours(make_pdf):
    path = make_pdf("text", pageCompression=1)
    data = path.read_bytes()
    start = data.index(b"stream") + 8
    path.write_bytes(data[:start] + b"\xff" * 12 + data[start + 12 :])
    with pytest.raises(ExtractError):
        read_pages(path, "doc", PYPDF)
