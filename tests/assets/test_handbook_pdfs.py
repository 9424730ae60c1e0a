"""The PDFs of the handbook against the texts they are set from: headings, order, tables."""

import re
import subprocess
import sys

import pytest

from policyproof_assets.corpus.headings import find_headings
from policyproof_assets.corpus.layout import read_layout
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.profiles import Review, load_profile


@pytest.fixture(scope="module")
def read_pdfs(manifests):
    """The twelve PDFs as (text they are set from, lines, headings)."""
    profile = load_profile(manifests / "profiles" / "auto.toml")
    found = []
    for source in sorted((manifests / "handbook" / "pdf_sources").glob("*.txt")):
        (path,) = (manifests / "handbook").rglob(f"{source.stem}.pdf")
        lines = Lines.from_pages(read_layout(path, path.stem, profile.extract))
        headings = find_headings(lines, profile, Review(document_id=path.stem))
        found.append((source.read_text("utf-8"), lines, headings))
    return found


def plain(text):
    return re.sub(r"^[\d.]+\s+|[^\w\s-]", "", text).casefold()


def letters(text):
    """Letters and digits only, without the signs of footnotes."""
    return re.sub(r"\[\^\d+\]|\W|_", "", text).casefold()


def stated(source):
    """The title and the headings of a text, with their levels below the title."""
    title = re.search(r"^title: (.*)$", source, re.MULTILINE)[1]
    marked = re.findall(r"^(#+) (.*)$", source, re.MULTILINE)
    return [(1, plain(title)), *((1 + len(marks), plain(text)) for marks, text in marked)]


def test_headings_are_those_of_the_text_with_their_levels(read_pdfs):
    expected, found = set(), []
    for source, lines, headings in read_pdfs:
        expected |= {(lines.document_id, *heading) for heading in stated(source)}
        found += [
            (lines.document_id, int(kind.removeprefix("level-")), plain(text))
            for kind, text in headings.select("type", "text").iter_rows()
        ]
    right = len(expected & set(found))
    assert right / len(expected) == 1.0
    assert right / len(found) >= 0.97


def test_rows_of_tables_are_lines_of_cells(read_pdfs):
    lacking = []
    for source, lines, _ in read_pdfs:
        found = [[letters(cell) for cell in text.split(" | ")] for text in lines.text]
        for row in re.findall(r"^\|(.*)\|$", source, re.MULTILINE):
            cells = [letters(cell) for cell in row.split("|")]
            if any(cells) and [cell for cell in cells if cell] not in found:
                lacking.append((lines.document_id, row))
    assert lacking == []


def test_paragraphs_follow_one_another_as_in_the_text(read_pdfs):
    lacking, moved = [], []
    for source, lines, _ in read_pdfs:
        whole, last = letters("".join(lines.text)), 0
        body = source.split("---\n", 2)[2]
        for block in re.findall(r"^(?![#|`\[: ])(.{40,})$", body, re.MULTILINE):
            opening = letters(block)[:30]
            place = whole.find(opening, last)
            if place < 0:
                (lacking if opening not in whole else moved).append((lines.document_id, block[:60]))
            last = max(place, last)
    assert (lacking, moved) == ([], [])


def test_the_pdfs_are_what_their_script_makes_of_their_sources(manifests):
    script = manifests / "handbook" / "make_pdfs.py"
    subprocess.run([sys.executable, str(script), "--check"], check=True, capture_output=True)
