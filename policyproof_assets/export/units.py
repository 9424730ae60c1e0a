"""The accepted JSON-lines records of units, ledger and passages, made from our frames.

Each function is a pure mapping: a frame of the whole corpus, documents in corpus order, to records
with the accepted fields in the accepted order.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from policyproof_assets.corpus.logical_sources import FRONT_MATTER, HEADING_ONLY
from policyproof_assets.export.records import Row, coordinate


def retrieval_units(units: pl.DataFrame) -> Iterator[Row]:
    """Yield the records of ``retrieval-units.jsonl``; fields depend on the kind of the unit."""
    for row in units.iter_rows(named=True):
        yield {
            "schema_version": "1.0",
            "unit_id": row["unit_id"],
            "unit_kind": row["kind"],
            "document_id": row["document_id"],
            "part_number": row["part"],
            "part_count": row["parts"],
            "context_node_ids": row["context_nodes"],
            "structural_context_ids": row["structural_context"],
            "heading_source": _heading_source(row),
            "content_segments": [_extent(row["document_id"], span) for span in row["segments"]],
            "content_coordinate_count": row["coordinates"],
            "content_word_count": row["content_words"],
            "context_word_count": row["context_words"],
            "indexed_word_count": row["content_words"] + row["context_words"],
            "hard_word_limit": row["hard_limit"],
            "boundary_after": row["boundary"],
            **_identity(row),
            **_entries(row),
            "document_unit_order": row["order"],
        }


def retrieval_ledger(ledger: pl.DataFrame) -> Iterator[Row]:
    """Yield the records of ``retrieval-coordinate-ledger.jsonl``."""
    for row in ledger.iter_rows(named=True):
        yield {
            "schema_version": "1.0",
            "document_id": row["document_id"],
            "coordinate": coordinate(row["document_id"], row["page"], row["line"]),
            "classification": row["classification"],
            "reason": row["reason"],
            "owner_id": row["owner"],
        }


def retrieval_passages(passages: pl.DataFrame) -> Iterator[Row]:
    """Yield the records of ``retrieval-passages.jsonl``, schema 1.1."""
    for row in passages.iter_rows(named=True):
        document, page, line = row["document_id"], row["boundary_page"], row["boundary_line"]
        yield {
            "schema_version": "1.1",
            "passage_id": row["passage_id"],
            "logical_source_key": row["source_key"],
            "document_id": document,
            "unit_kind": row["kind"],
            "passage_number": row["number"],
            "passage_count": row["count"],
            "source_unit_ids": row["unit_ids"],
            "label": row["label"],
            "source_slices": [_slice(document, span) for span in row["slices"]],
            "source_coordinate_count": row["coordinates"],
            "boundary_after": row["boundary"],
            "boundary_coordinate": coordinate(document, page, line),
            **_present("boundary_char_offset", row["boundary_char"]),
            **_entries(row),
            "retrieval_text": row["retrieval_text"],
            "citation_text": row["citation_text"],
            "passage_token_count": row["tokens"],
        }


def _heading_source(row: Row) -> Row | None:
    if row["heading_page"] is None:
        return None
    document, page = row["document_id"], row["heading_page"]
    source: Row = {
        "start": coordinate(document, page, row["heading_start_line"]),
        "end": coordinate(document, page, row["heading_end_line"]),
    }
    if row["kind"] == HEADING_ONLY:
        spans = (range(span["start_line"], span["end_line"] + 1) for span in row["segments"])
        source["source_line_numbers"] = [line for span in spans for line in span]
    return source


def _identity(row: Row) -> Row:
    """Return the fields that tell which logical source the unit is of."""
    if row["node_id"] is not None:
        heading_id = row["node_id"].removeprefix("source:")
        return {"source_node_id": row["node_id"], "heading_id": heading_id}
    if row["kind"] == FRONT_MATTER:
        return {"frontmatter_id": row["source_key"].rsplit(":", 1)[1]}
    return {"recital_number": row["number"]}


def _entries(row: Row) -> Row:
    return {
        **_present("reference_entry_start_ordinal", row["entry_first"]),
        **_present("reference_entry_end_ordinal", row["entry_last"]),
    }


def _slice(document: str, span: Row) -> Row:
    return {
        **_extent(document, span),
        **_present("start_char_offset", span["start_char"]),
        **_present("end_char_offset", span["end_char"]),
    }


def _extent(document: str, span: Row) -> Row:
    return {
        "included_start": coordinate(document, span["start_page"], span["start_line"]),
        "included_end": coordinate(document, span["end_page"], span["end_line"]),
    }


def _present(name: str, value: int | None) -> Row:
    return {} if value is None else {name: value}
