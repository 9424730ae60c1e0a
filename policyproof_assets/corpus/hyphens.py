"""Hyphens at the ends of lines: of the line break, or of the word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, reduce
from itertools import pairwise

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST = re.compile(rf"({_WORD.pattern})-$")


class Hyphens:
    """Decides by the words the document itself prints inside its lines."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    @staticmethod
    def is_wrap(before: str, after: str) -> bool:
        """Tell whether ``before`` breaks a word that ``after`` continues."""
        return bool(_LAST.search(before)) and after[:1].islower()

    def belongs_to_word(self, before: str, after: str) -> bool:
        """Tell whether the hyphen at the end of ``before`` is one of the word's own.

        It is where the document never prints the two halves as one word, and prints either the
        hyphenated word or both halves by themselves.
        """
        left, right = _LAST.search(before), _WORD.match(after)
        if not left or not right:
            return False
        halves = left[1].lower(), right[0].lower()
        if "".join(halves) in self._words:
            return False
        return "-".join(halves) in self._words or self._words.issuperset(halves)

    def joined(self, before: str, after: str) -> str:
        """Join two lines, by a space but where a word goes on."""
        if not self.is_wrap(before, after):
            return f"{before} {after}"
        return (before if self.belongs_to_word(before, after) else before[:-1]) + after

    def join(self, texts: Sequence[str]) -> str:
        """Join the lines of one paragraph or heading, white space collapsed."""
        return " ".join(reduce(self.joined, texts, "").split())

    @cached_property
    def _words(self) -> frozenset[str]:
        """Every word of the document, lower case, except those a line break cuts in two."""
        words: set[str] = set()
        for before, line in pairwise(("", *self._texts)):
            found = _WORD.findall(line.lower())
            start = 1 if self.is_wrap(before, line) else 0
            stop = len(found) - 1 if line.endswith("-") else len(found)
            words.update(found[start:stop])
        return frozenset(words)
