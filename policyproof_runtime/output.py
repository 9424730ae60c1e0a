"""What a person sees: answers, abstentions and hits in a terminal or a pipe."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from rich import box
from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text

from policyproof_runtime.passages import Passages
from policyproof_runtime.types import Answer, Citation, Hit

_READABLE = 110  # columns; longer lines tire the eye
_REASONS = {
    "outside_controlled_corpus": "The documents do not cover this.",
    "incomplete_evidence_set": "The closest passages leave part of the question open.",
}


def show_answer(answer: Answer) -> None:
    """Print an answer or an abstention on stdout."""
    console = new_console()
    if answer.decision == "answer":
        console.print(Text("Answer", "bold green"), _measure(answer))
        for citation in answer.citations:
            console.print()
            console.print(_quote(citation))
        return
    console.print(Text("No answer", "bold yellow"), _measure(answer))
    for code in answer.reason_codes:
        console.print(Text(_REASONS.get(code, code.replace("_", " ") + ".")))
    if answer.missing:
        console.print(Text("Not found: " + printable(", ".join(answer.missing))))
    if answer.related:
        console.print(Text("\nRelated, not an answer:", "bold"))
        for citation in answer.related:
            console.print(Text("  • ") + _source(citation))


def show_hits(hits: Sequence[Hit], passages: Passages) -> None:
    """Print ranked passages on stdout."""
    console = new_console()
    if not hits:
        console.print("No passage matches.")
        return
    for hit in hits:
        position = passages.position(hit.passage_id)
        preview = printable(" ".join(passages.citation_text(position).split()))
        line = Text(f"{hit.rank:>3}  {hit.score:6.2f}  ")
        console.print(line + _source(passages.citation(position)))
        indented = Text(f"{'':13}{preview}", "dim")
        indented.truncate(console.width, overflow="ellipsis")
        console.print(indented)


def printable(text: str) -> str:
    """Return ``text`` without characters that steer a terminal or hide the order of others."""
    return "".join("�" if _steers(character) else character for character in text)


def _steers(character: str) -> bool:
    # Cc: escape sequences. The bidirectional overrides and isolates reorder what is shown.
    control = unicodedata.category(character) == "Cc" and character not in "\n\t"
    return control or "\u202a" <= character <= "\u202e" or "\u2066" <= character <= "\u2069"


def new_console() -> Console:
    """Return a console on stdout: no wider than can be read, of a fixed width in a pipe."""
    console = Console(highlight=False, soft_wrap=False)
    if console.is_terminal:
        console.width = min(console.width, _READABLE)
    else:
        console.width = 200  # a pipe has no edge: the source's lines stay whole
    return console


def _measure(answer: Answer) -> Text:
    return Text(f" evidence {answer.probability:.2f}, needed {answer.threshold:.2f}", "dim")


def _quote(citation: Citation) -> Group:
    # Above the frame, not in it: a frame cuts a long title, and the place with it.
    return Group(
        Text(printable(citation.label), "bold"),
        Text(f"{printable(citation.title)} · {citation.place}", "cyan"),
        Panel(Text(printable(citation.excerpt)), box=box.ROUNDED, border_style="dim", expand=False),
    )


def _source(citation: Citation) -> Text:
    text = Text(printable(citation.label), "bold")
    text.append(f" · {printable(citation.title)} · {citation.place}", "cyan")
    return text
