"""Reads a document of any format into pages, by the [extract] section of its profile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from policyproof_assets.corpus import extract
from policyproof_assets.corpus.extract import ExtractRules
from policyproof_assets.corpus.html import HtmlRules, read_html
from policyproof_assets.corpus.layout import LayoutRules, read_layout
from policyproof_assets.corpus.markdown import MarkdownRules, read_markdown
from policyproof_assets.manifests import Document

__all__ = ["join_pages", "page_ranges", "read_pages"]


def page_ranges(path: Path, document: Document, rules: Any, size: int) -> list[range | None]:
    """Return the ranges of pages that can be read apart; [None] where a file is read whole."""
    if isinstance(rules, ExtractRules):
        return list(extract.page_chunks(path, size))
    return [None]


def join_pages(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Join the parts of one document; ExtractError if a page lacks or has no text.

    A part with layout is a whole document, checked by its reader, and may have blank pages.
    """
    if len(parts) == 1 and parts[0]["layout"].null_count() == 0:
        return parts[0]
    return extract.join_pages(parts)


def read_pages(path: Path, document: Document, rules: Any, pages: range | None) -> pl.DataFrame:
    """Read a document, or the range ``pages`` of it, as PAGES; raises ExtractError."""
    if isinstance(rules, LayoutRules):
        return read_layout(path, document.id, rules)
    if isinstance(rules, MarkdownRules):
        return read_markdown(path, document.id, rules)
    if isinstance(rules, HtmlRules):
        return read_html(path, document.id, rules)
    return extract.read_pages(path, document.id, rules, pages)
