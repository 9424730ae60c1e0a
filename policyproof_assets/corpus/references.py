"""Reference lists: where each entry of a bibliography starts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from pydantic import BaseModel, ConfigDict, model_validator


class ReferenceRules(BaseModel):
    """How to read the reference list below one heading.

    An entry starts at a line that matches ``start``; or after a line that matches ``end``, unless
    the line matches ``continues``. Patterns are searched in stripped lines.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    heading: re.Pattern[str]
    start: re.Pattern[str] | None = None
    end: re.Pattern[str] | None = None
    continues: re.Pattern[str] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> ReferenceRules:
        if (self.start is None) == (self.end is None):
            raise ValueError("a reference list has either a `start` or an `end` pattern")
        return self

    def starts_entry(self, before: str, line: str) -> bool:
        """Return whether ``line`` (stripped) starts an entry when ``before`` precedes it."""
        if self.start is not None:
            return self.start.search(line) is not None
        if self.continues is not None and self.continues.search(line):
            return False
        return self.end is not None and self.end.search(before) is not None


def rules_for(label: str, rules: Iterable[ReferenceRules]) -> ReferenceRules | None:
    """Return the rules of the reference list that stands below the heading ``label``, if any."""
    return next((rule for rule in rules if rule.heading.search(label)), None)


def entry_starts(texts: Sequence[str], rules: ReferenceRules) -> list[int]:
    """Return the indices of the lines that start an entry; the first line always does."""
    pairs = enumerate(pairwise(texts), 1)
    return [0, *(i for i, (before, line) in pairs if rules.starts_entry(before, line))]
