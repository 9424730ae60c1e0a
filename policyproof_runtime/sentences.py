"""The sentences of a passage: of prose and lists, and of tables: a row and what its columns say."""

from __future__ import annotations

import re

# The stop after the number of an item that opens a line ends no sentence.
_BOUNDARY = re.compile(
    r"(?<=[.;:!?])(?<!\n\d\.)(?<!\n\d\d\.)\s+|\n(?=\s*(?:\(\w{1,3}\)|\w{1,3}[.)]\s|[•\-–]))"
)
# A line of a table: cells between upright strokes.
ROW = re.compile(r"\S \| |^\s*\|")


def sentences(text: str) -> list[str]:
    """Return the sentences, list items and rows of ``text``, each on one line.

    A row of a table is read with the first row, which says what its cells are.
    """
    found: list[str] = []
    prose: list[str] = []
    head = ""

    def end_of_prose() -> None:
        text = "".join(f"\n{line}" for line in prose)
        found.extend(" ".join(s.split()) for s in _BOUNDARY.split(text) if s.strip())
        prose.clear()

    for line in text.splitlines():
        if not ROW.search(line):
            head = "" if line.strip() else head
            prose.append(line)
            continue
        end_of_prose()
        found.append(" ".join(f"{head} {line}".split()))
        head = head or line
    end_of_prose()
    return found
