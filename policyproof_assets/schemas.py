"""The columns of every phase, and the one check that a frame has them."""

import polars as pl

from policyproof_assets.errors import ProvenanceError

I32, STR = pl.Int32, pl.String
_ENDS = dict.fromkeys(("start_page", "start_line", "end_page", "end_line"), I32)
#: Included lines.
SEGMENT = pl.Struct(_ENDS)
#: ``start_char`` null: from the line's first character; ``end_char`` exclusive, null: to its last.
SLICE = pl.Struct(
    dict.fromkeys(
        ("start_page", "start_line", "start_char", "end_page", "end_line", "end_char"), I32
    )
)
#: Ends are null where the span is empty; ``next_…`` is the heading that ends it, null where the
#: document does; ``headings`` counts the source headings in the envelope of a synthetic node.
SPAN = pl.Struct(
    _ENDS | dict.fromkeys(("next_page", "next_line", "lines", "nonblank", "headings"), I32)
)
# One line of a page as printed; points are 1/72 inch from the top left corner.
LAYOUT = pl.Struct(
    {
        "role": STR,  # text | table | contents | furniture
        "size": pl.Float64,
        "bold": pl.Boolean,
        "italic": pl.Boolean,
        "lead": I32,  # leading characters in bold
        "x0": pl.Float64,
        "x1": pl.Float64,
        "base": pl.Float64,  # baseline
        "column": I32,  # 0: the whole width
        "outline": I32,  # level of the bookmark of a heading that begins here
        "outline_lines": I32,  # lines of that heading
    }
)

# ``layout`` has one struct per line of ``text``; null for documents that are read by a profile.
PAGES = {"document_id": STR, "page": I32, "text": STR, "layout": pl.List(LAYOUT)}
HEADINGS = {
    "document_id": STR,
    "order": I32,  # 1-based, document order
    "type": STR,
    "page": I32,
    "start_line": I32,
    "end_line": I32,
    "line_numbers": pl.List(I32),  # a blank line between two heading lines is left out
    "source_lines": pl.List(STR),
    "marker": STR,
    "title": STR,
    "text": STR,  # normalised: lines joined, wrap hyphens removed, corrections applied
    "method": STR,
}
HIERARCHY = {
    "document_id": STR,
    "node_id": STR,
    "kind": STR,  # source | synthetic
    "synthetic_type": STR,
    "order": I32,
    "depth": I32,
    "parent_id": STR,
    "ancestors": pl.List(STR),
    "path": pl.List(STR),
    "heading": STR,  # the normalised text of the heading, or the name of the container
    "marker": STR,
    "type": STR,
    "group": STR,  # name of the container a node is or is in, e.g. the RMF function
    "number": STR,  # number of that container, if it has one
    "page": I32,
    "start_line": I32,
    "end_line": I32,
    "anchor_page": I32,  # synthetic nodes: the first source heading below
    "anchor_line": I32,
}
SPANS = {
    "document_id": STR,
    "node_id": STR,
    "order": I32,
    "direct_body": SPAN,
    "subtree": SPAN,
    "envelope": SPAN,
}
UNITS = {
    "document_id": STR,
    "unit_id": STR,
    "source_key": STR,
    "kind": STR,  # heading_body | heading_only | recital kinds | frontmatter_body
    "part": I32,
    "parts": I32,
    "order": I32,
    "label": STR,
    "node_id": STR,
    "number": I32,  # recital number
    "context_nodes": pl.List(STR),
    "structural_context": pl.List(STR),
    "heading_page": I32,
    "heading_start_line": I32,
    "heading_end_line": I32,
    "segments": pl.List(SEGMENT),
    "coordinates": I32,
    "content_words": I32,
    "context_words": I32,
    "hard_limit": I32,
    "boundary": STR,
    "entry_first": I32,  # reference lists: ordinals of the entries inside
    "entry_last": I32,
}
LEDGER = {
    "document_id": STR,
    "page": I32,
    "line": I32,
    "classification": STR,
    "reason": STR,
    "owner": STR,
}
PASSAGES = {
    "document_id": STR,
    "passage_id": STR,
    "source_key": STR,
    "kind": STR,
    "number": I32,
    "count": I32,
    "label": STR,
    "heading": SEGMENT,  # the lines of which the label is the text; null where it is put together
    "path": pl.List(STR),
    "unit_ids": pl.List(STR),
    "slices": pl.List(SLICE),
    "coordinates": I32,
    "boundary": STR,
    "boundary_page": I32,
    "boundary_line": I32,
    "boundary_char": I32,
    "entry_first": I32,
    "entry_last": I32,
    "retrieval_text": STR,
    "citation_text": STR,
    "tokens": I32,
}
PHASES = {
    "pages": PAGES,
    "headings": HEADINGS,
    "hierarchy": HIERARCHY,
    "spans": SPANS,
    "units": UNITS,
    "ledger": LEDGER,
    "passages": PASSAGES,
}
#: Columns that are null where a frame leaves them out.
OPTIONAL = frozenset({"layout", "heading"})


def conform(frame: pl.DataFrame, schema: dict[str, pl.DataType]) -> pl.DataFrame:
    """Return ``frame`` with exactly the columns of ``schema``, in its order and types.

    Columns of OPTIONAL may be left out. Raises ProvenanceError if another column is missing, one is
    unexpected or of a type that cannot be cast.
    """
    absent = OPTIONAL.intersection(schema).difference(frame.columns)
    frame = frame.with_columns(pl.lit(None).alias(name) for name in sorted(absent))
    if set(frame.columns) != set(schema):
        raise ProvenanceError(
            "a frame does not have the columns of its phase",
            expected=sorted(schema),
            found=sorted(frame.columns),
        )
    try:
        return frame.select(pl.col(name).cast(kind) for name, kind in schema.items())
    except pl.exceptions.PolarsError as error:
        raise ProvenanceError(f"a frame does not have the types of its phase: {error}") from error
