"""Pages of a PDF that has no profile: text in reading order, and the layout of every line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pdfplumber
import polars as pl
import pypdfium2
from pdfplumber.page import Page
from pydantic import BaseModel, ConfigDict

from policyproof_assets.corpus.columns import as_line, reading_order, rows_of
from policyproof_assets.corpus.extract import encrypted, explained
from policyproof_assets.corpus.hyphens import Hyphens
from policyproof_assets.corpus.pdfium import open_pdf
from policyproof_assets.corpus.pieces import Bookmark, Piece, read_outline, read_pieces
from policyproof_assets.corpus.roles import CONTENTS, FURNITURE, assign_roles
from policyproof_assets.corpus.tables import Box, find_cells, with_rows
from policyproof_assets.errors import ExtractError
from policyproof_assets.schemas import PAGES, conform

#: Lines a bookmarked heading may take, and pages to look on, since many bookmarks lead to the page
#: the writer was on.
_TITLE_LINES, _PAGES = 5, 2
#: What a heading says before the title that its bookmark has, letters and digits only.
_NUMBERING = re.compile(r"[a-z]?[0-9ivx]{0,6}|(?:appendix|annex|chapter|section|part)[0-9a-z]{1,4}")
#: What a document is likely to stay below, and a file made to exhaust the builder is not.
MAX_BYTES, MAX_PAGES, MAX_PAGE_CHARACTERS = 300_000_000, 5_000, 200_000


class LayoutRules(BaseModel):
    """The section [extract] of a profile that reads by layout."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    extractor: Literal["layout"]
    #: Pages that show something but hold no text: refused as scans, or skipped as pictures.
    pages_without_text: Literal["refuse", "skip"] = "refuse"


class _Sheet(NamedTuple):
    """What is read of a page: pieces by direction, most of them first, and cells of tables."""

    turned: list[list[Piece]]
    cells: list[list[Box]]
    shows: bool


def read_layout(path: Path, document_id: str, rules: LayoutRules) -> pl.DataFrame:
    """Read a PDF into PAGES with ``layout``, one struct per line of the page's text.

    Raises ExtractError that names the file: not a PDF, encrypted, over a limit, or with pages that
    have no text (scans), whose numbers it gives.
    """
    with explained(path, "not a readable PDF"):
        _bound(path, "bytes", MAX_BYTES, path.stat().st_size)
        outline = check_file(path)
        with pdfplumber.open(path) as pdf:
            sheets = [_read(page) for page in pdf.pages]
    empty = [number for number, sheet in enumerate(sheets, 1) if not sheet.turned]
    pictures = [number for number in empty if sheets[number - 1].shows]
    if len(empty) == len(sheets) or (pictures and rules.pages_without_text == "refuse"):
        raise _without_text(path, pictures or empty, len(sheets))
    # Down each column, so that what a hyphen breaks follows it.
    columns = (sorted(s.turned[0], key=lambda p: (round(p.x0), p.base)) for s in sheets if s.turned)
    hyphens = Hyphens([piece.text for column in columns for piece in column])
    return _frame(document_id, [_lines(sheet, hyphens) for sheet in sheets], outline)


def check_file(path: Path) -> list[Bookmark]:
    """Return the bookmarks of a PDF in reading order.

    Raises ExtractError for one that is encrypted or holds more than a page, or a file, may.
    """
    try:
        with open_pdf(path) as document:
            _check_pages(path, document)
            return read_outline(document)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD:
            raise encrypted(path) from error
        raise


def _bound(path: Path, what: str, limit: int, found: int) -> None:
    if found > limit:
        raise ExtractError(
            f"{path.name}: the number of {what} is out of bounds",
            expected=f"at most {limit}",
            found=found,
            action="check that the file is what it should be, or split it",
        )


def _check_pages(path: Path, document: pypdfium2.PdfDocument) -> None:
    """Refuse what would take the library that reads the pages very long; PDFium counts at once."""
    _bound(path, "pages", MAX_PAGES, len(document))
    for number, page in enumerate(document, 1):
        text = page.get_textpage()
        _bound(path, f"characters on page {number}", MAX_PAGE_CHARACTERS, text.count_chars())
        text.close()
        page.close()


def _read(page: Page) -> _Sheet:
    turned = read_pieces(page)
    cells = find_cells(page, turned[0]) if 0 in turned else []
    sheet = _Sheet(list(turned.values()), cells, shows=any(page.objects.values()))
    page.close()
    return sheet


def _without_text(path: Path, empty: Sequence[int], pages: int) -> ExtractError:
    named = ", ".join(map(str, empty[:20])) + (", …" if len(empty) > 20 else "")
    return ExtractError(
        f"{path.name}: no text on " + (f"page {named}" if empty else "any page"),
        expected="text on every page that shows something",
        found=f"{len(empty)} of {pages} pages without text, as in scans",
        action="recognise the text first (OCR); pictures are skipped with pages_without_text",
    )


def _lines(sheet: _Sheet, hyphens: Hyphens) -> list[Piece]:
    """Return the lines of a page in reading order, turned text last."""
    main, *others = sheet.turned or [[]]
    blocks = reading_order(with_rows(main, sheet.cells, hyphens))
    return [as_line(row) for block in (*blocks, *others) for row in rows_of(block)]


def _frame(document_id: str, pages: list[list[Piece]], outline: Sequence[Bookmark]) -> pl.DataFrame:
    roles = assign_roles(pages)
    marks = _match_outline(pages, roles, outline)
    rows = [
        {
            "document_id": document_id,
            "page": index + 1,
            "text": "\n".join(line.text for line in page),
            "layout": [
                _layout(line, roles[index][i], *marks.get((index, i), (None, None)))
                for i, line in enumerate(page)
            ],
        }
        for index, page in enumerate(pages)
    ]
    return conform(pl.DataFrame(rows, schema=PAGES), PAGES)


_OWN = ("size", "bold", "italic", "lead", "x0", "x1", "base", "column")


def _layout(line: Piece, role: str, outline: int | None, count: int | None) -> dict[str, Any]:
    own = {name: getattr(line, name) for name in _OWN}
    return {"role": role, **own, "outline": outline, "outline_lines": count}


def _match_outline(
    pages: list[list[Piece]], roles: list[list[str]], outline: Sequence[Bookmark]
) -> dict[tuple[int, int], tuple[int, int]]:
    """Return {(page, line) indices: (level, number of lines)} of bookmarked headings."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    texts = [[_plain(line.text) for line in page] for page in pages]
    for bookmark in outline:
        title = _plain(bookmark.title)
        if bookmark.page is None or sum(c.isalpha() for c in title) < 3:
            continue
        near = range(bookmark.page - 1, min(bookmark.page - 1 + _PAGES, len(pages)))
        places = ((page, line) for page in near for line in range(len(texts[page])))
        for page, line in places:
            count = _title_lines(texts[page][line:], title)
            outside = roles[page][line] in (CONTENTS, FURNITURE)
            if count and not outside and (page, line) not in found:
                found[page, line] = (bookmark.level, count)
                break
    return found


def _title_lines(texts: Sequence[str], title: str) -> int:
    """Return how many of the first lines say the title, its number aside; 0 if they do not."""
    whole = ""
    for count, text in enumerate(texts[:_TITLE_LINES], 1):
        whole += text
        if text and whole.endswith(title) and _NUMBERING.fullmatch(whole.removesuffix(title)):
            return count
    return 0


def _plain(text: str) -> str:
    """Return the letters and digits of ``text`` in lower case."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in folded if c.isalnum())
