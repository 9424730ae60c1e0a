"""Which of several versions of a document a question means: the one in force, unless it says so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policyproof_runtime.bm25 import Floats

if TYPE_CHECKING:
    from policyproof_runtime.release import Document

_EARLIER = r"(?:old|older|previous|prior|earlier|former|superseded|original|last year['’]s)"
_TEXT = (
    r"(?:polic\w+|versions?|rules?|schedules?|standards?|procedures?|process|guid\w+|charters?|"
    r"terms|editions?|handbooks?|plans?|limits?|rates?|supplements?|requirements?|agreements?)"
)
# "the previous parental leave policy"; "what was the old limit": an old pump is no old rule.
_PAST = re.compile(
    rf"\b{_EARLIER}\s+(?:[\w-]+\s+){{0,3}}?{_TEXT}\b|\b(?:did|was|were|had)\b.*\b{_EARLIER}\b"
    r"|\b(?:previously|formerly|originally|in the past|used to (?!\w+ing\b)|last year)\b"
    r"|\bbefore (?:the|it|this|that|v\d|version) ?(?:\w+ ){0,3}(?:chang|updat|revis|replac|version)"
    r"|\bbefore (?:the )?(?:v\s?\d|version \d)",
    re.IGNORECASE,
)
_BOTH = re.compile(r"\b(?:chang|differ|compar|versus|vs\b)", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True)
class Version:
    """A version of a document: its number, status, first year, and positions of its passages."""

    number: str
    status: str
    year: str
    passages: Sequence[int]


class Versions:
    """The documents of families of which not every version is in force."""

    def __init__(self, documents: Iterable[Document], document_of: Sequence[str]) -> None:
        """``document_of`` holds the document id of every passage."""
        places: dict[str, list[int]] = {}
        for position, name in enumerate(document_of):
            places.setdefault(name, []).append(position)
        families: dict[str, list[Version]] = {}
        for d in documents:
            passages = places.get(d.id, [])
            version = Version(d.version, d.status, (d.effective_date or "")[:4], passages)
            families.setdefault(d.family or d.id, []).append(version)
        self._families = [f for f in families.values() if any(v.status != "active" for v in f)]

    def settle(self, question: str, scores: Floats, factor: float) -> None:
        """Put versions that ``question`` does not mean behind the best passage of one it does."""
        for family in self._families if factor < 1 else ():
            meant = meant_versions(question, family)
            ceiling = max((scores[v.passages].max(initial=0.0) for v in meant), default=0.0)
            for other in (v for v in family if ceiling > 0 and v not in meant):
                scores[other.passages] = scores[other.passages].clip(max=ceiling) * factor


def meant_versions(question: str, family: Sequence[Version]) -> Sequence[Version]:
    """Return the versions that ``question`` names by number or year, or by speaking of the past."""
    numbers = re.findall(r"(?i)\b(?:version |v\s?)(\d+(?:\.\d+)*)", question)
    if named := [v for v in family if v.number in numbers]:
        return named
    active = [v for v in family if v.status == "active"]
    old = [v for v in family if v.status == "superseded"]
    newest = max((v.year for v in active), default="")
    years = [y for y in _YEAR.findall(question) if y < newest]
    then = [v for v in old for y in years if v.year and v.year <= y]
    if then:
        return [max(then, key=lambda v: v.year)]
    if not _PAST.search(question):
        return active
    compared = _BOTH.search(_PAST.sub("", question))
    return [v for v in family if v.status != "draft"] if compared else old or active
