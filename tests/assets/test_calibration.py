"""Measures of trust in a gate, each worked by hand."""

import numpy as np
import pytest

from policyproof_assets.evaluation.calibration import (
    augrc,
    cheapest_threshold,
    expected_calibration_error,
    rate,
    reliability,
)

SAID = np.array([0.9, 0.8, 0.4, 0.1])
TRUE = np.array([True, False, True, False])


def test_no_error_in_twenty_still_allows_one_in_six():
    # The upper bound for 0 of n is 1 - 0.025^(1/n).
    none, every = rate([False] * 20), rate([True] * 20)
    assert (none["low"], none["high"]) == (0.0, round(1 - 0.025 ** (1 / 20), 4))
    assert (every["low"], every["high"]) == (round(0.025 ** (1 / 20), 4), 1.0)


def test_a_rate_of_nothing_has_no_share():
    assert rate([])["share"] is None
    assert rate([True, False])["share"] == 0.5


def test_reliability_compares_what_was_said_with_what_was_so():
    bins = reliability(np.array([0.75, 0.95, 1.0]), np.array([True, True, False]))
    columns = ["from", "count", "said", "observed"]
    assert bins.select(columns).rows() == [(0.7, 1, 0.75, 1.0), (0.9, 2, 0.975, 0.5)]


def test_calibration_error_weighs_bins_by_their_cases():
    expected = (0.25 + 2 * 0.47) / 3
    found = expected_calibration_error(np.array([0.75, 0.95, 0.99]), np.array([True, True, False]))
    assert found == pytest.approx(expected)


def test_augrc_is_the_mean_share_of_wrong_answers_over_coverages():
    # Answered first to last: right, wrong, right, wrong: 0, 1, 1, 2 wrong of 4.
    assert augrc(SAID, TRUE) == pytest.approx((0 + 1 + 1 + 2) / 4 / 4)
    assert augrc(np.array([0.9, 0.1, 0.8, 0.2]), TRUE) < augrc(SAID, TRUE)


def test_a_threshold_lies_midway_between_what_it_parts():
    said, truth = np.repeat([0.9, 0.1], 50), np.repeat([True, False], 50)
    assert cheapest_threshold(said, truth, 1.0) == pytest.approx(0.5)


def test_a_dear_false_answer_raises_the_threshold():
    said, truth = np.repeat(SAID, 50), np.repeat(TRUE, 50)
    cheap, dear = (cheapest_threshold(said, truth, cost) for cost in (0.5, 5.0))
    assert (cheap, dear) == (pytest.approx(0.25), pytest.approx(0.85))


def test_what_weighs_nothing_has_no_say_in_the_threshold():
    said, truth = np.repeat(SAID, 50), np.repeat(TRUE, 50)
    weights = np.where(said == 0.8, 1e-9, 1.0)
    assert cheapest_threshold(said, truth, 5.0, weights) == pytest.approx(0.25)


def test_a_threshold_does_not_depend_on_the_order_of_what_it_is_chosen_on():
    said, truth = np.linspace(0, 1, 40), np.arange(40) % 3 > 0
    there, back = (cheapest_threshold(said[::k], truth[::k], 1.0) for k in (1, -1))
    assert there == back
