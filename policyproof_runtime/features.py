"""Readable features of a question and its evidence, the same in training and in serving.

``SCOPE`` says whether the corpus can settle the question, ``COVERAGE`` whether the given evidence
covers each part of it. Every value lies between 0 and 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from policyproof_runtime.bm25 import Bm25
from policyproof_runtime.parts import asked_parts, wanted_figure
from policyproof_runtime.passages import Passages
from policyproof_runtime.provisions import provision_numbers
from policyproof_runtime.references import References, issuers
from policyproof_runtime.sentences import ROW
from policyproof_runtime.terms import STOP_WORDS, content_terms, contract_terms, stem, stems
from policyproof_runtime.thesaurus import Thesaurus

if TYPE_CHECKING:
    from policyproof_runtime.meaning import Meaning

Floats = npt.NDArray[np.float64]
#: Ranks: (question, k) to at most k (position, score), best first.
Ranked = Callable[[str, int], list[tuple[int, float]]]
#: Reason code -> compiled cues.
Cues = Mapping[str, Sequence[re.Pattern[str]]]

CUE_CODES = (
    "current_information_required",
    "organization_specific_conclusion",
    "legal_advice_boundary",
    "high_stakes_recommendation",
    "unsupported_comparison",
    "outside_controlled_corpus",
)
SCOPE = (
    *CUE_CODES,
    "other_sources",  # laws, standards and versions of products that no passage speaks of
    "unknown_names",  # names that no passage holds, and none that the corpus has
    "unknown_names_beside",  # such names beside the name of a document of the corpus
    "unknown_provisions",  # provisions asked for that the corpus does not have
    "unknown_terms",  # share of the question's weight in terms that the corpus does not hold
    "unsaid",  # share that no sentence of the best five passages says, in these words or others
    "weak_match",  # the best BM25 score is below that of two words of one passage only
    "figure_gap",  # a figure is asked for and no well matching sentence has one of its kind
    "names_corpus",  # the question names a document or a provision of the corpus
)
COVERAGE = (
    "best_for_question",  # 1 / rank of the best evidence among all passages, for the question
    "score_for_question",  # its score as a share of the best score
    "better_elsewhere",  # the best score of a passage that is not among the evidence
    "worst_part_score",  # the best score of the evidence for the part that is covered worst
    "figure_gap_here",  # a part asks for a figure that the evidence does not have
)
#: What may only speak against an answer; every other feature may only speak for one.
AGAINST = frozenset(SCOPE) - {"names_corpus"} | {"better_elsewhere", "figure_gap_here"}
DEPTH = 100
#: A figure that is asked for is looked for in this many of the best passages.
FIGURES_IN = 10
# A name in this many passages or fewer is mentioned in passing: the corpus does not treat it.
RARE = 2
# A part is ranked by its own words and by those of the whole question, which say what "it" is.
QUESTION_SHARE = 0.5

# Share of a part's weight that a sentence may lack and still speak of the same thing.
PARAPHRASE = 0.5
# What another word for a term counts, in terms.
INSTEAD = 0.7

# A word in capitals inside a sentence names something: "Kansas", "GPT-5", "GOVERN".
# Words of letters and digits ("o1") and acronyms are names wherever they stand.
_NAME = re.compile(
    r"(?<![.!?:] )(?<!^)\b[A-Z][\w-]*\w|\b[A-Z]{2,}[\w-]*"
    r"|\b(?=\w*[A-Za-z])(?=\w*\d)[\w-]+(?:\.\d[\w-]*)*"
)
# What follows in brackets is explained by the words before it: "quality management system (QMS)".
_BRACKETS = re.compile(r"\([^)]*\)")
# Another source that could hold the answer: a law or a standard, or a product with its version.
_SOURCE = re.compile(
    r"\b(?:[A-Z][\w'’-]*\s+(?:(?:on|of|for|and|the)\s+)*)+"
    r"(?:Act|Bill|Law|Directive|Regulation|Convention|Treaty|Order|Framework|Code|Measures|Statute)\b"
    r"|\b[A-Z][\w/-]*\w (?:\d[\d.:-]*\b)(?! (?:of|[A-Z][a-z]+)\b)"
    r"|\b(?=[\w.-]*[A-Za-z])(?=[\w.-]*\d)[\w-]+(?:\.\d[\w-]*)*"
)
# A version of a document of the corpus, as far as a question can tell.
_VERSION = re.compile(r"[Vv]\d+(?:\.\d+)*")
_PROVISION = re.compile(r"\b([A-Za-z]{3,})s?\s+(\d+(?:\.\d+)*|[IVXLC]+)\b")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a question: its words, the passages it may be answered from, how well each does."""

    text: str
    scores: Floats


class Reader:
    """Reads questions against one corpus; features are plain numbers by name."""

    def __init__(
        self,
        passages: Passages,
        rank: Ranked,
        lexicon: Bm25,
        references: References,
        thesaurus: Thesaurus,
        cues: Cues,
        publishers: Mapping[str, str],
        meaning: Meaning | None = None,
    ) -> None:
        """Keep what features are read from; ``publishers`` maps a document id to who issued it."""
        self.meaning = meaning
        self._publishers = publishers
        self._issuer = issuers(publishers.values())
        self.passages = passages
        self.lexicon = lexicon
        self.references = references
        self._thesaurus = thesaurus
        self._rank = rank
        self._cues = cues
        self._frequency = _stem_frequencies(lexicon)
        self._rarest = _idf(1, lexicon.count)
        self._provisions = provision_numbers(passages.column("label"), passages.column("path"))
        self.scores: Callable[[str], Floats] = lru_cache(maxsize=512)(self._scores)
        self.held: Callable[[int], frozenset[str]] = lru_cache(maxsize=4096)(self._held)

    def _scores(self, text: str) -> Floats:
        """Return the score of every passage for ``text``, the best one being 1."""
        scores = np.zeros(len(self.passages))
        for position, score in self._rank(text, DEPTH):
            scores[position] = score
        return scores / (scores.max() or 1.0)

    def standing(self, text: str) -> Floats:
        """Return how well every passage answers ``text``, the best at 1: by rank and by meaning."""
        scores = self.scores(text)
        if self.meaning is not None:
            scores = scores + self.meaning.closeness(text)
        result: Floats = scores / (scores.max() or 1.0)
        return result

    def _weak_match(self, question: str) -> float:
        """Return how far the best passage is from a good BM25 score, 0 to 1.

        Good is the weight of two of the rarest terms; less for a question whose terms weigh less,
        because a short one in the corpus's own words can score no higher.
        """
        terms = dict.fromkeys(content_terms(question))
        within = self.scores(question) > 0
        best = float(self.lexicon.scores(terms)[within].max(initial=0.0))
        good = min(2 * self._rarest, sum(map(self.lexicon.idf, terms)))
        return max(0.0, 1 - best / good) if good else 1.0

    def _held(self, position: int) -> frozenset[str]:
        return _stems(self.text(position))

    def text(self, position: int) -> str:
        """Return what a reader has before them: title, headings and text of a passage."""
        return f"{self.passages.context(position)}\n{self.passages.retrieval_text(position)}"

    def weights(self, text: str) -> dict[str, float]:
        """Return the content stems of ``text`` and the weight of each: its idf."""
        count = self.lexicon.count
        stems = dict.fromkeys(stem(t) for t in content_terms(text))
        return {s: _idf(self._frequency.get(s, 0), count) for s in stems}

    def top(self, scores: Floats, k: int) -> list[int]:
        """Return the ``k`` best positions with a positive score, ties in accepted order."""
        order = np.argsort(-scores, kind="stable")[:k]
        return [int(i) for i in order if scores[i] > 0]

    def parts(self, question: str) -> list[Part]:
        """Return the parts of ``question``, each with its scores.

        In a question that names several sources, a part is asked of each source it names.
        """
        whole = self.standing(question)
        several = len(self.named_sources(question)) > 1
        parts = []
        for text in asked_parts(question):
            mixed = QUESTION_SHARE * whole + self.standing(text)
            sources = self.named_sources(text) if several else ()
            for held in sources or [list(range(len(mixed)))]:
                inside = np.zeros_like(mixed)
                inside[list(held)] = mixed[list(held)]
                parts.append(Part(text, inside / (inside.max() or 1.0)))
        return parts

    def named_sources(self, text: str) -> list[list[int]]:
        """Return the passages of each publisher of whom ``text`` names a document.

        Documents of one publisher count as one source: a name such as NIST means any of them.
        """
        found: dict[str, list[int]] = {}
        for document, held in self.references.named(text).documents.items():
            found.setdefault(self._publishers.get(document, document), []).extend(held)
        return [found[name] for name in sorted(found)]

    def unknown_names(self, question: str) -> list[str]:
        """Return the names that ``question`` asks about and the corpus does not treat, in order."""
        asked = " ".join(asked_parts(question))
        names = dict.fromkeys(m.group() for m in _NAME.finditer(_BRACKETS.sub("", asked)))
        explained = " ".join(_BRACKETS.findall(question))
        rare = [name for name in names if name not in explained and self._is_rare(name)]
        # What a row of a table is about is not mentioned in passing.
        best = self.top(self.scores(question), 5) if rare else ()
        rows = [h for i in best for said, h in self.passages.said(i) if ROW.search(said)]
        return [n for n in rare if not any(row.issuperset(stems(n)) for row in rows)]

    def _is_rare(self, name: str) -> bool:
        terms = [t for t in contract_terms(name) if t not in STOP_WORDS and not t.isdigit()]
        return any(self._frequency.get(stem(t), 0) <= RARE for t in terms)

    def may_settle(self, question: str) -> bool:
        """Return whether ``question`` has a content word, and is not of another source's provision.

        One that names a document of this corpus too may compare the two.
        """
        foreign = self.references.foreign(question)
        return bool(content_terms(question)) and not (
            foreign and not self.references.named(question).documents
        )

    def other_sources(self, question: str) -> list[str]:
        """Return the laws, standards and versions it asks about that no passage names, in order."""
        asked = " ".join(asked_parts(question))
        names = dict.fromkeys(m.group().strip() for m in _SOURCE.finditer(asked))
        named = [name for name in names if self._is_elsewhere(name)]
        return [*dict.fromkeys([*self.references.foreign(asked), *named])]

    def _is_elsewhere(self, name: str) -> bool:
        if _VERSION.fullmatch(name):
            return False
        word, _, _ = name.lower().rpartition(" ")
        named = self.references.named(name)
        if word in self._provisions or named.documents or named.provisions:
            return False
        terms = [t for t in contract_terms(name) if t not in STOP_WORDS]
        return bool(terms) and not self._occurs(terms)

    def _occurs(self, terms: Sequence[str]) -> bool:
        if not all(map(self.lexicon.df, terms)):
            return False
        run = f" {' '.join(terms)} "
        found = self.top(self.lexicon.scores(terms), 10)
        return any(run in f" {' '.join(contract_terms(self.text(i)))} " for i in found)

    def unknown_provisions(self, question: str) -> list[str]:
        """Return the provisions that ``question`` names as the corpus does but that it lacks."""
        found = []
        for match in _PROVISION.finditer(question):
            word, number = match[1].lower(), match[2].lower()
            words = self._provisions.get(word) or self._provisions.get(word.removesuffix("s"))
            if words and number not in words:
                found.append(match[0])
        return found

    def cues(self, question: str) -> dict[str, float]:
        """Return 1 for each reason code of which ``question`` has a cue, else 0."""
        return {
            code: float(any(cue.search(question) for cue in self._cues.get(code, ())))
            for code in CUE_CODES
        }

    def unknown_terms(self, question: str) -> list[str]:
        """Return the terms of ``question`` that the corpus does not hold, in order."""
        terms = dict.fromkeys(content_terms(question))
        return [term for term in terms if stem(term) not in self._frequency]

    def scope(self, question: str) -> dict[str, float]:
        """Return the features of SCOPE."""
        asked = " ".join(asked_parts(question))
        weights = self.weights(asked)
        best = self.top(self.scores(question), 5)
        named = self.references.named(question)
        names = self.unknown_names(question)
        unknown = {s: w for s, w in weights.items() if s not in self._frequency}
        others = self.other_sources(question)
        cues = self.cues(asked)
        if len(self.named_sources(question)) > 1 and not others:
            cues["unsupported_comparison"] = 0.0  # both sides are here
        return cues | {
            "other_sources": float(bool(others)),
            "unknown_names": 0.0 if named.documents else min(len(names), 2) / 2,
            "unknown_names_beside": min(len(names), 2) / 2 if named.documents else 0.0,
            "unknown_provisions": float(bool(self.unknown_provisions(question))),
            "unknown_terms": _share(weights, unknown),
            "unsaid": self._unsaid(asked, best),
            "weak_match": self._weak_match(question),
            "figure_gap": self.figure_gap(question, self.top(self.scores(question), FIGURES_IN)),
            "names_corpus": float(
                bool(named.documents or (named.provisions and not names))
                or self._issuer.search(question) is not None
            ),
        }

    def _unsaid(self, asked: str, evidence: Sequence[int]) -> float:
        weights, others = self.weights(asked), self._thesaurus.others(stems(asked))

        def said(term: str, held: frozenset[str]) -> float:
            instead = any(held.issuperset(phrase) for phrase in others.get(term, ()))
            return 1.0 if term in held else INSTEAD * instead

        shares = (
            sum(weight * said(term, held) for term, weight in weights.items())
            for i in evidence
            for _, held in self.passages.said(i)
        )
        return 1 - max(shares, default=0.0) / (sum(weights.values()) or 1.0)

    def figure_gaps(self, question: str, evidence: Sequence[int]) -> dict[str, tuple[str, float]]:
        """Return the kind of figure that a part of ``question`` asks for, and how far it is.

        A part that asks for a figure is as far as the nearest sentence that has one of its kind:
        by the share of the part's weight that the sentence lacks, beyond what paraphrase explains;
        0 to 1. Parts that ask for none, or are not far, are left out.
        """
        gaps = {}
        for part in asked_parts(question):
            if figure := wanted_figure(part):
                gap = (self._nearest(part, figure[1], evidence) - PARAPHRASE) / (1 - PARAPHRASE)
                gaps[part] = (figure[0], gap)
        return {part: far for part, far in gaps.items() if far[1] > 0}

    def figure_gap(self, question: str, evidence: Sequence[int]) -> float:
        """Return the mean of `figure_gaps` over all parts of ``question``."""
        gaps = self.figure_gaps(question, evidence).values()
        return sum(gap for _, gap in gaps) / len(asked_parts(question))

    def _nearest(self, part: str, figure: re.Pattern[str], evidence: Sequence[int]) -> float:
        weights = self.weights(part)
        said = (
            held
            for i in evidence
            for sentence, held in self.passages.said(i)
            if figure.search(sentence)
        )
        return min((_lacking(weights, held) for held in said), default=1.0)

    def coverage(self, question: str, evidence: Sequence[int]) -> dict[str, float]:
        """Return the features of COVERAGE for ``evidence``, positions of passages."""
        whole, given = self.standing(question), list(evidence)
        if not given:
            return dict.fromkeys(COVERAGE, 0.0) | {"better_elsewhere": 1.0}
        return {
            "best_for_question": _reciprocal(whole, given),
            "score_for_question": float(whole[given].max()),
            "better_elsewhere": float(np.delete(whole, given).max(initial=0.0)),
            "worst_part_score": min(float(p.scores[given].max()) for p in self.parts(question)),
            "figure_gap_here": self.figure_gap(question, given),
        }


def _idf(df: int, count: int) -> float:
    return float(np.log(1 + (count - df + 0.5) / (df + 0.5)))


def _share(weights: Mapping[str, float], chosen: Mapping[str, float]) -> float:
    total = sum(weights.values())
    return sum(chosen.values()) / total if total else 1.0


def _lacking(weights: Mapping[str, float], held: frozenset[str]) -> float:
    return _share(weights, {s: w for s, w in weights.items() if s not in held})


def _reciprocal(scores: Floats, evidence: Sequence[int]) -> float:
    """Return 1 / rank of the best of ``evidence``; 0 if none of it has a score."""
    best = scores[list(evidence)].max()
    return float(1 / (1 + (scores > best).sum())) if best > 0 else 0.0


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, contract_terms(text)))


def _stem_frequencies(lexicon: Bm25) -> dict[str, int]:
    found: dict[str, int] = {}
    for term in lexicon.terms():
        found[stem(term)] = max(found.get(stem(term), 0), lexicon.df(term))
    return found
