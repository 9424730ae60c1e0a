"""How provisions are named: "Article 26(5)", "Annex III, point 4", "section 3.2", "GOVERN 1.1"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# "Article 26 — …", "ANNEX III — …", "GOVERN 1.1: …", "1.2.3 Risk", "Appendix B: …"
_MARKER = re.compile(r"(?:([A-Za-z]+)\s+)?(\d+(?:\.\d+)*[a-z]?|[IVXLC]+|[A-Z])(?=[\s.:—–-]|$)")
_NUMBER = r"(?:\d+(?:\.\d+)*[a-z]?\b|[ivxlc]+\b|[a-z]\b)"
_ITEM = rf"{_NUMBER}(?:\s?\((?:\d+|[a-z]+)\))*"
_LIST = re.compile(rf"\.?\s*\(?({_ITEM}(?:\s*(?:,\s*and|,|and|or|to|-|–|&|/)\s*{_ITEM})*)")
_PART = re.compile(rf"({_NUMBER})((?:\s?\((?:\d+|[a-z]+)\))*)(\s*(?:to|-|–)\s*(?=\d))?")
_POINT = re.compile(r"[\s,]*(?:point|paragraph|item|§)s?\s*\(?(\d+|[a-z])\)?(?![a-z])")
# "point 4 of Annex III"; and "Annex III 5b" for point 5(b).
_POINT_OF = re.compile(r"(?:point|paragraph|item)s?\s*\(?(\d+|[a-z])\)?\s+of\s+$")
_RUN_ON = re.compile(r"\s+(\d+)\s?\(?([a-z])\)?(?!\w)")
# Numbered headings without a word of their own are called sections, whatever the document.
_SECTION = ("section", "sec", "clause", "paragraph", "part", "§")
# "Article 16 of Directive 2014/90/EU" is another document's.
_ELSEWHERE = re.compile(
    r"[\s\w(),;]{0,40}?\bof (?:Directive|Regulation|Decision|the (?:Charter|Treaty))\b"
)
_LONGEST_RANGE = 30


@dataclass(frozen=True, slots=True)
class Mention:
    """A provision named in a text, and the points of it: ("article 26", ("5",))."""

    name: str
    points: tuple[str, ...]


class Grammar:
    """How provisions are named, given the names there are."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = set(names)
        words = {name.split()[0] for name in self._names if " " in name}
        forms = {form: word for word in sorted(words) for form in _forms(word)}
        forms |= {form: "" for word in _SECTION for form in (word, f"{word}s") if form not in forms}
        self._forms = forms
        alternatives = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
        self._word = re.compile(rf"(?<!\w)({alternatives})(?=[\s.\d])")
        # Article 3 for Article III where all numbers are roman.
        romans = {word for word in words if all(map(_ROMAN.__contains__, self._numbers(word)))}
        self._alias = {f"{w} {_ROMAN[n]}": f"{w} {n}" for w in romans for n in self._numbers(w)}

    def _numbers(self, word: str) -> list[str]:
        return [name.split()[1] for name in self._names if name.startswith(f"{word} ")]

    def mentions(self, text: str) -> list[Mention]:
        """Return the provisions that ``text`` names, in order."""
        low = text.lower().replace("§", " § ")
        found: list[Mention] = []
        for match in self._word.finditer(low):
            listed = _LIST.match(low, match.end())
            if listed and not _ELSEWHERE.match(text, listed.end()):
                mentions = self._listed(self._forms[match[1]], listed[1])
                if mentions:
                    last = mentions[-1]
                    points = _points_beside(low, match.start(), listed.end())
                    mentions[-1] = Mention(last.name, (*last.points, *points))
                found += mentions
        return found

    def _listed(self, word: str, items: str) -> list[Mention]:
        found: list[Mention] = []
        begin = None
        for number, points, ranged in _PART.findall(items):
            if begin and number.isdigit():
                last = min(int(number), int(begin) + _LONGEST_RANGE)
                found += self._known(word, map(str, range(int(begin) + 1, last)), ())
            found += self._known(word, [number], tuple(re.findall(r"\w+", points)))
            begin = number if ranged and number.isdigit() else None
        return found

    def _known(self, word: str, numbers: Iterable[str], points: tuple[str, ...]) -> list[Mention]:
        names = [f"{word} {number}".strip() for number in numbers]
        if word in _SECTION:  # where some headings have the word, others may do without
            names += [name.removeprefix(f"{word} ") for name in names]
        names = [self._alias.get(name, name) for name in names]
        return [Mention(name, points) for name in names if name in self._names]


def _points_beside(text: str, start: int, end: int) -> tuple[str, ...]:
    """Return the points that ``text`` gives around a name: "point 4 of …", "…, point 4", "… 4b"."""
    for found in (
        _POINT_OF.search(text, 0, start),
        _POINT.match(text, end),
        _RUN_ON.match(text, end),
    ):
        if found:
            return found.groups()
    return ()


def _roman(number: int) -> str:
    signs = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
    for value, sign in signs:
        if number >= value:
            return sign + _roman(number - value)
    return ""


_ROMAN = {_roman(number): str(number) for number in range(1, 40)}


def _forms(word: str) -> list[str]:
    """Return how a word of a name is written: Article, Articles, Art., Arts."""
    short = [word[:3], f"{word[:3]}s"] if len(word) > 5 else []
    return [word, f"{word}s", f"{word}es", *short]


def provision_name(label: str) -> str | None:
    """Return the name a label opens with, in lower case; None if it opens with none."""
    match = _MARKER.match(label)
    if match is None or not (match[1] or match[2][0].isdigit()):
        return None
    return f"{match[1] or ''} {match[2]}".strip().lower()


def provision_numbers(
    labels: Iterable[str], paths: Iterable[Sequence[str] | None]
) -> dict[str, set[str]]:
    """Return the numbers of the corpus's provisions by the word before them."""
    found: dict[str, set[str]] = {}
    for heading in {*labels, *(heading for path in paths for heading in path or ())}:
        word, _, number = (provision_name(heading) or "").rpartition(" ")
        if word:
            found.setdefault(word, set()).add(number)
    return found
