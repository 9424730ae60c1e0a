"""Properties of provenance: each holds for every document, whatever its profile.

Every validator returns None or raises ProvenanceError with the item, expected and found. All take
the frames of one document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from policyproof_assets.corpus.boundaries import ENTRY
from policyproof_assets.corpus.ledger import CONTENT
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.logical_sources import HEADING_ONLY
from policyproof_assets.corpus.reviews import Review
from policyproof_assets.corpus.segments import joined, segment_positions
from policyproof_assets.errors import ProvenanceError
from policyproof_runtime.tokenize import TokenCounter

# A stretch of one line: position, first character, character after the last.
_Stretch = tuple[int, int, int]


def lines_owned_once(lines: Lines, ledger: pl.DataFrame) -> None:
    """Every line has one row in the ledger, in order, with an owner or else a reason."""
    expected = list(zip(lines.page, lines.line, strict=True))
    found = list(ledger.select("page", "line").iter_rows())
    if found != expected:
        counts = Counter(found)
        known = set(expected)
        wrong = next((c for c in [*expected, *counts] if counts[c] != 1 or c not in known), None)
        what = f"page {wrong[0]} line {wrong[1]}" if wrong else "the order of the ledger"
        count = counts[wrong] if wrong else "another order"
        raise _broken(lines, f"{what} is not owned once", "1 row for every line", count)
    for page, line, reason, owner in ledger.select("page", "line", "reason", "owner").iter_rows():
        if (reason is None) == (owner is None):
            raise _broken(
                lines,
                f"page {page} line {line} needs an owner or a reason",
                "exactly one of them",
                f"owner {owner}, reason {reason}",
            )


def content_is_of_units(lines: Lines, units: pl.DataFrame, ledger: pl.DataFrame) -> None:
    """Every content line of the ledger is a line of the unit that owns it, and no other is."""
    rows = ledger.filter(pl.col("classification") == CONTENT)
    owners = {
        lines.position(page, line): owner
        for page, line, owner in rows.select("page", "line", "owner").iter_rows()
    }
    for unit_id, segments in units.select("unit_id", "segments").iter_rows():
        for position in segment_positions(lines, segments):
            if (owner := owners.pop(position, None)) != unit_id:
                raise _broken(lines, f"{_at(lines, position)} has another owner", unit_id, owner)
    for position, owner in owners.items():
        raise _broken(lines, f"{_at(lines, position)} is in no unit", "a unit's line", owner)


def characters_once(lines: Lines, units: pl.DataFrame, passages: pl.DataFrame) -> None:
    """Every character of a logical source stands in exactly one of its passages, in order."""
    sources = _source_lines(lines, units)
    taken: dict[str, list[_Stretch]] = {}
    for key, slices in passages.select("source_key", "slices").iter_rows():
        taken.setdefault(key, []).extend(_stretches(lines, slices))
    if set(taken) != set(sources):
        wrong = sorted(set(taken) ^ set(sources))[0]
        raise _broken(lines, f"{wrong} is not a source with passages", len(sources), len(taken))
    for key, positions in sources.items():
        expected = [(position, 0, len(lines.text[position])) for position in positions]
        _same_stretches(lines, key, expected, taken[key])


def texts_are_the_source(lines: Lines, passages: pl.DataFrame) -> None:
    """Every citation is the text of its slices, every retrieval text the label and the citation."""
    for row in passages.iter_rows(named=True):
        citation, retrieval = row["citation_text"], row["retrieval_text"]
        expected = row["label"], row["label"]
        if row["kind"] != HEADING_ONLY:
            text = _slice_text(lines, row["slices"])
            expected = text, f"{row['label']}\n\n{text}"
        if (citation, retrieval) != expected:
            raise _broken(
                lines,
                f"{row['passage_id']} does not have the text of its slices",
                expected[0][:80],
                citation[:80],
            )


def numbering_contiguous(units: pl.DataFrame, passages: pl.DataFrame) -> None:
    """Parts of a unit's source and passages of a source count up from 1 to their count."""
    for frame, name, number, count in (
        (units, "unit", "part", "parts"),
        (passages, "passage", "number", "count"),
    ):
        for (key,), rows in frame.group_by("source_key", maintain_order=True):
            expected = list(range(1, len(rows) + 1))
            found = rows[number].to_list()
            if found != expected or set(rows[count]) != {len(rows)}:
                raise ProvenanceError(
                    f"{key}: {name} numbers are not contiguous",
                    expected=f"{expected} of {len(rows)}",
                    found=f"{found} of {rows[count].unique().to_list()}",
                )


def within_limit(passages: pl.DataFrame, hard: int, counter: TokenCounter | None = None) -> None:
    """No passage has more than ``hard`` tokens; with ``counter`` the counts are made again."""
    tokens = passages["tokens"].to_list()
    counted = counter.count_all(passages["retrieval_text"]) if counter else tokens
    for passage_id, stated, found in zip(passages["passage_id"], tokens, counted, strict=True):
        if stated != found:
            raise ProvenanceError(
                f"{passage_id}: the token count is not that of its text",
                expected=found,
                found=stated,
            )
        if found > hard:
            raise ProvenanceError(
                f"{passage_id} is over the token limit", expected=f"at most {hard}", found=found
            )


def entries_complete(frame: pl.DataFrame) -> None:
    """Units or passages of a reference list hold whole entries: each once, in order, from 1."""
    listed = frame.filter(pl.col("entry_first").is_not_null())
    identifier = "passage_id" if "passage_id" in frame.columns else "unit_id"
    columns = identifier, "source_key", "entry_first", "entry_last", "boundary"
    rows = list(listed.select(columns).iter_rows())
    previous: dict[str, tuple[int, str]] = {}
    for item, key, first, last, boundary in rows:
        end, cut = previous.get(key, (0, ENTRY))
        if first != end + 1 or last < first or cut != ENTRY:
            raise ProvenanceError(
                f"{item}: reference entries are not complete",
                expected=f"entries from {end + 1}, after {ENTRY}",
                found=f"entries {first} to {last}, after {cut}",
            )
        previous[key] = last, boundary


def cuts_reviewed(lines: Lines, passages: pl.DataFrame, review: Review) -> None:
    """No passage ends inside a line but where a review says so."""
    allowed = {(*row.coordinate, row.char) for row in review.rows if row.kind == "cut_in_line"}
    columns = "passage_id", "boundary_page", "boundary_line", "boundary_char"
    for passage_id, page, line, char in passages.select(columns).iter_rows():
        if char is not None and (page, line, char) not in allowed:
            raise _broken(
                lines,
                f"{passage_id} ends inside page {page} line {line}",
                "a line's end or a reviewed cut",
                f"character {char}",
            )


def _source_lines(lines: Lines, units: pl.DataFrame) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for key, segments in units.select("source_key", "segments").iter_rows():
        found.setdefault(key, []).extend(segment_positions(lines, segments))
    return found


def _stretches(lines: Lines, slices: Iterable[Mapping[str, Any]]) -> Iterator[_Stretch]:
    for row in slices:
        positions = list(segment_positions(lines, [row]))
        for position in positions:
            start = row["start_char"] if position == positions[0] else None
            stop = row["end_char"] if position == positions[-1] else None
            size = len(lines.text[position])
            yield position, start or 0, size if stop is None else stop


def _same_stretches(
    lines: Lines, key: str, expected: list[_Stretch], taken: list[_Stretch]
) -> None:
    merged: list[_Stretch] = []
    for position, start, stop in taken:
        if merged and merged[-1][0] == position and merged[-1][2] == start:
            merged[-1] = position, merged[-1][1], stop
        else:
            merged.append((position, start, stop))
    if merged == expected:
        return
    wrong = next((e for e, t in zip(expected, merged, strict=False) if e != t), None)
    where = _at(lines, wrong[0]) if wrong else "its end"
    raise _broken(
        lines,
        f"{key}: at {where} its passages do not hold every character once",
        f"{len(expected)} lines, {sum(b - a for _, a, b in expected)} characters",
        f"{len(merged)} stretches, {sum(b - a for _, a, b in merged)} characters",
    )


def _slice_text(lines: Lines, slices: Iterable[Mapping[str, Any]]) -> str:
    stretches = list(_stretches(lines, slices))
    texts = [lines.text[position][start:stop].strip() for position, start, stop in stretches]
    return joined(lines, [position for position, _, _ in stretches], texts)


def _at(lines: Lines, position: int) -> str:
    page, line = lines.coordinate(position)
    return f"page {page} line {line}"


def _broken(lines: Lines, what: str, expected: object, found: object) -> ProvenanceError:
    return ProvenanceError(f"{lines.document_id}: {what}", expected=expected, found=found)
