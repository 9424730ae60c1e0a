"""The accepted JSON-lines records of pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version

import polars as pl

from policyproof_assets.export.records import Row, page_id
from policyproof_assets.manifests import Corpus, Document, ExportIdentity

#: How the accepted records call what each extractor does.
_METHODS = {"pypdf": "pypdf_plain", "pdfplumber": "pdfplumber_default"}


def pages(
    frame: pl.DataFrame, corpus: Corpus, identity: ExportIdentity, extractors: Mapping[str, str]
) -> Iterator[Row]:
    """Yield the records of ``pages.jsonl``; ``extractors`` maps document id to library."""
    counts = dict(frame.group_by("document_id").len().iter_rows())
    for document_id, number, text in frame.select("document_id", "page", "text").iter_rows():
        document, extractor = corpus.document(document_id), extractors[document_id]
        yield {
            "schema_version": "1.0",
            "corpus_id": identity.corpus_id,
            "corpus_version": identity.corpus_version,
            "page_id": page_id(document_id, number),
            "document_id": document_id,
            **_described(document),
            "source_filename": f"{document_id}.{document.format}",
            "document_sha256": document.sha256,
            "retrieved_date": identity.retrieved_date,
            "page_number": number,
            "page_count": counts[document_id],
            "extraction_method": _METHODS[extractor],
            "extractor": extractor,
            "extractor_version": version(extractor),
            "character_count": len(text),
            "is_empty": not text.strip(),
            "text": text,
        }


def _described(document: Document) -> Row:
    facts = document.facts
    return {
        "title": document.title,
        "organization": document.publisher,
        "source_url": document.about,
        "download_url": document.url,
        "publication_date": facts.get("publication_date"),
        "adoption_date": facts.get("adoption_date"),
        "version": document.version,
        "jurisdiction": facts.get("jurisdiction"),
        "document_category": facts.get("category"),
        "legal_status": facts.get("legal_status"),
        "language": document.language,
    }
