"""Choosing the words to cite: whole sentences and list items, exactly as the source has them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from policyproof_runtime.passages import Line, Passages
from policyproof_runtime.sentences import ROW
from policyproof_runtime.terms import contract_terms, stem
from policyproof_runtime.types import Citation

# What a person reads at a glance; a list that is begun may need more.
MAX_LINES = 12
MAX_LIST_LINES = 24
# From here on a line must add LINE_PRICE of the question's weight to be worth its space, as every
# row of a table must that has no word of the question.
FREE_LINES = 8
LINE_PRICE = 0.015
# Words from which a heading that ends in a full stop is a sentence.
SENTENCE_WORDS = 6

_SENTENCE_END = re.compile(r"[.!?;:][\"'”’)\]]*\s*$")
_ITEM_START = re.compile(r"\s*(?:\(?[a-z0-9]{1,4}[.)]\s|\([a-z0-9]{1,4}\)|[•\-–—]\s|[A-Z]{2}-\d)")
_LEAD_IN = re.compile(r":\s*$")

Run = tuple[int, int]


def excerpts(passages: Passages, position: int, weights: Mapping[str, float]) -> list[Citation]:
    """Cite the run of whole sentences or items that holds most of ``weights`` (stems).

    A passage of up to MAX_LINES lines is cited whole. A heading that is a sentence is cited too,
    alone if the text below, such as the rest of a table, adds nothing to it. Where the source has
    other lines between (page furniture, a blank line), the run is cited in pieces, so that every
    piece stands in the source as it is shown.
    """
    lines = passages.lines(position)
    if not lines:
        return [passages.citation(position)]
    text = passages.citation_text(position)
    texts = [text[line.start : line.end] for line in lines]
    first, end = (0, len(lines)) if len(lines) <= MAX_LINES else best_run(texts, weights)
    # A row says little without the head of its table.
    heads = {head for head in _heads(texts)[first:end] if head is not None and head < first}
    shown = [lines[i] for i in (*sorted(heads), *range(first, end))]
    body = [passages.citation(position, (a, b)) for a, b in _pieces(shown)]
    heading = passages.heading(position)
    if heading is None or not _is_sentence(heading.excerpt):
        return body
    said, added = _held(heading.excerpt, weights), _held(" ".join(texts[first:end]), weights)
    gain = sum(weights[s] for s in sorted(added - said))
    return [heading, *body] if gain > LINE_PRICE * sum(weights.values()) else [heading]


def _is_sentence(heading: str) -> bool:
    """Say whether a heading states something itself, as the outcomes of a framework do."""
    return heading.endswith(".") and len(heading.split()) >= SENTENCE_WORDS


def _held(text: str, weights: Mapping[str, float]) -> set[str]:
    return {stem(term) for term in contract_terms(text)} & weights.keys()


def best_run(texts: Sequence[str], weights: Mapping[str, float]) -> Run:
    """Return (first, end exclusive) of the lines to show: most weight, for few lines.

    Of equals the first, then the longest: a rule stands before its exceptions.
    """
    heads = _heads(texts)
    held = [
        _held(line if head is None else f"{texts[head]} {line}", weights)
        for line, head in zip(texts, heads, strict=True)
    ]
    idle = [
        head is not None and head != i and not _held(texts[i], weights)
        for i, head in enumerate(heads)
    ]
    price = LINE_PRICE * sum(weights.values())

    def worth(run: Run) -> tuple[float, int, int]:
        found, length = set().union(*held[run[0] : run[1]]), run[1] - run[0]
        dear = price * max(0, length - FREE_LINES, sum(idle[run[0] : run[1]]))
        return sum(weights[s] for s in sorted(found)) - dear, -run[0], length

    return _with_its_list(texts, max(_runs(texts), key=worth))


def _with_its_list(texts: Sequence[str], run: Run) -> Run:
    """Extend a run that holds a lead-in ("shall:") by the items of its list, up to a limit."""
    first, end = run
    if not any(_LEAD_IN.search(text) for text in texts[first:end]):
        return run
    limit = first + MAX_LIST_LINES
    while end < len(texts) and _ITEM_START.match(texts[end]):
        after = range(end + 1, len(texts))
        stop = next((i for i in after if _begins(texts[i - 1], texts[i])), len(texts))
        if stop > limit:
            break
        end = stop
    return first, end


def _runs(texts: Sequence[str]) -> list[Run]:
    """Return the runs of lines that begin and end where a sentence or an item does."""
    starts = [0, *(i for i in range(1, len(texts)) if _begins(texts[i - 1], texts[i]))]
    ends = [*starts[1:], len(texts)]
    runs = [(s, e) for s in starts for e in ends if 0 < e - s <= MAX_LINES]
    # A text without any boundary in reach is cut at the limit.
    return runs or [(0, MAX_LINES)]


def _heads(texts: Sequence[str]) -> list[int | None]:
    """Return for each row of a table which line is its first row; None for other lines."""
    heads: list[int | None] = []
    for i, text in enumerate(texts):
        before = heads[-1] if heads else None
        heads.append((i if before is None else before) if ROW.search(text) else None)
    return heads


def _begins(before: str, line: str) -> bool:
    return bool(_SENTENCE_END.search(before) or _ITEM_START.match(line) or ROW.search(line))


def _pieces(lines: Sequence[Line]) -> list[tuple[Line, Line]]:
    """Return first and last line of each stretch that is consecutive in the source."""
    pieces: list[tuple[Line, Line]] = []
    for line in lines:
        last = pieces[-1][1] if pieces else None
        if last and (line.page, line.number) == (last.page, last.number + 1):
            pieces[-1] = (pieces[-1][0], line)
        else:
            pieces.append((line, line))
    return pieces
