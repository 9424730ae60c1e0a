"""Which version of a document a question means, and where the others are put."""

from dataclasses import dataclass

import numpy as np
import pytest

from policyproof_runtime.versions import Version, Versions, meant_versions

V1 = Version("1", "superseded", "2021", [0])
V2 = Version("2.0", "superseded", "2023", [1])
V3 = Version("3", "active", "2025", [2])
DRAFT = Version("4", "draft", "2027", [3])
FAMILY = [V1, V2, V3, DRAFT]


@dataclass(frozen=True)
class Held:
    id: str
    version: str
    status: str
    effective_date: str | None = None
    family: str | None = "leave"


@pytest.mark.parametrize(
    "question",
    [
        "How long is parental leave?",
        "What is the limit for an old pump?",
        "Who is the previous owner of the register?",
        "What happened before the audit?",
    ],
)
def test_the_version_in_force_is_meant_unless_the_question_says_otherwise(question):
    assert meant_versions(question, FAMILY) == [V3]


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("What does version 1 say?", [V1]),
        ("What does Version 2.0 say?", [V2]),
        ("What does v3 say?", [V3]),
        ("What does v 4 say?", [DRAFT]),
        ("What differs between v1 and v3?", [V1, V3]),
    ],
)
def test_a_number_names_its_version(question, meant):
    assert meant_versions(question, FAMILY) == meant


def test_a_number_no_version_has_leaves_the_one_in_force():
    assert meant_versions("What does version 9 say?", FAMILY) == [V3]


def test_a_number_outweighs_a_year_and_past_wording():
    assert meant_versions("In 2021, what was the old rule of version 2.0?", FAMILY) == [V2]


@pytest.mark.parametrize(
    ("year", "meant"), [(2020, V3), (2021, V1), (2022, V1), (2023, V2), (2024, V2), (2025, V3)]
)
def test_a_year_means_what_was_in_force_then(year, meant):
    assert meant_versions(f"How long is leave as of {year}?", FAMILY) == [meant]


@pytest.mark.parametrize(
    "question",
    [
        "What does the previous parental leave policy say?",
        "What was the old limit?",
        "How long was leave previously?",
        "How long did leave used to be?",
        "How long was leave last year?",
        "How long was leave before the policy was revised?",
    ],
)
def test_past_wording_means_the_superseded_versions(question):
    assert meant_versions(question, FAMILY) == [V1, V2]


def test_a_comparison_with_the_past_means_old_and_new():
    family = [V1, V2, V3]
    assert meant_versions("What changed since the previous policy?", family) == family


LEAVE = [
    Held("leave-1", "1", "superseded", "2021-01-01"),
    Held("leave-3", "3", "active", "2025-01-01"),
    Held("leave-4", "4", "draft"),
]
DOCUMENT_OF = ["leave-1", "leave-3", "leave-4", "leave-3", "travel"]


def settled(question, scores, factor=0.5, documents=LEAVE):
    found = np.array(scores, dtype=float)
    Versions([*documents, Held("travel", "1", "active", family=None)], DOCUMENT_OF).settle(
        question, found, factor
    )
    return found.tolist()


def test_superseded_and_draft_fall_behind_the_best_passage_in_force():
    # Capped at 4, the best of leave-3, and halved; a score below it is halved as it is.
    assert settled("How long is leave?", [9, 4, 2, 3, 8]) == [2, 4, 1, 3, 8]


def test_a_version_asked_for_leads_the_one_in_force_and_the_draft():
    assert settled("How long is leave in version 1?", [3, 9, 9, 1, 8]) == [3, 1.5, 1.5, 0.5, 8]


def test_another_version_keeps_its_score_where_the_meant_one_has_none():
    scores = [9, 0, 2, 0, 8]
    assert settled("How long is leave?", scores) == scores


def test_a_factor_of_one_leaves_scores_alone():
    scores = [9, 4, 2, 3, 8]
    assert settled("How long is leave?", scores, factor=1) == scores


def test_a_family_of_which_every_version_is_in_force_is_left_alone():
    active = [Held(d.id, d.version, "active", d.effective_date) for d in LEAVE]
    scores = [9, 4, 2, 3, 8]
    assert settled("What does version 1 say?", scores, documents=active) == scores


def test_before_a_change_means_the_old_versions_not_a_comparison():
    assert meant_versions("How long was leave before the change?", FAMILY) == [V1, V2]


def test_a_comparison_with_the_past_leaves_drafts_out():
    assert meant_versions("What changed since the previous policy?", FAMILY) == [V1, V2, V3]


def test_where_nothing_is_superseded_the_past_is_what_is_in_force():
    assert meant_versions("What did the old policy say?", [V3, DRAFT]) == [V3]
