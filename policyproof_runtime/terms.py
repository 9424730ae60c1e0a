"""Terms of a text: under the accepted BM25 contract, and the content words of a question."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import Stemmer  # type: ignore[import-not-found]

_TERM = re.compile(r"[a-z0-9]+")
# Function words and the words questions are asked with; none of them names a subject.
_STOP_WORDS = """
a able about according actually after all also am an and any anybody anyone anything anyway are as
at be became because become been before being between big bigger biggest both but by can come comes
could describe described describes did discussed do does doing done during each either ever
everybody everyone exactly explain for from get gets getting give given go goes got had happen
happened happens has have having he her his how i if in into is isn it its just know knows let lets
list listed long longer made make many may me mean meant mention mentioned might more most much must
my need needs no nor not of off often on one only or other our out over own please really s said
same say says shall she should since so some somebody someone something soon still such t take taken
takes tell tells than that the their them then there these they thing things this those through to
told too took under until up upon us use used using very want wants was we were what whatever when
where whether which while who whom whose why will with within without would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def contract_terms(text: str) -> list[str]:
    """Return the terms of ``text`` in reading order: NFKC, lower case, runs of ``[a-z0-9]``."""
    return _TERM.findall(unicodedata.normalize("NFKC", text).lower())


def content_terms(text: str) -> list[str]:
    """Return the distinct terms of ``text`` that are no stop words, in first-seen order."""
    return [term for term in dict.fromkeys(contract_terms(text)) if term not in STOP_WORDS]


def stems(text: str) -> list[str]:
    """Return the stems of the terms of ``text`` that are no stop words, in reading order."""
    return [stem(term) for term in contract_terms(text) if term not in STOP_WORDS]


@lru_cache(maxsize=65_536)
def stem(term: str) -> str:
    """Return the Snowball (Porter 2) English stem of ``term``."""
    stemmed: str = _stemmer().stemWord(term)
    return stemmed


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")
