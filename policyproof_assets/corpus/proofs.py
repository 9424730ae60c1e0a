"""The properties of provenance that every build must have, whatever the profile.

Each is a function that returns None or raises ProvenanceError with the item, expected and found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import polars as pl

from policyproof_assets.corpus.boundaries import ENTRY
from policyproof_assets.corpus.ledger import CONTENT
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.logical_sources import HEADING_ONLY
from policyproof_assets.corpus.profiles import Profile
from policyproof_assets.corpus.reviews import Review
from policyproof_assets.errors import ProvenanceError

# A stretch of one line: source, position, first character, character after the last.
_Stretch = tuple[str, int, int, int]


@dataclass(frozen=True)
class Evidence:
    """What the properties of one document are checked on; ``frames`` by the name of their phase."""

    lines: Lines
    frames: Mapping[str, pl.DataFrame]
    profile: Profile
    review: Review


@dataclass(frozen=True)
class Property:
    """A property of ``phase``; ``check`` raises ProvenanceError where it does not hold."""

    name: str
    phase: str
    check: Callable[[Evidence], None]


PROPERTIES: list[Property] = []


def _property(phase: str) -> Callable[[Callable[[Evidence], None]], Callable[[Evidence], None]]:
    def register(check: Callable[[Evidence], None]) -> Callable[[Evidence], None]:
        PROPERTIES.append(Property(check.__name__, phase, check))
        return check

    return register


def prove_all(evidence: Evidence) -> pl.DataFrame:
    """Check every property of one document; returns one row per property that holds.

    Raises ProvenanceError on the first that does not.
    """
    for proof in PROPERTIES:
        proof.check(evidence)
    rows = [(evidence.lines.document_id, proof.name, proof.phase) for proof in PROPERTIES]
    return pl.DataFrame(rows, schema=["document_id", "property", "phase"], orient="row")


@_property("ledger")
def every_line_has_one_owner(e: Evidence) -> None:
    """Every line has one row in the ledger, in order, with an owner or else a reason."""
    ledger = e.frames["ledger"].select("page", "line", "reason", "owner").rows()
    places = zip(e.lines.page, e.lines.line, strict=True)
    for expected, (*found, reason, owner) in zip_longest(places, ledger, fillvalue=(0,) * 4):
        if expected != tuple(found):
            raise _broken(e, "a line is not owned once and in order", expected, found)
        if (reason is None) == (owner is None):
            place = f"page {found[0]} line {found[1]}"
            both = f"owner {owner}, reason {reason}"
            raise _broken(e, f"{place} needs an owner or a reason", "exactly one of them", both)


@_property("ledger")
def content_lines_are_those_of_units(e: Evidence) -> None:
    """Every content line of the ledger is a line of the unit that owns it, and no other is."""
    rows = e.frames["ledger"].filter(pl.col("classification") == CONTENT)
    stated = {(page, line): owner for page, line, owner in rows["page", "line", "owner"].rows()}
    owners = {
        e.lines.coordinate(position): unit_id
        for unit_id, segments in e.frames["units"]["unit_id", "segments"].rows()
        for position in e.lines.positions_of(segments)
    }
    for page, line in sorted(owners.keys() | stated):
        expected, found = owners.get((page, line)), stated.get((page, line))
        if found != expected:
            raise _broken(e, f"page {page} line {line} has another owner", expected, found)


@_property("passages")
def every_character_once(e: Evidence) -> None:
    """Every character of a logical source stands in exactly one of its passages, in order."""
    expected: list[_Stretch] = [
        (key, position, 0, len(e.lines.text[position]))
        for key, segments in e.frames["units"]["source_key", "segments"].rows()
        for position in e.lines.positions_of(segments)
    ]
    found: list[_Stretch] = []
    for key, slices in e.frames["passages"]["source_key", "slices"].rows():
        for position, start, stop in _stretches(e.lines, slices):
            if found and found[-1][:2] == (key, position) and found[-1][3] == start:
                start = found.pop()[2]  # noqa: PLW2901 - goes on where the passage before ended
            found.append((key, position, start, stop))
    for wanted, taken in zip_longest(expected, found):
        if wanted != taken:
            key = (wanted or taken)[0]
            raise _broken(e, f"{key}: not every character is in one passage", wanted, taken)


@_property("passages")
def texts_are_the_source(e: Evidence) -> None:
    """Every citation is the text of its slices, every retrieval text the label and the citation."""
    for row in e.frames["passages"].iter_rows(named=True):
        expected = row["label"], row["label"]
        if row["kind"] != HEADING_ONLY:
            text = _text(e.lines, row["slices"])
            expected = text, f"{row['label']}\n\n{text}"
        found = row["citation_text"], row["retrieval_text"]
        if found != expected:
            what = f"{row['passage_id']} does not have the text of its slices"
            raise _broken(e, what, expected[0][:80], found[0][:80])


@_property("passages")
def numbers_are_contiguous(e: Evidence) -> None:
    """Parts of a unit's source and passages of a source count up from 1 to their count."""
    for phase, number, count in (("units", "part", "parts"), ("passages", "number", "count")):
        frame = e.frames[phase]
        key = pl.col("source_key")
        right = (pl.col(number) == key.cum_count().over(key)) & (
            pl.col(count) == pl.len().over(key)
        )
        for row in frame.filter(~right).iter_rows(named=True):
            what = f"{row['source_key']}: the numbers of its {phase} are not contiguous"
            raise _broken(e, what, "1, 2, … of their count", f"{row[number]} of {row[count]}")


@_property("passages")
def no_passage_over_the_token_limit(e: Evidence) -> None:
    """No passage has more tokens than the profile's hard limit."""
    hard = e.profile.passages.hard
    over = e.frames["passages"].filter(pl.col("tokens") > hard)
    for passage_id, tokens in over["passage_id", "tokens"].rows():
        raise _broken(e, f"{passage_id} is over the token limit", f"at most {hard}", tokens)


@_property("units")
def unit_entries_are_complete(e: Evidence) -> None:
    """Units of a reference list hold whole entries: each once, in order, from 1."""
    _entries_complete(e, e.frames["units"])


@_property("passages")
def passage_entries_are_complete(e: Evidence) -> None:
    """Passages of a reference list hold whole entries: each once, in order, from 1."""
    _entries_complete(e, e.frames["passages"])


def _entries_complete(e: Evidence, frame: pl.DataFrame) -> None:
    previous: dict[str, tuple[int, str]] = {}
    listed = frame.filter(pl.col("entry_first").is_not_null())
    columns = ["source_key", "entry_first", "entry_last", "boundary"]
    for key, first, last, boundary in listed[columns].rows():
        end, cut = previous.get(key, (0, ENTRY))
        if first != end + 1 or last < first or cut != ENTRY:
            expected = f"entries from {end + 1}, after {ENTRY}"
            found = f"entries {first} to {last}, after {cut}"
            raise _broken(e, f"{key}: reference entries are not complete", expected, found)
        previous[key] = last, boundary


@_property("passages")
def cuts_inside_a_line_are_reviewed_or_lenient(e: Evidence) -> None:
    """No passage ends inside a line but where a review says so, or the profile is lenient."""
    if not e.profile.passages.strict:
        return
    allowed = {(r.page, r.line, r.char) for r in e.review.rows if r.kind == "cut_in_line"}
    columns = ["passage_id", "boundary_page", "boundary_line", "boundary_char"]
    cuts = e.frames["passages"].filter(pl.col("boundary_char").is_not_null())
    for passage_id, *place in cuts[columns].rows():
        if tuple(place) not in allowed:
            what = f"{passage_id} ends inside page {place[0]} line {place[1]}"
            raise _broken(e, what, "a line's end or a reviewed cut", f"character {place[2]}")


def _stretches(lines: Lines, slices: list[Mapping[str, Any]]) -> Iterator[tuple[int, int, int]]:
    """Yield (position, first character, character after the last) of every line of a passage."""
    for row in slices:
        positions = lines.positions_of([row])
        for position in positions:
            start = row["start_char"] if position == positions[0] else None
            stop = row["end_char"] if position == positions[-1] else None
            yield position, start or 0, len(lines.text[position]) if stop is None else stop


def _text(lines: Lines, slices: list[Mapping[str, Any]]) -> str:
    stretches = list(_stretches(lines, slices))
    texts = [lines.text[position][start:stop].strip() for position, start, stop in stretches]
    return lines.joined([position for position, _, _ in stretches], texts)


def _broken(e: Evidence, what: str, expected: object, found: object) -> ProvenanceError:
    return ProvenanceError(f"{e.lines.document_id}: {what}", expected=expected, found=found)
