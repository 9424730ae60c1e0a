"""The accepted JSON-lines records of pages, headings, hierarchy and spans, made from our frames.

Each function is a pure mapping: frames of the whole corpus, documents in corpus order, to records
with the accepted fields in the accepted order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version

import polars as pl

from policyproof_assets.export.records import Row, coordinate, fields, heading_id, included, page_id
from policyproof_assets.manifests import Corpus

_PAGE = """
    corpus_id corpus_version page_id document_id title organization=publisher source_url=about
    download_url=url publication_date adoption_date version jurisdiction document_category=category
    legal_status language source_filename document_sha256=sha256 retrieved_date page_number=page
    page_count extraction_method extractor extractor_version character_count is_empty text
"""
_FACTS = ("publication_date", "adoption_date", "jurisdiction", "category", "legal_status")
_CANDIDATE = """
    corpus_id corpus_version page_id document_id page_number=page line_number=start_line
    candidate_type=type text=marker previous_line next_line
"""
_HEADING = """
    corpus_id corpus_version heading_id page_id document_id page_number=page candidate_type=type
    marker_text=marker title_text=title full_heading=text start_line_number=start_line
    end_line_number=end_line source_line_numbers=line_numbers source_lines continuation_line_count
    reconstruction_method=method
"""
_NODE = """
    node_id document_id node_kind=kind synthetic_type heading_id parent_node_id=parent_id depth
    document_order=order ancestor_node_ids=ancestors hierarchy_path=path full_heading=heading
    marker_text=marker candidate_type=type function_name=group category_number=number page_id
    page_number=page start_line_number=start_line end_line_number=end_line anchor_heading_id
    anchor_page_id anchor_page_number=anchor_page anchor_line_number=anchor_line
"""
_SPAN = """
    node_id document_id node_kind=kind heading_id parent_node_id=parent_id depth
    document_order=order heading_source direct_body subtree source_descendant_envelope
"""
#: How the accepted records call what each library does; other extractors are our own.
_METHODS = {"pypdf": "pypdf_plain", "pdfplumber": "pdfplumber_default"}


def pages(
    frame: pl.DataFrame, identity: Row, corpus: Corpus, extractors: Mapping[str, str]
) -> Iterator[Row]:
    """Yield the records of ``pages.jsonl``; ``extractors`` maps document id to library."""
    counted = frame.with_columns(page_count=pl.len().over("document_id"))
    for row in counted.iter_rows(named=True):
        document, extractor = corpus.document(row["document_id"]), extractors[row["document_id"]]
        facts = dict.fromkeys(_FACTS) | document.facts | document.model_dump()
        made = {
            "page_id": page_id(document.id, row["page"]),
            "source_filename": f"{document.id}.{document.format}",
            "extraction_method": _METHODS.get(extractor, extractor),
            "extractor": extractor,
            "extractor_version": version(extractor if extractor in _METHODS else "policyproof"),
            "character_count": len(row["text"]),
            "is_empty": not row["text"].strip(),
        }
        yield fields(facts | identity | row | made, _PAGE)


def heading_candidates(
    headings: pl.DataFrame, identity: Row, page_texts: pl.DataFrame
) -> Iterator[Row]:
    """Yield the records of ``heading-candidates.jsonl``: first lines between their neighbours."""
    lines = {
        (document, page): [" ".join(line.split()) for line in text.splitlines()]
        for document, page, text in page_texts["document_id", "page", "text"].iter_rows()
    }
    for row in headings.iter_rows(named=True):
        page = lines[row["document_id"], row["page"]]
        above = [text for text in page[: row["start_line"] - 1] if text]
        below = [text for text in page[row["start_line"] :] if text]
        beside = {"previous_line": [*above[-1:], ""][0], "next_line": [*below[:1], ""][0]}
        yield fields(_with_ids(row) | identity | beside, _CANDIDATE)


def reconstructed_headings(headings: pl.DataFrame, identity: Row) -> Iterator[Row]:
    """Yield the records of ``reconstructed-headings.jsonl``."""
    for row in headings.iter_rows(named=True):
        count = {"continuation_line_count": len(row["source_lines"]) - 1}
        yield fields(_with_ids(row) | identity | count, _HEADING)


def heading_hierarchy(hierarchy: pl.DataFrame) -> Iterator[Row]:
    """Yield the records of ``heading-hierarchy.jsonl``."""
    for row in hierarchy.iter_rows(named=True):
        yield fields(_with_ids(row), _NODE)


def heading_spans(
    hierarchy: pl.DataFrame, headings: pl.DataFrame, spans: pl.DataFrame
) -> Iterator[Row]:
    """Yield the records of ``heading-spans.jsonl``."""
    place = ["document_id", "page", "start_line"]
    numbers = headings.select(*place, "line_numbers")
    rows = hierarchy.join(numbers, on=place, how="left", maintain_order="left").join(
        spans.drop("document_id", "order"), on="node_id", maintain_order="left"
    )
    for row in map(_with_ids, rows.iter_rows(named=True)):
        made = {
            "heading_source": _heading_source(row),
            "direct_body": _body(row, row["direct_body"]),
            "subtree": _subtree(row),
            "source_descendant_envelope": _envelope(row, row["envelope"]),
        }
        yield fields(row | made, _SPAN)


def _with_ids(row: Row) -> Row:
    document, page, anchor = row["document_id"], row["page"], row.get("anchor_page")
    return row | {
        "page_id": page_id(document, page),
        "heading_id": heading_id(document, page, row["start_line"]),
        "anchor_page_id": page_id(document, anchor),
        "anchor_heading_id": heading_id(document, anchor, row.get("anchor_line")),
    }


def _heading_source(node: Row) -> Row | None:
    document, page = node["document_id"], node["page"]
    return page and {
        "start": coordinate(document, page, node["start_line"]),
        "end": coordinate(document, page, node["end_line"]),
        "source_line_numbers": node["line_numbers"],
    }


def _body(node: Row, span: Row | None) -> Row | None:
    if span is None:
        return None
    after = coordinate(node["document_id"], node["page"], node["end_line"])
    start = _boundary("after_source_line", node["heading_id"], after)
    measured = _measured(node["document_id"], span, start)
    return {"basis": "after_source_heading", **measured, "includes_own_heading_lines": False}


def _subtree(node: Row) -> Row | None:
    body = _body(node, node["subtree"])
    return body and {**body, "includes_descendant_heading_lines": True}


def _envelope(node: Row, span: Row | None) -> Row | None:
    if span is None:
        return None
    anchor = coordinate(node["document_id"], node["anchor_page"], node["anchor_line"])
    start = _boundary("at_source_heading", node["anchor_heading_id"], anchor)
    return {
        "basis": "source_descendant_envelope",
        **_measured(node["document_id"], span, start),
        "includes_descendant_heading_lines": True,
        "source_descendant_heading_count": span["headings"],
        "anchor_heading_id": node["anchor_heading_id"],
    }


def _measured(document: str, span: Row, start: Row) -> Row:
    following = span["next_page"], span["next_line"]
    end = coordinate(document, *following)
    if end is not None:
        end_boundary = _boundary("before_source_heading", heading_id(document, *following), end)
    else:
        last = included(document, span)["included_end"] or start["coordinate"]
        end_boundary = _boundary("after_document_line", None, last)
    return {
        "start_boundary": start,
        "end_boundary": end_boundary,
        **included(document, span),
        "raw_line_count": span["lines"],
        "nonblank_line_count": span["nonblank"],
        "is_empty": span["lines"] == 0,
        "is_blank_only": span["lines"] > 0 and span["nonblank"] == 0,
        "is_multi_page": span["start_page"] != span["end_page"],
    }


def _boundary(kind: str, heading: str | None, place: Row | None) -> Row:
    return {"kind": kind, "heading_id": heading, "coordinate": place}
