"""The accepted files of headings, hierarchy and spans, to the byte."""

import hashlib
import tomllib
from importlib.metadata import version

import polars as pl
import pytest

from policyproof_assets.export import structure as export
from policyproof_assets.export.records import json_lines


@pytest.fixture(scope="session")
def records(structures, accepted_pages, corpus):
    headings, hierarchy, spans = (
        pl.concat(getattr(s, name) for s in structures.values())
        for name in ("headings", "hierarchy", "spans")
    )
    identity = corpus.export.model_dump()
    return {
        "heading-candidates": export.heading_candidates(headings, identity, accepted_pages),
        "reconstructed-headings": export.reconstructed_headings(headings, identity),
        "heading-hierarchy": export.heading_hierarchy(hierarchy),
        "heading-spans": export.heading_spans(hierarchy, headings, spans),
    }


@pytest.mark.parametrize(
    "name",
    ["heading-candidates", "reconstructed-headings", "heading-hierarchy", "heading-spans"],
)
def test_the_file_is_the_accepted_one_to_the_byte(name, records, accepted, manifests):
    ours, theirs = list(records[name]), accepted(name)
    for mine, other in zip(ours, theirs, strict=True):
        assert list(mine) == list(other)
        assert mine == other
    digest = hashlib.sha256(b"".join(json_lines(ours))).hexdigest()
    expected = tomllib.loads((manifests / "expected" / "ai-governance.toml").read_text())
    assert digest == expected["export"][f"{name}.jsonl"]


def test_a_span_that_ends_with_the_document_ends_after_its_last_line(structures):
    for s in structures.values():
        last = list(export.heading_spans(s.hierarchy, s.headings, s.spans))[-1]
        end = last["direct_body"]["end_boundary"]
        assert end["kind"] == "after_document_line"
        assert (end["coordinate"]["page_number"], end["coordinate"]["line_number"]) == (
            s.lines.coordinate(len(s.lines) - 1)
        )


def test_pages_that_our_own_extractors_read_say_so(corpus, accepted_pages):
    page, names = accepted_pages[:1], corpus.export.model_dump()
    (own,) = export.pages(page, names, corpus, {page["document_id"][0]: "layout"})
    assert (own["extraction_method"], own["extractor"]) == ("layout", "layout")
    assert own["extractor_version"] == version("policyproof")
