"""What a question asks for: its separable parts, and what kind of answer each one wants."""

from __future__ import annotations

import re
from itertools import takewhile

from policyproof_runtime.terms import STOP_WORDS, content_terms, stem

_SENTENCE = re.compile(r"(?<=[.?!])\s+")
# A sentence that asks; the others tell the situation the question is about.
_ASKING = re.compile(
    r"\?|\b(?:asks|wants to know)\b"
    r"|^(?:please )?(?:list|give|compare|name|explain|describe|tell|state|show|map|classify)\b",
    re.IGNORECASE,
)
_ASKED_WITH = (
    "what|which|who|whom|whose|when|where|why|how|is|are|was|were|does|do|did|can|could|must|may|"
    "will|would|should|by|in|for|to|within|on|under|at"
)
_JOINT = re.compile(
    rf"[,;:]?\s+(?:and|but|or)\s+(?=(?:{_ASKED_WITH})\b)"
    r"|;\s+"
    r"|,\s+(?=(?:what|which|who|whom|when|where|why|how|must|does|do|is|are|by|within)\b)"
    r"|\s*\(\d\)\s+",
    re.IGNORECASE,
)
# A figure with what it counts. Order matters: a duration is also a number.
_NUMERAL = (
    r"(?:\d[\d.,\u00a0]*|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|thirty|"
    r"half|a|each|both)"
)
_UNITS = r"(?:milli)?(?:second|minute|hour|day|week|month|year)s?"
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"


def _kind(name: str, asked: str, answer: str) -> tuple[str, re.Pattern[str], re.Pattern[str]]:
    return name, re.compile(asked, re.IGNORECASE), re.compile(answer, re.IGNORECASE)


# Kind, how it is asked for, what it looks like.
KINDS = (
    _kind(
        "percentage",
        r"\b(?:percent(?:age)?|per cent|error rate|positive rate|what (?:rate|share|accuracy))\b",
        r"\d\s?%|\bper ?cent|percentage|\b0\.\d",
    ),
    _kind(
        "duration",
        r"\bhow (?:long|soon|quickly|fast|often|much (?:time|longer|notice|leave))\b|\bdeadlines?\b"
        rf"|\b(?:how many|what) \w* ?(?:{_UNITS}|period|term)\b",
        rf"\b{_NUMERAL}[ -](?:\w+ )?{_UNITS}\b"
        r"|\b(?:period|immediately|without (?:undue )?delay|annual|lifetime)\b"
        rf"|\b{_UNITS}\b[^|]*\|.*\d",
    ),
    _kind(
        "sum of money",
        r"\b(?:what|which|how (?:high|much)) [^?]{0,50}"
        r"\b(?:fee|price|fines?|euro|paid|costs?|ceiling|amount|allowance|stipend|salary|budget|bonus)\b"
        r"|\bhow much money\b|\bwhat (?:do|can|may|will) (?:I|we) (?:get|pay|spend|claim)\b",
        r"\b(?:EUR|USD|GBP|CHF)\b|[$€£]\s?\d",
    ),
    _kind(
        "date",
        r"\b(?:on|by|from|until|in) (?:which|what) (?:date|day|month|year)\b",
        rf"\b(?:{_MONTHS}|(?:19|20)\d\d)\b",
    ),
    _kind(
        "time",
        r"\b(?:by|until|since|from) when\b|\bwhat time\b"
        r"|\bwhen (?:do|does|did|will|must|is) [^?]{0,40}"
        r"\b(?:expire|end|start|begin|close|open|due)\b",
        rf"\b{_NUMERAL}[ -](?:\w+ )?{_UNITS}\b|\b(?:{_MONTHS}|(?:19|20)\d\d)\b"
        r"|\d[:.]\d\d|\d ?[ap]\.?m\b",
    ),
    _kind("number", r"\bwhat number\b|\bnumeric\b|\bscore\b|\bhow big\b", r"\d"),
)
_COUNTED = re.compile(r"\bhow many ((?:[\w-]+\s?){1,4})", re.IGNORECASE)


def asked_parts(question: str) -> tuple[str, ...]:
    """Return the clauses of ``question`` that ask for something, in order; at least one.

    "Who must register, and by when?" asks for two things. Sentences that only tell a situation are
    left out; a clause without a content word belongs to the one before it.
    """
    sentences = [s for s in _SENTENCE.split(question.strip()) if s]
    asking = [s for s in sentences if _ASKING.search(s)] or sentences
    parts: list[str] = []
    for sentence in asking:
        for clause in filter(None, map(str.strip, _JOINT.split(sentence))):
            if parts and not content_terms(clause):
                parts[-1] = f"{parts[-1]} {clause}"
            else:
                parts.append(clause)
    return tuple(parts) or (question,)


def wanted_figure(part: str) -> tuple[str, re.Pattern[str]] | None:
    """Return the kind of figure that ``part`` asks for and what such a figure looks like."""
    if counted := _COUNTED.search(part):
        # A number of something stands just before its name: "100 external red teamers".
        named = takewhile(lambda word: word not in STOP_WORDS, counted[1].lower().split())
        stems = [stem(term)[:6] for term in content_terms(" ".join(named))] or ["\\d"]
        found = re.compile(
            rf"\b{_NUMERAL}[ -](?:[\w-]+ ){{0,3}}(?:{'|'.join(stems)})"
            rf"|\b(?:{'|'.join(stems)})[^|]*\|.*\d",  # the head of a column
            re.IGNORECASE,
        )
        return "number", found
    return next(((name, answer) for name, asked, answer in KINDS if asked.search(part)), None)
