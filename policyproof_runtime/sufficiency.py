"""Does the evidence suffice to answer the question? The gate of a release and what it says.

Two logistic regressions over the readable features of `policyproof_runtime.features`, frozen as
numbers: *scope*, whether this corpus can settle the question, and *coverage*, whether this evidence
covers what is asked, of which the probability of scope is a feature. Where the corpus has a finding
aid and a dense model, one feature of scope is *likeness*: how much the question is like those that
had to be declined, each kind of them apart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from policyproof_runtime.errors import ReleaseError
from policyproof_runtime.features import COVERAGE, CUE_CODES, FIGURES_IN, SCOPE, Cues, Reader
from policyproof_runtime.terms import content_terms

OUTSIDE_CORPUS = "outside_controlled_corpus"
INCOMPLETE = "incomplete_evidence_set"
KIND = "scope-and-coverage"
#: The feature of scope that likeness gives, and the kind of question that can be answered.
LIKE_DECLINED = "like_declined"
ANSWER = "answer"
#: The feature of coverage that scope gives.
WITHIN_REACH = "within_reach"

# What each kind of question lacks, said to a person.
_MISSING = {
    "current_information_required": "information newer than the documents",
    "organization_specific_conclusion": "the facts of your own case and an assessment of them",
    "legal_advice_boundary": "advice from a qualified lawyer who knows the case",
    "high_stakes_recommendation": "the judgement of the person responsible for the decision",
    "unsupported_comparison": "the other side of the comparison",
    OUTSIDE_CORPUS: "a source outside this corpus",
}


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a gate says of a question and its evidence.

    ``scope`` is the probability that the corpus can settle the question, ``probability`` that this
    evidence does. ``missing`` names what is lacking; it is empty when the evidence suffices.
    """

    probability: float
    scope: float
    sufficient: bool
    reason_codes: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Logistic:
    """p = 1 / (1 + exp(−(intercept + Σ weight · feature)))."""

    intercept: float
    weights: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """Return the probability for ``features``; each must be there by name."""
        terms = (self.weights[name] * features[name] for name in sorted(self.weights))
        return 1 / (1 + math.exp(-(self.intercept + math.fsum(terms))))

    @classmethod
    def of(cls, params: Mapping[str, Any], names: Sequence[str]) -> Logistic:
        """Read frozen numbers; raises ReleaseError unless they speak of exactly ``names``."""
        weights = {str(k): float(v) for k, v in params["weights"].items()}
        if set(weights) != set(names):
            raise ReleaseError(
                "the gate of the release weighs other features than this version computes",
                expected=sorted(names),
                found=sorted(weights),
                action="install the PolicyProof version that wrote the release",
            )
        return cls(float(params["intercept"]), weights)


@dataclass(frozen=True, slots=True)
class Reach:
    """Whether a corpus can settle a question: features of scope, likeness by reason code."""

    probability: float
    features: Mapping[str, float]
    kinds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Likeness:
    """Multinomial regression over `policyproof_runtime.meaning.Meaning.kin`.

    ``kinds`` are ANSWER and reason codes; ``weights`` has the shape (kinds, 2 · dimensions).
    """

    kinds: tuple[str, ...]
    intercepts: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64]

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Likeness:
        """Read frozen numbers."""
        numbers = (np.array(params[name], np.float64) for name in ("intercepts", "weights"))
        return cls(tuple(params["kinds"]), *numbers)

    def shares(self, kin: npt.NDArray[np.float64]) -> dict[str, float]:
        """Return the probability of each kind."""
        raised = self.intercepts + self.weights @ kin
        shares = np.exp(raised - raised.max())
        return dict(zip(self.kinds, (shares / shares.sum()).tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Gate:
    """The frozen gate: its regressions and their thresholds.

    Given evidence is sufficient from ``threshold`` on; a question is within reach of the corpus
    from ``scope_threshold`` on. ``label_status`` says what the training labels rest on.
    """

    scope: Logistic
    coverage: Logistic
    threshold: float
    scope_threshold: float
    label_status: str
    cues: Cues = field(repr=False)
    likeness: Likeness | None = field(repr=False, default=None)

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Gate:
        """Read the gate of a release; raises ReleaseError on a kind this version does not know."""
        if params.get("kind") != KIND:
            raise ReleaseError(
                "the release has a gate of an unknown kind",
                expected=KIND,
                found=params.get("kind"),
                action="install the PolicyProof version that wrote the release",
            )
        likeness = params.get("likeness")
        return cls(
            scope=Logistic.of(params["scope"], (*SCOPE, *([LIKE_DECLINED] if likeness else ()))),
            coverage=Logistic.of(params["coverage"], (*COVERAGE, WITHIN_REACH)),
            threshold=float(params["threshold"]),
            scope_threshold=float(params["scope_threshold"]),
            label_status=str(params["label_status"]),
            cues=compiled_cues(params["cues"]),
            likeness=Likeness.of(likeness) if likeness else None,
        )

    def reach(self, reader: Reader, question: str) -> Reach:
        """Return whether the corpus of ``reader`` can settle ``question``.

        What `Reader.may_settle` rules out is at 0.

        Raises ReleaseError if the gate compares meaning and the release has no dense model.
        """
        features, kinds = reader.scope(question), {}
        if self.likeness is not None:
            if reader.meaning is None:
                raise ReleaseError(
                    "the gate compares meaning, and the release has no finding aid with vectors"
                )
            kinds = self.likeness.shares(reader.meaning.kin(question))
            features[LIKE_DECLINED] = 1 - kinds.pop(ANSWER)
        settled = self.scope.probability(features) if reader.may_settle(question) else 0.0
        return Reach(settled, features, kinds)

    def assess(self, reader: Reader, question: str, evidence: Sequence[int]) -> Assessment:
        """Assess ``evidence``, positions of passages, for ``question``."""
        reach = self.reach(reader, question)
        scope = reach.probability
        features = {WITHIN_REACH: scope, **reader.coverage(question, evidence)}
        probability = self.coverage.probability(features)
        if probability >= self.threshold and evidence:
            return Assessment(probability, scope, sufficient=True, reason_codes=(), missing=())
        if scope < self.scope_threshold:
            codes, missing = out_of_scope(reader, question, reach)
        else:
            codes, missing = (INCOMPLETE,), uncovered_parts(reader, question, evidence)
        return Assessment(probability, scope, False, codes, missing)  # noqa: FBT003 read with the fields


def compiled_cues(patterns: Mapping[str, Sequence[str]]) -> Cues:
    """Return the cue lists of a gate as compiled patterns, by reason code."""
    return {
        code: [re.compile(pattern, re.IGNORECASE) for pattern in patterns.get(code, ())]
        for code in CUE_CODES
    }


def out_of_scope(
    reader: Reader, question: str, reach: Reach
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return why the corpus cannot settle ``question``: reason codes, and what is missing."""
    if not content_terms(question):
        return (OUTSIDE_CORPUS,), ("a question that says what it is about",)
    codes = [code for code in CUE_CODES if reach.features[code]]
    named = [
        *reader.unknown_provisions(question),
        *reader.other_sources(question),
        *reader.unknown_names(question),
    ]
    missing = [name for name in named if not any(name != n and name in n for n in named)]
    if named and OUTSIDE_CORPUS not in codes:
        codes.append(OUTSIDE_CORPUS)
    if reach.features["figure_gap"]:
        codes.append(INCOMPLETE)
        found = reader.top(reader.scores(question), FIGURES_IN)
        gaps = reader.figure_gaps(question, found)
        missing += [f"a {kind}: {part}" for part, (kind, _) in gaps.items()]
    if not codes:
        codes = [max(sorted(reach.kinds), key=reach.kinds.__getitem__, default=OUTSIDE_CORPUS)]
        unknown = ", ".join(reader.unknown_terms(question))
        missing = [f"a passage on {unknown}" if unknown else f"a passage that answers: {question}"]
    missing = [*(_MISSING[code] for code in codes if code in _MISSING and not named), *missing]
    return tuple(codes), tuple(dict.fromkeys(missing))


def uncovered_parts(reader: Reader, question: str, evidence: Sequence[int]) -> tuple[str, ...]:
    """Return the parts of ``question`` that other passages answer better than ``evidence``."""
    parts = reader.parts(question)
    lagging = [p.text for p in parts if not evidence or p.scores[list(evidence)].max() < 1]
    return tuple(dict.fromkeys(lagging)) or (question,)
