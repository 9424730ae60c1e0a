"""Levels of headings: which of two headings contains the other."""

from __future__ import annotations

from collections.abc import Sequence

from policyproof_assets.corpus.recognize import Found, LayoutHeadingRules

#: Sizes that differ by less are one size.
_SAME_SIZE = 0.4
#: Kinds whose numbers say what contains what.
_NUMBERED = ("number", "label", "word")


def levels(headings: Sequence[Found], rules: LayoutHeadingRules) -> list[int]:
    """Return the level of each heading, from 1: one below the nearest that contains it."""
    restarts = sum(h.kind == "number" and h.parts == ("1",) for h in headings) > 1
    found: list[int] = []
    open_: list[Found] = []
    for heading in headings:
        while open_ and not _contains(open_[-1], heading, rules, restarts=restarts):
            open_.pop()
        open_.append(heading)
        found.append(len(open_))
    return found


def _contains(above: Found, below: Found, rules: LayoutHeadingRules, *, restarts: bool) -> bool:
    if above.title or below.title or below.word in rules.top_words:
        return above.title
    if above.kind == below.kind and above.kind in _NUMBERED:
        return _contains_kin(above, below, rules)
    if "label" in (above.kind, below.kind):
        return below.kind == "label"
    if above.outline is not None and below.outline is not None:
        return above.outline < below.outline
    # Numbers that begin again do so below an unnumbered heading; else those run beside it.
    beside = below.kind == "number" and len(below.parts) == 1 and not restarts
    return above.kind == "word" or (not beside and _is_more_prominent(above, below))


def _contains_kin(above: Found, below: Found, rules: LayoutHeadingRules) -> bool:
    """Decide between two headings that are numbered in the same way."""
    if above.kind == "word" and above.word != below.word:
        return rules.words[above.word] < rules.words[below.word]
    inside = above.parts != below.parts and below.parts[: len(above.parts)] == above.parts
    return above.word == below.word and inside


def _is_more_prominent(above: Found, below: Found) -> bool:
    one, two = (found.lines[-1 if found.marked else 0] for found in (above, below))
    return one.size > two.size if abs(one.size - two.size) >= _SAME_SIZE else one.bold > two.bold
