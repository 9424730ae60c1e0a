"""Pages of a PDF as text: one document, or a range of its pages, at a time.

The text of a page is what plain pdfplumber (``extract_text()``) or plain pypdf (``extract_text()``)
gives for it, to the character; only line ends are normalised. See ``characters`` and ``operations``
for how it is had faster.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any, BinaryIO, Literal

import pdfplumber
import polars as pl
import pypdf
from pdfminer.pdfdocument import PDFDocument, PDFPasswordIncorrect
from pdfminer.pdfpage import PDFPage
from pdfminer.pdfparser import PDFParser
from pydantic import BaseModel, ConfigDict

from policyproof_assets.corpus.characters import TextReader
from policyproof_assets.corpus.operations import page_text
from policyproof_assets.errors import ExtractError
from policyproof_assets.schemas import PAGES, conform

# A daily issue of an official journal stays far below both; a file beyond them is more likely made
# to exhaust the builder than to be read.
MAX_BYTES = 256 * 1024 * 1024
MAX_PAGES = 10_000
# A PDF must begin with its header and end with its end mark; readers look this far for either.
_MARK_WITHIN = 1024
_AGAIN = "get the file again from its official address"


class ExtractRules(BaseModel):
    """Which library reads the pages of a kind of document, with its default settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    extractor: Literal["pdfplumber", "pypdf"]


def page_count(path: Path) -> int:
    """Return the number of pages of the PDF at ``path``; ExtractError as for ``read_pages``."""
    _check_file(path)
    with explained(path, "the PDF is damaged"), path.open("rb") as file:
        count = sum(1 for _ in PDFPage.create_pages(_open_unencrypted(path, file)))
    if not 1 <= count <= MAX_PAGES:
        raise ExtractError(
            f"{path.name}: the number of pages is not within the limit",
            expected=f"1 to {MAX_PAGES} pages",
            found=f"{count} pages",
            action="split the document, or raise MAX_PAGES if it is meant to be this long",
        )
    return count


def page_chunks(path: Path, size: int) -> list[range]:
    """Split the pages of ``path`` into ranges of at most ``size``, in order, as even as can be.

    Each range can be given to ``read_pages`` in a process of its own.
    """
    count = page_count(path)
    parts = ceil(count / size)
    bounds = [1 + count * i // parts for i in range(parts + 1)]
    return [range(first, end) for first, end in pairwise(bounds)]


def read_pages(
    path: Path, document_id: str, rules: ExtractRules, pages: range | None = None
) -> pl.DataFrame:
    """Read the pages of a PDF, or those of the range ``pages`` (from 1), as a PAGES frame.

    Without a range the result is complete and checked. A range comes from ``page_chunks``, which
    checks the file, and its part goes to ``join_pages``, which checks that all parts are there
    and every page has text. Raises ExtractError for a file that is too large, no PDF, truncated,
    damaged or encrypted, for a page that cannot be read, and for pages without text.
    """
    wanted = range(1, page_count(path) + 1) if pages is None else pages
    with explained(path, "the PDF is damaged"):
        texts = list(_TEXTS[rules.extractor](path, wanted))
    columns = {"document_id": [document_id] * len(texts), "page": list(wanted), "text": texts}
    frame = conform(pl.DataFrame(columns), PAGES)
    return frame if pages is not None else join_pages([frame])


def join_pages(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Join the parts of one document in page order; ExtractError if a page lacks or has no text."""
    frame = pl.concat(parts).sort("page")
    name, numbers = frame["document_id"][0], frame["page"].to_list()
    if numbers != list(range(1, len(numbers) + 1)):
        raise ExtractError(
            f"{name}: the parts are not the whole document",
            expected="every page from 1 once",
            found=f"pages {numbers}",
        )
    empty = frame.filter(pl.col("text").str.strip_chars() == "")["page"].to_list()
    if empty:
        which = "no page has" if len(empty) == len(numbers) else f"{len(empty)} pages have no"
        raise ExtractError(
            f"{name}: {which} text",
            expected=f"text on each of {len(numbers)} pages",
            found=f"none on page {', '.join(map(str, empty))}",
            action="scanned pages need OCR first; leave out pages that are really blank",
        )
    return frame


def _check_file(path: Path) -> None:
    """Check size, header and end mark before any parser sees the file."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(_MARK_WITHIN)
            file.seek(max(0, size - _MARK_WITHIN))
            tail = file.read()
    except OSError as error:
        raise ExtractError(f"{path}: the file cannot be read: {error.strerror}") from error
    for fault, is_found, expected, action in (
        ("the file is larger than the limit", size > MAX_BYTES, f"at most {MAX_BYTES} bytes",
         "split the document, or raise MAX_BYTES if it is meant to be this large"),
        ("the file is not a PDF", b"%PDF-" not in head, "%PDF- at its beginning", _AGAIN),
        ("the PDF is truncated", b"%%EOF" not in tail, "%%EOF at its end", _AGAIN),
    ):  # fmt: skip
        if is_found:
            found = f"{size} bytes"
            raise ExtractError(
                f"{path.name}: {fault}", expected=expected, found=found, action=action
            )


def _open_unencrypted(path: Path, file: BinaryIO) -> PDFDocument:
    """Open a PDF by its own cross-reference table, not by guesses at a broken one."""
    try:
        document = PDFDocument(PDFParser(file), fallback=False)
        if document.encryption is None:
            return document
    except PDFPasswordIncorrect:
        pass
    raise encrypted(path)


def encrypted(path: Path) -> ExtractError:
    """Return the error of a PDF that is protected by a password."""
    return ExtractError(
        f"{path.name}: the PDF is encrypted",
        expected="a PDF that opens and may be copied without a password",
        found="an encryption dictionary",
        action="use an unprotected copy from the publisher",
    )


def _plumber_texts(path: Path, pages: range) -> Iterator[str]:
    with pdfplumber.open(path) as pdf:
        reader = TextReader()
        for number in pages:
            yield _text(path, number, reader.text, pdf.pages)


def _pypdf_texts(path: Path, pages: range) -> Iterator[str]:
    with pypdf.PdfReader(path) as reader:
        for number in pages:
            yield _text(path, number, page_text, reader.pages)


_TEXTS = {"pdfplumber": _plumber_texts, "pypdf": _pypdf_texts}


def _text(path: Path, number: int, read: Callable[[Any], str], pages: Sequence[Any]) -> str:
    """Read page ``number`` (from 1); line ends become LF, what is not Unicode is refused."""
    with explained(path, f"page {number} cannot be read"):
        text = read(pages[number - 1]).replace("\r\n", "\n").replace("\r", "\n")
        text.encode()  # lone surrogates, from fonts with a broken character map
        return text


@contextmanager
def explained(path: Path, fault: str) -> Iterator[None]:
    """Turn whatever a PDF library raises into ExtractError; keep its remarks from the user."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    except ExtractError:
        raise
    except Exception as error:  # parsers raise whatever a broken file makes them
        raise ExtractError(
            f"{path.name}: {fault}",
            expected="a readable PDF",
            found=f"{type(error).__name__}: {error}",
            action=f"{_AGAIN}, or try the other extractor in the profile",
        ) from error
    finally:
        logging.disable(before)
