"""Where a text may be cut between two lines without breaking a sentence, an item or an entry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

from pydantic import BaseModel, ConfigDict

from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.reviews import Rows

TERMINAL = "after_strong_terminal"
STRUCTURED = "before_structured_start"
ENTRY = "before_reference_entry"

_TERMINAL = re.compile(r"[.!?][\"'”’)\]]*$")
_ADDRESS = re.compile(r"(?:https?://|www\.)")
# `J. Smith` at the start of a line continues a list of authors.
_INITIAL = re.compile(r"[A-Z]\.\s")


class BoundaryRules(BaseModel):
    """Patterns that match the start of the stripped line after a cut: an item, a footnote."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    structured: re.Pattern[str] = re.compile(
        r"(?:\[\d+\]|\((?:\d{1,4}|[A-Za-z]{1,4})\)|\d+(?:\.\d+)*[.)]?|[A-Za-z][.)]|[•‣▪◦*–—-])"
        r"(?:\s|$)"
    )
    footnote: re.Pattern[str] | None = None

    def between(self, before: str, after: str) -> str | None:
        """Return the kind of the boundary between two stripped lines, or None if it is not safe."""
        if self.footnote is not None and self.footnote.match(after):
            return None
        goes_on = after[:1].islower() or _ADDRESS.match(after)
        if _TERMINAL.search(before) and not goes_on:
            return TERMINAL
        if before.endswith(":") or _INITIAL.match(after):
            return None
        return STRUCTURED if self.structured.match(after) else None


class ReferenceRules(BaseModel):
    """The reference list below ``heading``: an entry opens with a line that has ``start``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    heading: re.Pattern[str]
    start: re.Pattern[str]


def entry_ordinals(
    texts: Sequence[str], label: str, rules: Iterable[ReferenceRules]
) -> list[int | None]:
    """Return for every line the ordinal, from 1, of its entry; None below all other headings."""
    for rule in rules:
        if rule.heading.search(label):
            starts = (rule.start.search(text.strip()) is not None for text in texts[1:])
            return list(accumulate(starts, initial=1))
    return [None] * len(texts)


def safe_boundaries(
    lines: Lines,
    positions: Sequence[int],
    ordinals: Sequence[int | None],
    rules: BoundaryRules,
    rows: Rows,
) -> list[str | None]:
    """Return, for every line of a logical source but its last, the kind of cut allowed after it.

    ``positions`` are the source's lines and ``ordinals`` the entries of a reference list, which is
    cut between complete entries only. Of ``rows`` those of kind ``reject_boundary`` are taken,
    where the rules alone would allow a cut.
    """
    if ordinals[0] is not None:
        return [ENTRY if before != after else None for before, after in pairwise(ordinals)]
    found: list[str | None] = []
    for before, after in pairwise(positions):
        kind = rules.between(lines.text[before].strip(), lines.text[after].strip())
        if kind and rows.take("reject_boundary", *lines.coordinate(before)):
            kind = None
        found.append(kind)
    return found
