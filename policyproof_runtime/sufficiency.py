"""Does the evidence suffice to answer the question? The gate of a release and what it says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from policyproof_runtime.errors import ReleaseError
from policyproof_runtime.terms import content_terms, contract_terms, stem

OUTSIDE_CORPUS = "outside_controlled_corpus"
INCOMPLETE = "incomplete_evidence_set"

# A word in capitals inside a sentence names something: "Kansas", "GPT-5", "GOVERN".
_NAME = re.compile(r"(?<![.!?:] )(?<!^)\b[A-Z][\w-]*\w")
# A name with a number is one thing: neither "GPT" nor "5" alone is GPT-5.
_NUMBERED = re.compile(r"[\w-]*-\d[\w-]*")


class Lexicon(Protocol):
    """What the corpus knows of a term."""

    def df(self, term: str) -> int:
        """Return in how many passages the term occurs."""

    def idf(self, term: str) -> float:
        """Return the term's inverse document frequency."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a gate says of a question and its evidence.

    ``missing`` names what the evidence lacks; it is empty when the evidence suffices.
    """

    probability: float
    sufficient: bool
    reason_codes: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gate:
    """Sufficient if the evidence covers enough of the question, weighted by how rare its terms are.

    The probability is the covered share of the idf mass of the question's content terms, compared
    by their stems. A name in the question that the corpus does not know means insufficient,
    whatever the share.
    """

    threshold: float

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Gate:
        """Read the gate of a release; raises ReleaseError on a kind this version does not know."""
        if params.get("kind") != "coverage":
            raise ReleaseError(
                "the release has a gate of an unknown kind",
                expected="coverage",
                found=params.get("kind"),
                action="install the PolicyProof version that wrote the release",
            )
        return cls(threshold=float(params["threshold"]))

    def assess(self, question: str, evidence: Sequence[str], lexicon: Lexicon) -> Assessment:
        """Assess ``evidence``: the texts of passages with their titles and headings."""
        present = {stem(term) for text in evidence for term in contract_terms(text)}
        terms = content_terms(question)
        absent = [term for term in terms if stem(term) not in present]
        probability = _share(terms, absent, lexicon)
        names = _unknown_names(question, evidence, lexicon)
        sufficient = probability >= self.threshold and not names
        if sufficient:
            return Assessment(probability, sufficient, (), ())
        reason = OUTSIDE_CORPUS if names or not evidence else INCOMPLETE
        missing = tuple(names) or tuple(sorted(absent, key=lexicon.idf, reverse=True))
        return Assessment(probability, sufficient, (reason,), missing)


def _share(terms: Iterable[str], absent: Sequence[str], lexicon: Lexicon) -> float:
    total = sum(lexicon.idf(term) for term in terms)
    return 1 - sum(lexicon.idf(term) for term in absent) / total if total else 0.0


def _unknown_names(question: str, evidence: Sequence[str], lexicon: Lexicon) -> list[str]:
    """Return the names in the question that the corpus does not know, in order.

    A name is known if the evidence holds it as printed or, unless it carries a number, if each of
    its terms occurs somewhere in the corpus.
    """
    texts = [_run(text) for text in evidence]
    names = dict.fromkeys(match.group() for match in _NAME.finditer(question))
    absent = [name for name in names if not any(_run(name) in text for text in texts)]
    return [
        name
        for name in absent
        if _NUMBERED.fullmatch(name) or not all(map(lexicon.df, content_terms(name)))
    ]


def _run(text: str) -> str:
    return f" {' '.join(contract_terms(text))} "
