"""The frozen inputs of retrieval, made once from the passages of a corpus."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from policyproof_assets.finding_aids import load_finding_aids
from policyproof_assets.manifests import Document
from policyproof_runtime.asks import freeze_asks
from policyproof_runtime.bm25 import freeze
from policyproof_runtime.fields import freeze_fields, priors
from policyproof_runtime.references import find_references
from policyproof_runtime.thesaurus import freeze_thesaurus

Rules = Mapping[str, Any]
#: The field that finding aids fill.
AID = "aid"
_BRACKETED = re.compile(r"\(([^)]{2,40})\)")


def bm25_table(passages: pl.DataFrame) -> pa.Table:
    """Return the frozen BM25 weights of the accepted contract."""
    return freeze(passages["retrieval_text"])


def aided_fields(
    passages: pl.DataFrame,
    titles: Mapping[str, str],
    aids: Sequence[Path],
    rules: Mapping[str, Any],
) -> pa.Table:
    """Return `fields_table` with the finding aids in the files ``aids``."""
    return fields_table(passages, titles, load_finding_aids(aids, passages), rules)


def fields_table(
    passages: pl.DataFrame, titles: Mapping[str, str], aids: Sequence[str], rules: Rules
) -> pa.Table:
    """Return the frozen BM25F weights of ``passages`` under the ``rules`` of the manifest."""
    # A heading that is its own evidence counts as a label, not twice.
    text = pl.when(pl.col("kind") == "heading_only").then(pl.lit("")).otherwise("citation_text")
    title = pl.col("document_id").replace_strict(titles, return_dtype=pl.String)
    frame = passages.select("label", "path", text=text, title=title)
    above = ((h for h in path or () if h != label) for label, path, *_ in frame.iter_rows())
    fields = frame.to_dict(as_series=False) | {"path": list(map("\n".join, above)), AID: aids}
    prior = priors(passages["kind"], passages["entry_first"], rules["kinds"])
    return freeze_fields(fields, rules["fields"], prior, rules["k1"])


def references_table(passages: pl.DataFrame, names: Mapping[str, Sequence[str]]) -> pa.Table:
    """Return the names in ``passages`` and those of their documents."""
    columns = ("document_id", "label", "path", "citation_text")
    return find_references(*(passages[column].to_list() for column in columns), names)


def document_names(document: Document) -> list[str]:
    """Return what a document is called: id, title, family and version, and the names given it."""
    names = [document.id, document.title]
    # "… Framework (AI RMF 1.0)"; one word in brackets, such as "(EU)", names no document.
    names += [name for name in _BRACKETED.findall(document.title) if " " in name]
    if document.family:
        names += [document.family, f"{document.family} v{document.version}"]
    return [*dict.fromkeys([*names, *document.names])]


def thesaurus_table(passages: pl.DataFrame, groups: Iterable[Sequence[str]]) -> pa.Table:
    """Return the ``groups`` of the manifest and the acronyms the passages introduce."""
    return freeze_thesaurus(groups, passages["citation_text"])


def ask_tables(passages: pl.DataFrame, aids: Sequence[Path]) -> dict[str, pa.Table]:
    """Return the questions of the finding aids in the files ``aids``, with their weights."""
    texts = load_finding_aids(aids, passages)
    return freeze_asks([(i, ask) for i, asks in enumerate(texts) for ask in asks.splitlines()])
