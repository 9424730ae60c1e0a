"""Recitals: the numbered paragraphs before a regulation's first article, and their footnotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

from policyproof_assets.corpus.lines import Lines
from policyproof_assets.errors import ProvenanceError


def _one_group(pattern: re.Pattern[str]) -> re.Pattern[str]:
    if pattern.groups != 1:
        raise ValueError(f"{pattern.pattern!r} captures the number and nothing else")
    return pattern


Number = Annotated[re.Pattern[str], AfterValidator(_one_group)]
#: Text around the one field {number}, which may be padded: {number:03d}.
Numbered = Annotated[str, StringConstraints(pattern=r"^[^{}]*\{number(:0\dd)?\}[^{}]*$")]


class RecitalRules(BaseModel):
    """How to read numbered paragraphs that have no heading, from a line to a line (exclusive).

    ``number`` and ``footnote`` match the start of a stripped line and capture the number; both
    series count up by one from 1, which tells a recital and a footnote of the same form apart. A
    footnote's region runs to the end of its page. ``context`` is the identifier of the part of the
    document they form.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    after: re.Pattern[str]
    before: re.Pattern[str]
    number: Number = re.compile(r"\((\d+)\)\s")
    footnote: Number | None = None
    kind: str = "recital"
    key: Numbered = "recital-{number:03d}"
    label: Numbered = "Recital {number}"
    context: str | None = None


class Recitals(NamedTuple):
    """Positions: where every recital ``starts``, lines of ``notes``, the ``end`` (exclusive)."""

    starts: tuple[int, ...] = ()
    notes: frozenset[int] = frozenset()
    end: int = 0


def scan_recitals(lines: Lines, rules: RecitalRules | None) -> Recitals:
    """Find the recitals of a document; none if it has no line that matches ``after``.

    Raises ProvenanceError if no line ends them, or if one is missing or out of order.
    """
    start = None if rules is None else _find(lines, rules.after, 0)
    if rules is None or start is None:
        return Recitals()
    end = _find(lines, rules.before, start)
    if end is None:
        raise _broken(lines, start, "nothing ends the recitals", rules.before.pattern, None)
    starts, notes = [], set()
    for position, is_note in _numbered(lines, rules, range(start + 1, end)):
        if is_note:
            notes.update(range(position, lines.on_page(lines.page[position]).stop))
        else:
            starts.append(position)
    return Recitals(tuple(starts), frozenset(notes), end)


def _find(lines: Lines, pattern: re.Pattern[str], start: int) -> int | None:
    hits = (i for i in range(start, len(lines)) if pattern.search(lines.text[i].strip()))
    return next(hits, None)


def _numbered(lines: Lines, rules: RecitalRules, span: range) -> Iterator[tuple[int, bool]]:
    """Yield (position, is a footnote) for every line that continues one of the two series."""
    recital, note, note_page = 1, 1, 0
    for position in span:
        text = lines.text[position].strip()
        number = None if lines.page[position] == note_page else _number(rules.number, text)
        if number == recital:
            recital += 1
            yield position, False
        elif rules.footnote is not None and _number(rules.footnote, text) == note:
            note, note_page = note + 1, lines.page[position]
            yield position, True
        elif number is not None and number > recital:
            raise _broken(lines, position, "a recital is missing or out of order", recital, number)


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.match(text)
    return int(match[1]) if match else None


def _broken(
    lines: Lines, position: int, what: str, expected: object, found: object
) -> ProvenanceError:
    page, line = lines.coordinate(position)
    return ProvenanceError(
        f"{lines.document_id}: {what} at page {page} line {line}",
        expected=expected,
        found=found,
        action="check that no page is missing or out of order",
    )
