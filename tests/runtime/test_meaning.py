"""What a question means beside what is known, and how the gate reads it."""

import numpy as np
import pytest

from policyproof_runtime.errors import ReleaseError
from policyproof_runtime.features import SCOPE
from policyproof_runtime.meaning import Meaning
from policyproof_runtime.sufficiency import (
    ANSWER,
    KIND,
    LIKE_DECLINED,
    WITHIN_REACH,
    Gate,
    Likeness,
)

# Known texts of the passages 0, 0, 1 and 2 of four; nothing is known of passage 3.
KNOWN = np.array([[1, 0], [0.8, 0.6], [0, 1], [-1, 0]], np.float32)
PASSAGES = np.array([0, 0, 1, 2])
QUESTIONS = {"east": [1, 0], "north": [0, 1], "between": [0.6, 0.8]}


def vector(text):
    return np.array(QUESTIONS[text], np.float32)


@pytest.fixture
def meaning():
    return Meaning(vector, KNOWN, PASSAGES, 4)


def test_a_passage_is_as_close_as_its_closest_text_and_the_middle_one_is_at_0(meaning):
    assert meaning.closeness("east").tolist() == [1, 0, 0, 0]
    close = meaning.closeness("between")
    assert close[0] == 1  # by its second text
    assert close[1] == close[2] == close[3] == 0


def test_kin_is_the_vector_and_what_sets_it_apart_from_the_closest(meaning):
    assert meaning.kin("north").tolist() == [0, 1, 0, 0]
    assert meaning.kin("between") == pytest.approx([0.6, 0.8, 0.2, 0.2])


def test_nothing_out_of_reach_is_compared_with():
    meaning = Meaning(vector, KNOWN, PASSAGES, 4, within=[1, 2])
    assert meaning.closeness("east")[0] == 0
    assert meaning.kin("east") == pytest.approx([1, 0, 1, 1])  # the closest in reach is north


def test_with_nothing_in_reach_nothing_is_close():
    meaning = Meaning(vector, KNOWN, PASSAGES, 4, within=[])
    assert not meaning.closeness("east").any()
    assert meaning.kin("east").tolist() == [1, 0, 1, 0]


def test_shares_of_kinds_by_hand():
    likeness = Likeness((ANSWER, "legal"), np.array([0.0, 1.0]), np.array([[2.0, 0.0], [0.0, 3.0]]))
    shares = likeness.shares(np.array([1.0, 0.0]))
    assert shares == pytest.approx(
        {ANSWER: np.e**2 / (np.e**2 + np.e), "legal": np.e / (np.e**2 + np.e)}
    )


def gate(**changes):
    weights = dict.fromkeys((*SCOPE, LIKE_DECLINED), 0.0) | {LIKE_DECLINED: -10.0}
    coverage = {"intercept": 0.0, "weights": {WITHIN_REACH: 0.0}}
    params = {"kind": KIND, "scope": {"intercept": 5.0, "weights": weights}, "cues": {}}
    params |= {"threshold": 0.5, "scope_threshold": 0.5, "label_status": "", "coverage": coverage}
    kinds = {"kinds": [ANSWER, "legal_advice_boundary"], "intercepts": [0, 0]}
    kinds["weights"] = [[9, -9, 0, 0], [-9, 9, 0, 0]]
    return params | {"likeness": kinds} | changes


class Read:
    """A reader that finds nothing but meaning in a question."""

    def __init__(self, meaning):
        self.meaning = meaning

    def scope(self, _):
        return dict.fromkeys(SCOPE, 0.0)

    def may_settle(self, _):
        return True


def test_a_question_like_declined_ones_is_out_of_reach_and_says_of_which_kind(meaning, monkeypatch):
    monkeypatch.setattr("policyproof_runtime.sufficiency.COVERAGE", ())
    read = Gate.from_params(gate())
    assert read.reach(Read(meaning), "east").probability > 0.99
    reach = read.reach(Read(meaning), "north")
    assert reach.probability < 0.01
    assert reach.features[LIKE_DECLINED] > 0.99
    assert max(reach.kinds, key=reach.kinds.get) == "legal_advice_boundary"


def test_a_gate_that_compares_meaning_needs_a_model(monkeypatch):
    monkeypatch.setattr("policyproof_runtime.sufficiency.COVERAGE", ())
    with pytest.raises(ReleaseError, match="no finding aid"):
        Gate.from_params(gate()).reach(Read(None), "east")


def test_a_gate_without_likeness_has_no_weight_for_it(monkeypatch):
    monkeypatch.setattr("policyproof_runtime.sufficiency.COVERAGE", ())
    with pytest.raises(ReleaseError, match="weighs other features"):
        Gate.from_params(gate(likeness={}))
