"""Reads a document of any format into pages, by the [extract] section of its profile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from policyproof_assets.corpus import extract
from policyproof_assets.corpus.extract import ExtractRules
from policyproof_assets.corpus.html import HtmlRules, read_html
from policyproof_assets.corpus.layout import LayoutRules, read_layout
from policyproof_assets.corpus.markdown import MarkdownRules, read_markdown
from policyproof_assets.manifests import Document

#: Readers of whole documents, by their rules.
_WHOLE: dict[type, Callable[..., pl.DataFrame]] = {
    LayoutRules: read_layout,
    MarkdownRules: read_markdown,
    HtmlRules: read_html,
}


def page_ranges(path: Path, rules: Any, size: int) -> list[range | None]:
    """Return the ranges of pages that can be read apart; [None] where a file is read whole."""
    return list(extract.page_chunks(path, size)) if isinstance(rules, ExtractRules) else [None]


def read_pages(path: Path, document: Document, rules: Any, pages: range | None) -> pl.DataFrame:
    """Read a document, or the range ``pages`` of it, as PAGES; raises ExtractError."""
    if read := _WHOLE.get(type(rules)):
        return read(path, document.id, rules)
    return extract.read_pages(path, document.id, rules, pages)


def join_pages(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Join the parts of one document; ExtractError if a page lacks or has no text.

    A part with layout is a whole document, checked by its reader, and may have blank pages.
    """
    whole = len(parts) == 1 and parts[0]["layout"].null_count() == 0
    return parts[0] if whole else extract.join_pages(parts)
