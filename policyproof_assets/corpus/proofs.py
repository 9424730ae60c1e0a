"""The properties every build must have, one document at a time, each under a name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from policyproof_assets.corpus import properties as prove
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.profiles import Profile
from policyproof_assets.corpus.reviews import Review


@dataclass(frozen=True)
class Evidence:
    """What the properties of one document are checked on."""

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


PROPERTIES = (
    Property(
        "every_line_has_one_owner",
        "ledger",
        lambda e: prove.lines_owned_once(e.lines, e.frames["ledger"]),
    ),
    Property(
        "content_lines_are_those_of_units",
        "ledger",
        lambda e: prove.content_is_of_units(e.lines, e.frames["units"], e.frames["ledger"]),
    ),
    Property(
        "every_character_once",
        "passages",
        lambda e: prove.characters_once(e.lines, e.frames["units"], e.frames["passages"]),
    ),
    Property(
        "texts_are_the_source",
        "passages",
        lambda e: prove.texts_are_the_source(e.lines, e.frames["passages"]),
    ),
    Property(
        "numbers_are_contiguous",
        "passages",
        lambda e: prove.numbering_contiguous(e.frames["units"], e.frames["passages"]),
    ),
    Property(
        "no_passage_over_the_token_limit",
        "passages",
        lambda e: prove.within_limit(e.frames["passages"], e.profile.passages.hard),
    ),
    Property(
        "unit_entries_are_complete", "units", lambda e: prove.entries_complete(e.frames["units"])
    ),
    Property(
        "passage_entries_are_complete",
        "passages",
        lambda e: prove.entries_complete(e.frames["passages"]),
    ),
    Property(
        "no_unreviewed_cut_inside_a_line",
        "passages",
        # A lenient profile says once for its kind of document that long lines may be cut.
        lambda e: (
            prove.cuts_reviewed(e.lines, e.frames["passages"], e.review)
            if e.profile.passages.strict
            else None
        ),
    ),
)


def prove_all(evidence: Evidence) -> pl.DataFrame:
    """Check every property of one document; returns one row per property that holds.

    Raises ProvenanceError on the first that does not.
    """
    for proof in PROPERTIES:
        proof.check(evidence)
    return pl.DataFrame(
        {
            "document_id": [evidence.lines.document_id] * len(PROPERTIES),
            "property": [proof.name for proof in PROPERTIES],
            "phase": [proof.phase for proof in PROPERTIES],
        }
    )
