"""Recitals: the numbered paragraphs before a regulation's first article, and their footnotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from policyproof_assets.corpus.lines import Lines


class RecitalRules(BaseModel):
    """How to read numbered paragraphs that have no heading.

    ``number`` and ``footnote`` match the start of a stripped line and capture the number; both
    series count up by one from 1, which tells a recital and a footnote of the same form apart. A
    footnote's region runs to the end of its page. ``key`` and ``label`` are format strings over
    ``number``; ``context`` is the identifier of the part of the document they form.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    after: str
    before: str
    number: str = r"\((\d+)\)\s"
    footnote: str | None = None
    kind: str = "recital"
    key: str = "recital-{number:03d}"
    label: str = "Recital {number}"
    context: str | None = None


class Recitals(NamedTuple):
    """Positions: where every recital ``starts``, lines of ``notes``, the ``end`` (exclusive)."""

    starts: tuple[int, ...]
    notes: frozenset[int]
    end: int


NONE = Recitals((), frozenset(), 0)


def scan_recitals(lines: Lines, rules: RecitalRules | None) -> Recitals:
    """Find the recitals of a document; none if it has no line that matches ``after``."""
    if rules is None:
        return NONE
    start = _find(lines, rules.after, 0)
    if start is None:
        return NONE
    end = _find(lines, rules.before, start)
    end = len(lines) if end is None else end
    starts, notes = [], set()
    for position, is_note in _numbered(lines, rules, range(start + 1, end)):
        if is_note:
            notes.update(range(position, lines.on_page(lines.page[position]).stop))
        else:
            starts.append(position)
    return Recitals(tuple(starts), frozenset(notes), end)


def _find(lines: Lines, pattern: str, start: int) -> int | None:
    compiled = re.compile(pattern)
    hits = (i for i in range(start, len(lines)) if compiled.search(lines.text[i].strip()))
    return next(hits, None)


def _numbered(lines: Lines, rules: RecitalRules, span: range) -> Iterator[tuple[int, bool]]:
    """Yield (position, is a footnote) for every line that continues one of the two series."""
    recital, note, note_page = 1, 1, 0
    for position in span:
        text = lines.text[position].strip()
        in_note = lines.page[position] == note_page
        if not in_note and _number(rules.number, text) == recital:
            recital += 1
            yield position, False
        elif rules.footnote is not None and _number(rules.footnote, text) == note:
            note, note_page = note + 1, lines.page[position]
            yield position, True


def _number(pattern: str, text: str) -> int | None:
    match = re.match(pattern, text)
    return int(match[1]) if match else None
