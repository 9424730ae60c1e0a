"""What a comparison calls a change, and what it does not."""

import pytest

from policyproof_runtime.diff import Piece, Words, compare
from policyproof_runtime.types import Citation

LEAVE = ("Leave",)
TRAVEL = ("Travel",)
DAYS = "Every employee has thirty days of leave a year, and more by\nagreement with the manager."
SICK = "A certificate is due on the fourth day of illness; send it to the office of personnel."
TRAIN = "Second class is booked for all journeys under four hours, whoever the traveller may be."


def side(*rows, scope=""):
    return [
        Piece(scope, heading, Citation("p", "d", "D", heading[-1], i, 1, i, 2, text))
        for i, (heading, text) in enumerate(rows, 1)
    ]


def kinds(found):
    return [change.kind for change in found.changes]


def test_equal_sides_have_no_changes():
    both = side((LEAVE, DAYS), (LEAVE, SICK))
    assert compare(both, both).changes == ()
    assert compare(both, both).same == 2
    assert compare([], []).same == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("by\nagreement", "by agreement\n"),
        ("a self-\nevident rule", "a selfevident rule"),
        ("a self-evident rule is self-\nevident", "a self-evident\nrule is self-evident"),
    ],
    ids=["white space", "wrap hyphen", "hyphen of the word"],
)
def test_the_same_words_on_other_lines_are_no_change_of_words(old, new):
    found = compare(side((LEAVE, old)), side((LEAVE, new)))
    assert (kinds(found), found.same) == (["same_words"], 0)
    assert found.changes[0].words == ()


def test_a_hyphen_inside_a_line_is_a_change():
    found = compare(side((LEAVE, f"re-sign it. {DAYS}")), side((LEAVE, f"resign it. {DAYS}")))
    assert [(w.old, w.new) for w in found.changes[0].words] == [("re-sign", "resign")]


def test_the_words_that_changed_are_named_with_those_around_them():
    found = compare(side((LEAVE, DAYS)), side((LEAVE, DAYS.replace("thirty", "twenty-five"))))
    assert kinds(found) == ["changed"]
    expected = Words("Every employee has", "thirty", "twenty-five", "days of leave a year,")
    assert found.changes[0].words == (expected,)


def test_a_sentence_that_moves_the_ends_of_passages_is_the_only_change():
    words = f"{DAYS} {SICK} {TRAIN}".split()
    longer = [*words[:4], "NEW", *words[4:]]
    old = side((LEAVE, " ".join(words[:20])), (LEAVE, " ".join(words[20:])))
    new = side((LEAVE, " ".join(longer[:20])), (LEAVE, " ".join(longer[20:])))
    found = compare(old, new)
    assert [(w.old, w.new) for change in found.changes for w in change.words] == [("", "NEW")]


def test_added_and_removed_passages_stand_where_they_belong():
    old = side((LEAVE, DAYS), (LEAVE, SICK))
    new = side((TRAVEL, TRAIN), (LEAVE, DAYS))
    found = compare(old, new)
    assert kinds(found) == ["added", "removed"]
    assert found.changes[1].old[0].citation.excerpt == SICK


def test_the_same_words_under_another_heading_have_moved():
    found = compare(side((LEAVE, DAYS), (LEAVE, SICK)), side((LEAVE, DAYS), (TRAVEL, SICK)))
    assert (kinds(found), found.same) == (["moved"], 1)


def test_one_of_two_swapped_passages_has_moved():
    rows = (LEAVE, DAYS), (LEAVE, SICK), (TRAVEL, TRAIN)
    found = compare(side(*rows), side(rows[1], rows[0], rows[2]))
    assert (kinds(found), found.same) == (["moved"], 2)


def test_other_words_under_the_same_heading_replace_it():
    assert kinds(compare(side((LEAVE, SICK)), side((LEAVE, TRAIN)))) == ["removed", "added"]


def test_passages_of_two_documents_are_not_taken_for_each_other():
    new = side((LEAVE, DAYS), scope="a") + side((LEAVE, DAYS), scope="b")
    found = compare(side((LEAVE, DAYS), scope="b"), new)
    assert (kinds(found), found.same) == (["added"], 1)
    assert found.changes[0].new[0].scope == "a"
