"""Where a text may be cut between two lines without breaking a sentence or an item."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.references import ReferenceRules, entry_starts
from policyproof_assets.corpus.reviews import Rows

TERMINAL = "after_strong_terminal"
STRUCTURED = "before_structured_start"
ENTRY = "before_reference_entry"


class BoundaryRules(BaseModel):
    """Patterns that decide whether the text may be cut between two lines.

    ``terminal`` is searched in the stripped line before the cut; all others are matched at the
    start of the stripped line after it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    terminal: re.Pattern[str] = re.compile(r"[.!?][\"'”’)\]]*$")
    structured: re.Pattern[str] = re.compile(
        r"(?:\[\d+\]|\((?:\d{1,4}|[A-Za-z]{1,4})\)|\d+(?:\.\d+)*[.)]?|[A-Za-z][.)]|[•‣▪◦*–—-])"
        r"(?:\s|$)"
    )
    # `J. Smith` at the start of a line continues a list of authors.
    initial: re.Pattern[str] = re.compile(r"[A-Z]\.\s")
    address: re.Pattern[str] = re.compile(r"(?:https?://|www\.)")
    footnote: re.Pattern[str] | None = None

    def between(self, before: str, after: str) -> str | None:
        """Return the kind of the boundary between two stripped lines, or None if it is not safe."""
        if self.footnote is not None and self.footnote.match(after):
            return None
        goes_on = after[:1].islower() or self.address.match(after)
        if self.terminal.search(before) and not goes_on:
            return TERMINAL
        return STRUCTURED if self._starts_item(before, after) else None

    def _starts_item(self, before: str, after: str) -> bool:
        if before.endswith(":") or self.initial.match(after):
            return False
        return self.structured.match(after) is not None


def safe_boundaries(
    lines: Lines,
    positions: Sequence[int],
    rules: BoundaryRules,
    rows: Rows,
    references: ReferenceRules | None = None,
) -> list[str | None]:
    """Return, for every line of a logical source but its last, the kind of cut allowed after it.

    ``positions`` are the source's lines; of ``rows`` those of kind ``reject_boundary`` are taken,
    where the rules alone would allow a cut. A reference list is cut between complete entries only.
    """
    texts = [lines.text[position].strip() for position in positions]
    if references is not None:
        starts = set(entry_starts(texts, references))
        return [ENTRY if i in starts else None for i in range(1, len(texts))]
    found: list[str | None] = []
    for position, before, after in zip(positions, texts, texts[1:], strict=False):
        kind = rules.between(before, after)
        if kind and rows.take("reject_boundary", *lines.coordinate(position)):
            kind = None
        found.append(kind)
    return found
