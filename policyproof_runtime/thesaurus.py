"""Other words for the words of a question: groups of interchangeable words and phrases."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from policyproof_runtime.terms import stems

SCHEMA = pa.schema([pa.field("phrases", pa.list_(pa.string()), nullable=False)])

# "general-purpose AI (GPAI)": capitals in brackets after the words they stand for. The brackets are
# looked for first: they are rare, and words are not.
_ACRONYM = re.compile(r"\(([A-Z]{2,6})s?\)")
_WORDS_BEFORE = re.compile(r"(?:[\w’'-]+[ \n]){1,6}\Z")
_CHARACTERS_BEFORE = 400

Phrase = tuple[str, ...]


def freeze_thesaurus(groups: Iterable[Sequence[str]], texts: Iterable[str] = ()) -> pa.Table:
    """Return the groups, and the acronyms that ``texts`` introduce, as stems (SCHEMA)."""
    learned = sorted({pair for text in texts for pair in acronyms(text)})
    phrases = [[" ".join(stems(phrase)) for phrase in group] for group in [*groups, *learned]]
    rows = [[p for p in dict.fromkeys(group) if p] for group in phrases]
    return pa.table([[row for row in rows if len(row) > 1]], SCHEMA)


def acronyms(text: str) -> list[tuple[str, str]]:
    """Return (acronym, words) as ``text`` introduces them, where the initials agree."""
    found = []
    for match in _ACRONYM.finditer(text):
        acronym, start = match[1], match.start()
        words = _WORDS_BEFORE.search(text, max(0, start - _CHARACTERS_BEFORE), start)
        parts = re.split(r"[\s-]+", words[0].strip())[-len(acronym) :] if words else []
        if "".join(part[:1] for part in parts).upper() == acronym:
            found.append((acronym, " ".join(parts)))
    return found


class Thesaurus:
    """Groups of stems, ready to widen a question."""

    def __init__(self, table: pa.Table) -> None:
        self._groups = [[tuple(p.split()) for p in row] for row in table["phrases"].to_pylist()]
        self._opening: dict[str, list[tuple[Phrase, int]]] = {}
        for number, group in enumerate(self._groups):
            for phrase in group:
                self._opening.setdefault(phrase[0], []).append((phrase, number))

    def widen(self, terms: Sequence[str], weight: float) -> dict[str, float]:
        """Return the weight of each stem of a question and of the other words for them.

        A stem of the question weighs 1, one of another word for it ``weight``, shared by the words
        of a phrase.
        """
        weights = dict.fromkeys(terms, 1.0)
        for number in sorted({number for _, number in self._met(terms)}):
            for phrase in self._groups[number]:
                for term in phrase:
                    share = weight / math.sqrt(len(phrase))
                    weights[term] = max(weights.get(term, 0.0), share)
        return weights

    def others(self, terms: Sequence[str]) -> dict[str, list[Phrase]]:
        """Return for each stem of a question what may be said instead of it."""
        found: dict[str, list[Phrase]] = {}
        for met, number in self._met(terms):
            for term in met:
                found.setdefault(term, []).extend(p for p in self._groups[number] if p != met)
        return found

    def _met(self, terms: Sequence[str]) -> Iterator[tuple[Phrase, int]]:
        for i, term in enumerate(terms):
            for phrase, number in self._opening.get(term, ()):
                if tuple(terms[i : i + len(phrase)]) == phrase:
                    yield phrase, number
