"""The frozen inputs of retrieval, made once from the passages of a corpus."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl
import pyarrow as pa

from policyproof_assets.manifests import Document
from policyproof_runtime.asks import freeze_asks
from policyproof_runtime.fields import freeze_fields, priors
from policyproof_runtime.references import find_references
from policyproof_runtime.thesaurus import freeze_thesaurus

#: The field that finding aids fill.
AID = "aid"
_BRACKETED = re.compile(r"\(([^)]{2,40})\)")


def fields_table(
    passages: pl.DataFrame, titles: Mapping[str, str], aids: Sequence[str], rules: Mapping[str, Any]
) -> pa.Table:
    """Return the frozen BM25F weights of ``passages`` under the ``rules`` of the manifest."""
    rows = list(
        passages.select(
            "kind", "label", "path", "citation_text", "document_id", "entry_first"
        ).iter_rows()
    )
    fields = {
        # A heading that is its own evidence counts as a label, not twice.
        "text": ["" if kind == "heading_only" else text for kind, _, _, text, _, _ in rows],
        "label": [label for _, label, *_ in rows],
        "path": ["\n".join(h for h in path or () if h != label) for _, label, path, *_ in rows],
        "title": [titles[document] for *_, document, _ in rows],
        AID: aids,
    }
    prior = priors([row[0] for row in rows], [row[-1] for row in rows], rules["kinds"])
    return freeze_fields(fields, rules["fields"], prior, rules["k1"])


def references_table(passages: pl.DataFrame, documents: Iterable[Document]) -> pa.Table:
    """Return the names in ``passages`` and those of their ``documents``."""
    columns = ("document_id", "label", "path", "citation_text")
    parts = [passages[name].to_list() for name in columns]
    return find_references(*parts, {d.id: document_names(d) for d in documents})


def document_names(document: Document) -> list[str]:
    """Return what a document is called: id, title, family and version, and the names given it."""
    names = [document.id, document.title]
    # "… Framework (AI RMF 1.0)"; one word in brackets, such as "(EU)", names no document.
    names += [name for name in _BRACKETED.findall(document.title) if " " in name]
    if document.family:
        names += [document.family, f"{document.family} v{document.version}"]
    return [*dict.fromkeys([*names, *document.names])]


def thesaurus_table(groups: Iterable[Sequence[str]], passages: pl.DataFrame) -> pa.Table:
    """Return the ``groups`` of the manifest and the acronyms the passages introduce."""
    return freeze_thesaurus(groups, passages["citation_text"])


def ask_tables(aids: Sequence[str]) -> dict[str, pa.Table]:
    """Return the questions of finding aids with their weights; {} if no passage has any."""
    rows = [(i, ask) for i, asks in enumerate(aids) for ask in asks.splitlines()]
    return freeze_asks(rows) if rows else {}
