"""The figures of each phase, and their comparison with those a corpus must reproduce."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import polars as pl

from policyproof_assets.errors import GateError

Figures = dict[str, Any]


def observe(phase: str, frame: pl.DataFrame) -> Figures:
    """Return the figures of a phase from all its rows, under the names of the expected manifest."""
    return _OBSERVERS[phase](frame)


def differences(expected: Mapping[str, Any], observed: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for every expected figure that was not observed."""
    for name, value in flat(expected):
        found = dict(flat(observed)).get(name)
        if found != value:
            yield f"{name}: expected {value}, found {found}"


def check_figures(phase: str, expected: Mapping[str, Any], observed: Mapping[str, Any]) -> None:
    """Raise GateError that lists every expected figure of ``phase`` that was not observed."""
    faults = list(differences(expected, observed))
    if faults:
        raise GateError(
            f"the phase {phase} does not give the expected figures: " + "; ".join(faults),
            action="find what changed; if the change is right, correct manifests/expected",
        )


def flat(figures: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted name, value) of nested figures."""
    for name, value in figures.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _counts(column: pl.Series) -> dict[str, int]:
    return {
        str(name): n for name, n in column.value_counts(sort=False).sort(column.name).iter_rows()
    }


def _pages(frame: pl.DataFrame) -> Figures:
    return {
        "pages": len(frame),
        "characters": int(frame["text"].str.len_chars().sum()),
        "lines": sum(len(text.splitlines()) for text in frame["text"]),
        "empty_pages": int((frame["text"].str.strip_chars() == "").sum()),
        "documents": _counts(frame["document_id"]),
    }


def _headings(frame: pl.DataFrame) -> Figures:
    return {
        "headings": len(frame),
        "continued": int((frame["line_numbers"].list.len() > 1).sum()),
        "types": _counts(frame["type"]),
        "documents": _counts(frame["document_id"]),
    }


def _hierarchy(frame: pl.DataFrame) -> Figures:
    source = frame.filter(pl.col("kind") == "source")
    return {
        "nodes": len(frame),
        "source": len(source),
        "synthetic": _counts(frame["synthetic_type"].drop_nulls()),
        "depths": _counts(frame["depth"]),
    }


def _spans(frame: pl.DataFrame) -> Figures:
    body = frame["direct_body"].drop_nulls().struct
    return {"spans": len(frame), "empty_bodies": int((body.field("lines") == 0).sum())}


def _units(frame: pl.DataFrame) -> Figures:
    ends = ("end_of_source_unit", "end_of_heading_source")
    return {
        "units": len(frame),
        "sources": frame["source_key"].n_unique(),
        "internal_boundaries": int((~frame["boundary"].is_in(ends)).sum()),
        "kinds": _counts(frame["kind"]),
        "boundaries": _counts(frame["boundary"]),
        "documents": _counts(frame["document_id"]),
    }


def _ledger(frame: pl.DataFrame) -> Figures:
    return {
        "records": len(frame),
        "classifications": _counts(frame["classification"]),
        "reasons": _counts(frame["reason"].drop_nulls()),
    }


def _passages(frame: pl.DataFrame) -> Figures:
    longest = frame["tokens"].max()
    return {
        "passages": len(frame),
        "cuts_in_lines": int(frame["boundary_char"].is_not_null().sum()),
        "with_reference_entries": int(frame["entry_first"].is_not_null().sum()),
        "maximum_tokens": longest,
        "at_maximum_tokens": int((frame["tokens"] == longest).sum()),
        "retrieval_characters": int(frame["retrieval_text"].str.len_chars().sum()),
        "citation_characters": int(frame["citation_text"].str.len_chars().sum()),
        "kinds": _counts(frame["kind"]),
        "boundaries": _counts(frame["boundary"]),
        "documents": _counts(frame["document_id"]),
    }


_OBSERVERS: dict[str, Callable[[pl.DataFrame], Figures]] = {
    "pages": _pages,
    "headings": _headings,
    "hierarchy": _hierarchy,
    "spans": _spans,
    "units": _units,
    "ledger": _ledger,
    "passages": _passages,
}
OBSERVED = tuple(_OBSERVERS)
