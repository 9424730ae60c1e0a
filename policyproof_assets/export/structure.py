"""The accepted JSON-lines records of headings, hierarchy and spans, made from our frames.

Each function is a pure mapping: frames of the whole corpus, documents in corpus order, to records
with the accepted fields in the accepted order.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from policyproof_assets.export.records import Row, coordinate, heading_id, page_id

_SCHEMA = {"schema_version": "1.0"}


def heading_candidates(
    pages: pl.DataFrame, headings: pl.DataFrame, corpus_id: str, corpus_version: str
) -> Iterator[Row]:
    """Yield the records of ``heading-candidates.jsonl``: first lines between their neighbours."""
    lines = _lines_by_page(pages)
    for row in headings.iter_rows(named=True):
        page = lines[row["document_id"], row["page"]]
        above = [text for text in page[: row["start_line"] - 1] if text]
        below = [text for text in page[row["start_line"] :] if text]
        yield {
            **_SCHEMA,
            "corpus_id": corpus_id,
            "corpus_version": corpus_version,
            "page_id": page_id(row["document_id"], row["page"]),
            "document_id": row["document_id"],
            "page_number": row["page"],
            "line_number": row["start_line"],
            "candidate_type": row["type"],
            "text": row["marker"],
            "previous_line": above[-1] if above else "",
            "next_line": below[0] if below else "",
        }


def reconstructed_headings(
    headings: pl.DataFrame, corpus_id: str, corpus_version: str
) -> Iterator[Row]:
    """Yield the records of ``reconstructed-headings.jsonl``."""
    for row in headings.iter_rows(named=True):
        yield {
            **_SCHEMA,
            "corpus_id": corpus_id,
            "corpus_version": corpus_version,
            "heading_id": heading_id(row["document_id"], row["page"], row["start_line"]),
            "page_id": page_id(row["document_id"], row["page"]),
            "document_id": row["document_id"],
            "page_number": row["page"],
            "candidate_type": row["type"],
            "marker_text": row["marker"],
            "title_text": row["title"],
            "full_heading": row["text"],
            "start_line_number": row["start_line"],
            "end_line_number": row["end_line"],
            "source_line_numbers": row["line_numbers"],
            "source_lines": row["source_lines"],
            "continuation_line_count": len(row["source_lines"]) - 1,
            "reconstruction_method": row["method"],
        }


def heading_hierarchy(hierarchy: pl.DataFrame) -> Iterator[Row]:
    """Yield the records of ``heading-hierarchy.jsonl``."""
    for row in hierarchy.iter_rows(named=True):
        document = row["document_id"]
        yield {
            **_SCHEMA,
            "node_id": row["node_id"],
            "document_id": document,
            "node_kind": row["kind"],
            "synthetic_type": row["synthetic_type"],
            "heading_id": heading_id(document, row["page"], row["start_line"]),
            "parent_node_id": row["parent_id"],
            "depth": row["depth"],
            "document_order": row["order"],
            "ancestor_node_ids": row["ancestors"],
            "hierarchy_path": row["path"],
            "full_heading": row["heading"],
            "marker_text": row["marker"],
            "candidate_type": row["type"],
            "function_name": row["group"],
            "category_number": row["number"],
            "page_id": page_id(document, row["page"]),
            "page_number": row["page"],
            "start_line_number": row["start_line"],
            "end_line_number": row["end_line"],
            "anchor_heading_id": heading_id(document, row["anchor_page"], row["anchor_line"]),
            "anchor_page_id": page_id(document, row["anchor_page"]),
            "anchor_page_number": row["anchor_page"],
            "anchor_line_number": row["anchor_line"],
        }


def heading_spans(
    headings: pl.DataFrame, hierarchy: pl.DataFrame, spans: pl.DataFrame
) -> Iterator[Row]:
    """Yield the records of ``heading-spans.jsonl``."""
    numbers = {
        (row["document_id"], row["page"], row["start_line"]): row["line_numbers"]
        for row in headings.iter_rows(named=True)
    }
    nodes = {row["node_id"]: row for row in hierarchy.iter_rows(named=True)}
    for row in spans.iter_rows(named=True):
        node = nodes[row["node_id"]]
        key = (node["document_id"], node["page"], node["start_line"])
        yield {
            **_SCHEMA,
            "node_id": node["node_id"],
            "document_id": node["document_id"],
            "node_kind": node["kind"],
            "heading_id": heading_id(*key),
            "parent_node_id": node["parent_id"],
            "depth": node["depth"],
            "document_order": node["order"],
            "heading_source": _heading_source(node, numbers.get(key)),
            "direct_body": _body(node, row["direct_body"]),
            "subtree": _subtree(node, row["subtree"]),
            "source_descendant_envelope": _envelope(node, row["envelope"]),
        }


def _heading_source(node: Row, numbers: list[int] | None) -> Row | None:
    if numbers is None:
        return None
    document, page = node["document_id"], node["page"]
    return {
        "start": coordinate(document, page, node["start_line"]),
        "end": coordinate(document, page, node["end_line"]),
        "source_line_numbers": numbers,
    }


def _body(node: Row, span: Row | None) -> Row | None:
    if span is None:
        return None
    document, page, last = node["document_id"], node["page"], node["end_line"]
    start = {
        "kind": "after_source_line",
        "heading_id": heading_id(document, page, node["start_line"]),
        "coordinate": coordinate(document, page, last),
    }
    measured = _measured(document, span, start, after=(page, last))
    return {"basis": "after_source_heading", **measured, "includes_own_heading_lines": False}


def _subtree(node: Row, span: Row | None) -> Row | None:
    body = _body(node, span)
    return body and {**body, "includes_descendant_heading_lines": True}


def _envelope(node: Row, span: Row | None) -> Row | None:
    if span is None:
        return None
    document, anchor = node["document_id"], (node["anchor_page"], node["anchor_line"])
    start = {
        "kind": "at_source_heading",
        "heading_id": heading_id(document, *anchor),
        "coordinate": coordinate(document, *anchor),
    }
    return {
        "basis": "source_descendant_envelope",
        **_measured(document, span, start, after=anchor),
        "includes_descendant_heading_lines": True,
        "source_descendant_heading_count": span["headings"],
        "anchor_heading_id": heading_id(document, *anchor),
    }


def _measured(document: str, span: Row, start: Row, after: tuple[int, int]) -> Row:
    first = (span["start_page"], span["start_line"])
    last = (span["end_page"], span["end_line"])
    return {
        "start_boundary": start,
        "end_boundary": _end_boundary(document, span, after),
        "included_start": coordinate(document, *first),
        "included_end": coordinate(document, *last),
        "raw_line_count": span["lines"],
        "nonblank_line_count": span["nonblank"],
        "is_empty": span["lines"] == 0,
        "is_blank_only": span["lines"] > 0 and span["nonblank"] == 0,
        "is_multi_page": first[0] != last[0],
    }


def _end_boundary(document: str, span: Row, after: tuple[int, int]) -> Row:
    """Return the heading that ends the span, or the document's last line where none does."""
    following = (span["next_page"], span["next_line"])
    if following[0] is not None:
        return {
            "kind": "before_source_heading",
            "heading_id": heading_id(document, *following),
            "coordinate": coordinate(document, *following),
        }
    last = (span["end_page"], span["end_line"]) if span["lines"] else after
    return {
        "kind": "after_document_line",
        "heading_id": None,
        "coordinate": coordinate(document, *last),
    }


def _lines_by_page(pages: pl.DataFrame) -> dict[tuple[str, int], list[str]]:
    return {
        (row["document_id"], row["page"]): [
            " ".join(line.split()) for line in row["text"].splitlines()
        ]
        for row in pages.iter_rows(named=True)
    }
