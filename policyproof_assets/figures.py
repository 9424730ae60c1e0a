"""The figures of each phase, and their comparison with those a corpus must reproduce."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from policyproof_assets.errors import GateError

Figures = dict[str, Any]

_LINES = pl.col("text").map_elements(lambda text: len(text.splitlines()), return_dtype=pl.Int64)
_ENDS = ("end_of_source_unit", "end_of_heading_source")
_MAXIMUM = pl.col("tokens").max()

#: By phase, each figure that is one number of the phase's rows.
_NUMBERS: dict[str, dict[str, pl.Expr]] = {
    "pages": {
        "pages": pl.len(),
        "characters": pl.col("text").str.len_chars().sum(),
        "lines": _LINES.sum(),
        "empty_pages": (pl.col("text").str.strip_chars() == "").sum(),
    },
    "headings": {"headings": pl.len(), "continued": (pl.col("line_numbers").list.len() > 1).sum()},
    "hierarchy": {"nodes": pl.len(), "source": (pl.col("kind") == "source").sum()},
    "spans": {
        "spans": pl.len(),
        "empty_bodies": (pl.col("direct_body").struct.field("lines") == 0).sum(),
    },
    "units": {
        "units": pl.len(),
        "sources": pl.col("source_key").n_unique(),
        "internal_boundaries": (~pl.col("boundary").is_in(_ENDS)).sum(),
    },
    "ledger": {"records": pl.len()},
    "passages": {
        "passages": pl.len(),
        "cuts_in_lines": pl.col("boundary_char").count(),
        "with_reference_entries": pl.col("entry_first").count(),
        "maximum_tokens": _MAXIMUM,
        "at_maximum_tokens": (pl.col("tokens") == _MAXIMUM).sum(),
        "retrieval_characters": pl.col("retrieval_text").str.len_chars().sum(),
        "citation_characters": pl.col("citation_text").str.len_chars().sum(),
    },
}
#: By phase, each figure that counts the rows by the values of a column.
_COUNTS: dict[str, dict[str, str]] = {
    "pages": {"documents": "document_id"},
    "headings": {"types": "type", "documents": "document_id"},
    "hierarchy": {"synthetic": "synthetic_type", "depths": "depth"},
    "units": {"kinds": "kind", "boundaries": "boundary", "documents": "document_id"},
    "ledger": {"classifications": "classification", "reasons": "reason"},
    "passages": {"kinds": "kind", "boundaries": "boundary", "documents": "document_id"},
}
OBSERVED = tuple(_NUMBERS)


def observe(phase: str, frame: pl.DataFrame) -> Figures:
    """Return the figures of a phase from all its rows, under the names of the expected manifest."""
    numbers = frame.select(**_NUMBERS[phase]).row(0, named=True)
    counts = _COUNTS.get(phase, {}).items()
    return numbers | {name: _counts(frame[column].drop_nulls()) for name, column in counts}


def figures_table(phases: Sequence[str], *frames: pl.DataFrame) -> pl.DataFrame:
    """Return one row per phase: its name, and the figures of its frame as JSON."""
    figures = [json.dumps(observe(*pair)) for pair in zip(phases, frames, strict=True)]
    schema = {"phase": pl.String, "figures": pl.String}
    return pl.DataFrame({"phase": phases, "figures": figures}, schema)


def check_figures(
    phase: str,
    expected: Mapping[str, Any],
    observed: Mapping[str, Any],
    tolerances: Mapping[str, float] | None = None,
) -> None:
    """Raise GateError that lists every expected figure of ``phase`` that was not observed.

    ``tolerances`` holds how far figures may differ, by the first part of their names.
    """
    found = dict(flat(observed))
    wrong = [
        (name, value)
        for name, value in flat(expected)
        if not _agree(found.get(name), value, (tolerances or {}).get(name.partition(".")[0]))
    ]
    if wrong:
        faults = (f"{name}: expected {value}, found {found.get(name)}" for name, value in wrong)
        raise GateError(
            f"the phase {phase} does not give the expected figures: " + "; ".join(faults),
            action="find what changed; if the change is right, correct manifests/expected",
        )


def _agree(found: Any, expected: Any, tolerance: float | None) -> bool:
    if found is None or tolerance is None:
        return bool(found == expected)
    return bool(abs(found - expected) <= tolerance)


def flat(figures: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted name, value) of nested figures."""
    for name, value in figures.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _counts(column: pl.Series) -> dict[str, int]:
    counts = column.value_counts(sort=False).sort(column.name)
    return {str(name): count for name, count in counts.iter_rows()}
