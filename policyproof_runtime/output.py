"""What a person sees: answers, abstentions and hits in a terminal or a pipe."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from policyproof_runtime.passages import Passages
from policyproof_runtime.types import Answer, Citation, Hit

_READABLE = 110  # columns; longer lines tire the eye
_PIPE = 200  # columns; a pipe has no edge: the source's lines stay whole
# They reorder what is shown: the bidirectional overrides and isolates.
_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_REASONS = {
    "outside_controlled_corpus": "The documents do not cover this.",
    "incomplete_evidence_set": "The closest passages leave part of the question open.",
    "current_information_required": "This asks for news; the documents only say what they said.",
    "organization_specific_conclusion": "This asks about a case that is not in the documents.",
    "legal_advice_boundary": "This asks for legal advice.",
    "high_stakes_recommendation": "This asks for a decision that others must answer for.",
    "unsupported_comparison": "One side of the comparison is not in the documents.",
    "conflicting_evidence": "The documents contradict one another on this.",
}
_LABELS = {
    "construction_derived": "The gate was trained on labels derived from how its cases were built; "
    "no people have reviewed them yet.",
}


def show_answer(answer: Answer) -> None:
    """Print an answer or an abstention on stdout."""
    console = new_console()
    head = Text("Partial answer" if answer.partial else "Answer", "bold green")
    if answer.decision == "abstain":
        head = Text("No answer", "bold yellow")
    measure = f" within reach {answer.probability:.2f}, needed {answer.threshold:.2f}"
    console.print(head, Text(measure, "dim"))
    for citation in answer.citations:
        # Above the frame, not in it: a frame cuts a long title, and the place with it.
        console.print(Text(f"\n{printable(citation.label)}", "bold"))
        console.print(Text(f"{printable(citation.title)} · {citation.place}", "cyan"))
        excerpt = Text(printable(citation.excerpt))
        console.print(Panel(excerpt, box=box.ROUNDED, border_style="dim", expand=False))
    if answer.decision == "abstain":
        _show_reasons(console, answer)
    if answer.partial:
        console.print(Text(f"\nNot answered: {printable('; '.join(answer.partial))}", "yellow"))
    if answer.label_status in _LABELS:
        console.print(Text(f"\n{_LABELS[answer.label_status]}", "dim"))


def _show_reasons(console: Console, answer: Answer) -> None:
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
    for hit in hits:
        citation = passages.citation(passages.position(hit.passage_id))
        console.print(Text(f"{hit.rank:>3}  {hit.score:6.2f}  ") + _source(citation))
        preview = Text(f"{'':13}{printable(' '.join(citation.excerpt.split()))}", "dim")
        preview.truncate(console.width, overflow="ellipsis")
        console.print(preview)


def printable(text: str) -> str:
    """Return ``text`` without characters that steer a terminal or hide the order of others."""
    return "".join("�" if _steers(character) else character for character in text)


def _steers(character: str) -> bool:
    control = unicodedata.category(character) == "Cc" and character not in "\n\t"
    return control or character in _REORDERING


def new_console() -> Console:
    """Return a console on stdout: no wider than can be read, of a fixed width in a pipe."""
    console = Console(highlight=False, soft_wrap=False)
    console.width = min(console.width, _READABLE) if console.is_terminal else _PIPE
    return console


def _source(citation: Citation) -> Text:
    place = Text(f" · {printable(citation.title)} · {citation.place}", "cyan")
    return Text(printable(citation.label), "bold") + place
