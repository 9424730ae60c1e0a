"""The accepted JSON-lines records of units, ledger and passages, made from our frames.

Each function is a pure mapping: a frame of the whole corpus, documents in corpus order, to records
with the accepted fields in the accepted order.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from policyproof_assets.corpus.logical_sources import FRONT_MATTER, HEADING_ONLY
from policyproof_assets.export.records import Row, coordinate, fields, included

_UNIT = """
    unit_id unit_kind=kind document_id part_number=part part_count=parts
    context_node_ids=context_nodes structural_context_ids=structural_context heading_source
    content_segments content_coordinate_count=coordinates content_word_count=content_words
    context_word_count=context_words indexed_word_count hard_word_limit=hard_limit
    boundary_after=boundary source_node_id=node_id? heading_id? frontmatter_id?
    recital_number=number? reference_entry_start_ordinal=entry_first?
    reference_entry_end_ordinal=entry_last? document_unit_order=order
"""
_LEDGER = "document_id coordinate classification reason owner_id=owner"
_PASSAGE = """
    passage_id logical_source_key=source_key document_id unit_kind=kind passage_number=number
    passage_count=count source_unit_ids=unit_ids label source_slices
    source_coordinate_count=coordinates boundary_after=boundary boundary_coordinate
    boundary_char_offset=boundary_char? reference_entry_start_ordinal=entry_first?
    reference_entry_end_ordinal=entry_last? retrieval_text citation_text passage_token_count=tokens
"""


def retrieval_units(units: pl.DataFrame) -> Iterator[Row]:
    """Yield the records of ``retrieval-units.jsonl``; fields depend on the kind of the unit."""
    for row in units.iter_rows(named=True):
        document, node, is_front = row["document_id"], row["node_id"], row["kind"] == FRONT_MATTER
        made = {
            "heading_source": _heading_source(row),
            "content_segments": [included(document, span) for span in row["segments"]],
            "indexed_word_count": row["content_words"] + row["context_words"],
            "heading_id": node and node.removeprefix("source:"),
            "frontmatter_id": row["source_key"].rsplit(":", 1)[1] if is_front else None,
        }
        yield fields(row | made, _UNIT)


def retrieval_ledger(ledger: pl.DataFrame) -> Iterator[Row]:
    """Yield the records of ``retrieval-coordinate-ledger.jsonl``."""
    for row in ledger.iter_rows(named=True):
        place = coordinate(row["document_id"], row["page"], row["line"])
        yield fields(row | {"coordinate": place}, _LEDGER)


def retrieval_passages(passages: pl.DataFrame) -> Iterator[Row]:
    """Yield the records of ``retrieval-passages.jsonl``, schema 1.1."""
    for row in passages.iter_rows(named=True):
        document = row["document_id"]
        made = {
            "source_slices": [_slice(document, span) for span in row["slices"]],
            "boundary_coordinate": coordinate(document, row["boundary_page"], row["boundary_line"]),
        }
        yield fields(row | made, _PASSAGE, "1.1")


def _heading_source(row: Row) -> Row | None:
    document, page = row["document_id"], row["heading_page"]
    if page is None:
        return None
    source: Row = {
        "start": coordinate(document, page, row["heading_start_line"]),
        "end": coordinate(document, page, row["heading_end_line"]),
    }
    if row["kind"] == HEADING_ONLY:
        spans = (range(span["start_line"], span["end_line"] + 1) for span in row["segments"])
        source["source_line_numbers"] = [line for span in spans for line in span]
    return source


def _slice(document: str, span: Row) -> Row:
    offsets = {"start_char_offset": span["start_char"], "end_char_offset": span["end_char"]}
    given = {name: offset for name, offset in offsets.items() if offset is not None}
    return included(document, span) | given
