"""Pages of a PDF that has no profile: text in reading order, and the layout of every line."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pypdfium2 as pdfium
from pydantic import BaseModel, ConfigDict, PositiveInt

from policyproof_assets.corpus.columns import as_line, reading_order, rows_of
from policyproof_assets.corpus.glyphs import (
    Bookmark,
    Edge,
    Piece,
    count_characters,
    read_edges,
    read_outline,
    read_pieces,
)
from policyproof_assets.corpus.hyphens import Hyphens
from policyproof_assets.corpus.roles import (
    CONTENTS,
    FURNITURE,
    assign_roles,
    body_size,
    is_contents_title,
)
from policyproof_assets.corpus.tables import Tables
from policyproof_assets.errors import ExtractError
from policyproof_assets.schemas import PAGES, conform


class LayoutRules(BaseModel):
    """The section [extract] of a profile that reads by layout; limits bound hostile files."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    extractor: Literal["layout"]
    max_bytes: PositiveInt = 300_000_000
    max_pages: PositiveInt = 5_000
    max_page_characters: PositiveInt = 200_000
    max_characters: PositiveInt = 30_000_000
    #: Pages that show something but hold no text: refused as scans, or skipped as pictures.
    pages_without_text: Literal["refuse", "skip"] = "refuse"
    #: A row of a table that is longer is cut into several lines, at a cell or a sentence.
    max_row_characters: PositiveInt = 900


_Page = tuple[list[Piece], list[Edge]]


def read_layout(path: Path, document_id: str, rules: LayoutRules) -> pl.DataFrame:
    """Read a PDF into PAGES with ``layout``, one struct per line of the page's text.

    Raises ExtractError that names the file: not a PDF, encrypted, over a limit, or with pages that
    have no text (scans), whose numbers it gives.
    """
    try:
        size = path.stat().st_size
    except OSError as error:
        raise _unreadable(path, error) from error
    if size > rules.max_bytes:
        raise _over(path, "bytes", rules.max_bytes, size)
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        raise _unreadable(path, error) from error
    try:
        with _quiet():
            return _read(path, document, document_id, rules)
    except ExtractError:
        raise
    except Exception as error:  # a broken file can make any step fail
        raise _unreadable(path, error) from error
    finally:
        document.close()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the remarks of the library on a broken file away from the user."""
    logger = logging.getLogger("pypdfium2")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _read(
    path: Path, document: pdfium.PdfDocument, document_id: str, rules: LayoutRules
) -> pl.DataFrame:
    pages = _read_pages(path, document, rules)
    outline = read_outline(document)
    hyphens = Hyphens([piece.text for pieces, _ in pages for piece in pieces])
    tables = Tables(hyphens, rules.max_row_characters)
    return _frame(document_id, [_page_lines(*page, tables) for page in pages], outline)


def _read_pages(path: Path, document: pdfium.PdfDocument, rules: LayoutRules) -> list[_Page]:
    if not 0 < len(document) <= rules.max_pages:
        raise _over(path, "pages", rules.max_pages, len(document))
    pages, empty, total = [], [], 0
    for number in range(1, len(document) + 1):
        page = document[number - 1]
        text = page.get_textpage()
        count = count_characters(text)
        total += count
        if count > rules.max_page_characters or total > rules.max_characters:
            raise _over(path, f"characters up to page {number}", rules.max_page_characters, count)
        pieces = read_pieces(page, text)
        if not pieces and next(page.get_objects(max_depth=2), None) is not None:
            empty.append(number)
        pages.append((pieces, read_edges(page, text)))
        text.close()
        page.close()
    if rules.pages_without_text == "skip" and len(empty) < len(pages):
        empty = []
    _require_text(path, pages, empty)
    return pages


def _require_text(path: Path, pages: Sequence[_Page], empty: Sequence[int]) -> None:
    """Refuse pages that show something but hold no text; a page with nothing on it may be."""
    if not empty and any(pieces for pieces, _ in pages):
        return
    named = ", ".join(map(str, empty[:20])) + (", …" if len(empty) > 20 else "")
    raise ExtractError(
        f"{path.name}: no text on page {named}" if empty else f"{path.name}: no text on any page",
        expected="text on every page that shows something",
        found=f"{len(empty) or len(pages)} of {len(pages)} pages without text, as in scans",
        action="recognise the text first (OCR); pictures are skipped with pages_without_text",
    )


def _over(path: Path, what: str, limit: int, found: int) -> ExtractError:
    return ExtractError(
        f"{path.name}: the number of {what} is out of bounds",
        expected=f"1 to {limit}",
        found=found,
        action="check the file; the limits stand in its profile's [extract]",
    )


def _unreadable(path: Path, error: Exception) -> ExtractError:
    return ExtractError(
        f"{path.name}: not a readable PDF",
        expected="a complete PDF without a password",
        found=f"{type(error).__name__}: {error}",
        action="open the file in a viewer and save it again, or leave it out of the corpus",
    )


def _page_lines(pieces: list[Piece], edges: list[Edge], tables: Tables) -> list[Piece]:
    """Return the lines of a page in reading order, turned text last."""
    upright = [piece for piece in pieces if piece.upright]
    turned = [piece for piece in pieces if not piece.upright]
    lines = []
    for block in reading_order(tables.ruled(upright, edges)):
        rows = rows_of(block)
        # The page numbers of a list of contents are no column of a table.
        listed = any(is_contents_title(as_line(row).text) for row in rows)
        lines += [as_line(row) for row in (rows if listed else tables.unruled(rows))]
    return lines + turned


def _frame(document_id: str, pages: list[list[Piece]], outline: Sequence[Bookmark]) -> pl.DataFrame:
    size = body_size(pages)
    roles = assign_roles(pages, size)
    marks = _match_outline(pages, roles, outline)
    rows = [
        {
            "document_id": document_id,
            "page": index + 1,
            "text": "\n".join(line.text for line in page),
            "layout": [
                _layout(line, roles[index][i], marks.get((index, i))) for i, line in enumerate(page)
            ],
        }
        for index, page in enumerate(pages)
    ]
    return conform(pl.DataFrame(rows, schema=PAGES), PAGES)


def _layout(line: Piece, role: str, mark: tuple[int, int] | None) -> dict[str, Any]:
    return {
        "role": role,
        "size": line.size,
        "bold": line.bold,
        "italic": line.italic,
        "lead": line.lead,
        "x0": line.x0,
        "x1": line.x1,
        "base": line.base,
        "column": line.column,
        "outline": mark[0] if mark else None,
        "outline_lines": mark[1] if mark else None,
    }


#: Lines a bookmarked heading may take, and pages after its target to look on (targets are often
#: those of the page the writer was on).
_TITLE_LINES, _PAGES_AFTER = 5, 2
_NUMBERING = re.compile(r"[A-Z]?[0-9ivx]{0,6}|(?:appendix|annex|chapter|section|part)[0-9a-z]{1,4}")


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
        for index in range(bookmark.page - 1, min(bookmark.page + _PAGES_AFTER, len(pages))):
            place = _find(texts[index], roles[index], title, {i for p, i in found if p == index})
            if place:
                found[index, place[0]] = (bookmark.level, place[1])
                break
    return found


def _find(
    texts: list[str], roles: list[str], title: str, taken: set[int]
) -> tuple[int, int] | None:
    for start in range(len(texts)):
        if start in taken or roles[start] in (CONTENTS, FURNITURE) or not texts[start]:
            continue
        whole = ""
        for count, text in enumerate(texts[start : start + _TITLE_LINES], 1):
            whole += text
            before = whole.removesuffix(title)
            if whole.endswith(title) and _NUMBERING.fullmatch(before):
                return start, count
            if len(whole) > len(title) + 20:
                break
    return None


def _plain(text: str) -> str:
    """Return the letters and digits of ``text`` in lower case."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in folded if c.isalnum())
