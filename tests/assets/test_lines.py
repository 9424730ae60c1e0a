"""Lines of one document: coordinates, positions, page ranges."""

import time

import polars as pl
import pytest

from policyproof_assets.corpus.lines import Lines
from policyproof_assets.errors import ProvenanceError
from policyproof_assets.schemas import PAGES


def frame(*pages):
    return pl.DataFrame(
        [{"document_id": "doc", "page": n, "text": text} for n, text in pages], schema=PAGES
    )


@pytest.fixture
def lines():
    return Lines.from_pages(frame((1, "a\n\n b "), (2, "c\n"), (4, "d")))


def test_lines_count_from_one_on_every_page_and_keep_blanks_and_spaces(lines):
    assert lines.page == (1, 1, 1, 2, 4)
    assert lines.line == (1, 2, 3, 1, 1)
    assert lines.text == ("a", "", " b ", "c", "d")
    assert len(lines) == 5
    assert lines.pages == (1, 2, 4)


def test_positions_and_coordinates_are_inverse(lines):
    assert [lines.position(*lines.coordinate(i)) for i in range(len(lines))] == list(range(5))


def test_page_order_of_the_frame_does_not_matter(lines):
    assert Lines.from_pages(frame((4, "d"), (2, "c\n"), (1, "a\n\n b "))) == lines


def test_a_page_has_a_range_of_positions(lines):
    assert lines.on_page(2) == range(3, 4)


def test_segments_are_runs_of_a_page_and_lead_back_to_positions(lines):
    segments = lines.segments([0, 1, 3, 4])
    assert [tuple(segment.values()) for segment in segments] == [
        (1, 1, 1, 2),
        (2, 1, 2, 1),
        (4, 1, 4, 1),
    ]
    assert lines.positions_of(segments) == [0, 1, 3, 4]


@pytest.mark.parametrize("coordinate", [(1, 0), (1, 4), (2, -1)])
def test_an_absent_line_names_page_and_line(lines, coordinate):
    with pytest.raises(ProvenanceError, match=f"doc: page {coordinate[0]} has no line"):
        lines.position(*coordinate)


def test_an_absent_page_is_named(lines):
    with pytest.raises(ProvenanceError, match="no line on page 3"):
        lines.position(3, 1)


def test_an_empty_document_has_no_page():
    with pytest.raises(ProvenanceError, match="no line on page 1"):
        Lines.from_pages(frame((1, ""))).on_page(1)


def test_twelve_thousand_lines_take_milliseconds():
    pages = frame(*((n, "some words of a line\n" * 40) for n in range(1, 301)))
    start = time.perf_counter()
    lines = Lines.from_pages(pages)
    assert len(lines) == 12_000
    assert lines.position(300, 40) == 11_999
    assert time.perf_counter() - start < 0.5  # about 5 ms; generous for a loaded machine
