"""Each property of provenance, broken one way at a time."""

import polars as pl
import pytest

from policyproof_assets.corpus import proofs
from policyproof_assets.corpus.passages import PassageRules
from policyproof_assets.errors import ProvenanceError

from .packing import Rules, Text

TEXT = Text(
    [["# x", "aaaa ab.", "Bbbb bb.", "cc."], ["dddd.", "# y", "eee."]],
    Rules(passages=PassageRules(target=12, hard=18)),
)
UNITS, LEDGER, PASSAGES = TEXT.units(), TEXT.ledger(), TEXT.passages()


def changed(frame: pl.DataFrame, row: int, **values) -> pl.DataFrame:
    rows = frame.to_dicts()
    rows[row] |= values
    return pl.DataFrame(rows, schema=frame.schema)


def without(frame: pl.DataFrame, row: int) -> pl.DataFrame:
    return pl.concat([frame.head(row), frame.slice(row + 1)])


def test_the_small_document_has_every_property():
    assert len(PASSAGES) == 3
    TEXT.prove()


@pytest.mark.parametrize(
    ("ledger", "message"),
    [
        (without(LEDGER, 2), "is not owned once"),
        (pl.concat([LEDGER, LEDGER.slice(2, 1)]), "is not owned once"),
        (LEDGER.reverse(), "is not owned once"),
        (changed(LEDGER, 1, line=9), "is not owned once"),
        (changed(LEDGER, 1, owner=None), "page 1 line 2 needs an owner or a reason"),
        (changed(LEDGER, 1, reason="both"), "page 1 line 2 needs an owner or a reason"),
    ],
    ids=["missing", "twice", "order", "unknown line", "nobody", "owner and reason"],
)
def test_a_line_is_owned_once(ledger, message):
    with pytest.raises(ProvenanceError, match=message):
        proofs.every_line_has_one_owner(TEXT.evidence(ledger=ledger))


def test_a_content_line_is_of_its_unit():
    ledger = changed(LEDGER, 1, owner="other")
    with pytest.raises(ProvenanceError, match="page 1 line 2 has another owner"):
        proofs.content_lines_are_those_of_units(TEXT.evidence(ledger=ledger))
    with pytest.raises(ProvenanceError, match="page 2 line 3 has another owner"):
        proofs.content_lines_are_those_of_units(TEXT.evidence(units=UNITS.head(1)))


def first_slice(**values) -> pl.DataFrame:
    return changed(PASSAGES, 0, slices=[PASSAGES["slices"][0].to_list()[0] | values])


@pytest.mark.parametrize(
    "passages",
    [
        first_slice(end_char=4),
        first_slice(start_char=1),
        first_slice(end_line=PASSAGES["slices"][0].to_list()[0]["end_line"] - 1),
        first_slice(end_line=4),
        changed(PASSAGES, 0, slices=PASSAGES["slices"][1].to_list()),
    ],
    ids=["cut short", "starts late", "a line less", "a line more", "another's lines"],
)
def test_a_character_is_in_one_passage(passages):
    with pytest.raises(ProvenanceError, match="not every character is in one passage") as failure:
        proofs.every_character_once(TEXT.evidence(passages=passages))
    assert failure.value.expected != failure.value.found


def test_a_source_has_passages():
    with pytest.raises(ProvenanceError, match="not every character is in one passage"):
        proofs.every_character_once(TEXT.evidence(passages=PASSAGES.head(2)))


@pytest.mark.parametrize("column", ["citation_text", "retrieval_text"])
def test_a_text_is_that_of_its_slices(column):
    passages = changed(PASSAGES, 0, **{column: "other words"})
    with pytest.raises(ProvenanceError, match="passage-001 does not have the text"):
        proofs.texts_are_the_source(TEXT.evidence(passages=passages))


@pytest.mark.parametrize(
    ("phase", "frame"),
    [
        ("passages", changed(PASSAGES, 1, number=3)),
        ("passages", changed(PASSAGES, 1, count=3)),
        ("units", changed(UNITS, 0, part=2)),
    ],
)
def test_numbers_are_contiguous(phase, frame):
    with pytest.raises(ProvenanceError, match=f"numbers of its {phase} are not contiguous"):
        proofs.numbers_are_contiguous(TEXT.evidence(**{phase: frame}))


def test_no_passage_is_over_the_limit():
    passages = changed(PASSAGES, 0, tokens=19)
    with pytest.raises(ProvenanceError, match="is over the token limit"):
        proofs.no_passage_over_the_token_limit(TEXT.evidence(passages=passages))


@pytest.mark.parametrize(
    ("entries", "boundary"),
    [
        ([(2, 3), (4, 5)], "before_reference_entry"),
        ([(1, 3), (5, 5)], "before_reference_entry"),
        ([(1, 3), (3, 5)], "before_reference_entry"),
        ([(1, 3), (4, 3)], "before_reference_entry"),
        ([(1, 3), (4, 5)], "after_strong_terminal"),
    ],
    ids=["late start", "gap", "overlap", "empty", "cut inside an entry"],
)
def test_reference_entries_are_complete(entries, boundary):
    frame = PASSAGES.head(2)
    for row, (first, last) in enumerate(entries):
        frame = changed(frame, row, entry_first=first, entry_last=last, boundary=boundary)
    with pytest.raises(ProvenanceError, match="entries are not complete"):
        proofs.passage_entries_are_complete(TEXT.evidence(passages=frame))


def test_an_unreviewed_cut_inside_a_line_is_found():
    passages = changed(PASSAGES, 0, boundary_char=4)
    with pytest.raises(ProvenanceError, match="passage-001 ends inside page 1 line"):
        proofs.cuts_inside_a_line_are_reviewed_or_lenient(TEXT.evidence(passages=passages))
