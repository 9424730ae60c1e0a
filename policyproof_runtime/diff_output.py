"""How a comparison looks in a terminal: one table, a row per difference, by heading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich import box
from rich.table import Table
from rich.text import Text

from policyproof_runtime.diff import Change, Comparison, Piece
from policyproof_runtime.output import new_console, printable

_LONGEST = 60  # words shown of an added or removed passage; --json has all
_STYLES = {"changed": "yellow", "added": "green", "removed": "red", "moved": "cyan"}
_KINDS = (*_STYLES, "same_words")


def show_comparison(found: Comparison, old: str, new: str) -> None:
    """Print a comparison on stdout, under a line that says what each side is."""
    console = new_console()
    console.print(Text(printable(old), "red"), Text(printable(new), "green"), sep="\n")
    console.print(Text(_summary(found), "bold"))
    shown = [change for change in found.changes if change.kind != "same_words"]
    if not shown:
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 1, 0), show_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("page", no_wrap=True)
    table.add_column("[-only in A-] {+only in B+}", overflow="fold")
    for place, changes in groupby(shown, key=_place):
        table.add_row("", "", Text(" › ".join(map(printable, place)), "bold"))
        for change in changes:
            kind = Text(change.kind, _STYLES[change.kind])
            table.add_row(kind, _pages(change), Text("\n").join(_lines(change)))
    console.print()
    console.print(table)


def _summary(found: Comparison) -> str:
    counts = Counter(str(change.kind) for change in found.changes)
    names = {"same_words": "with the same words on other lines"}
    parts = [f"{counts[kind]} {names.get(kind, kind)}" for kind in _KINDS if counts[kind]]
    return ", ".join([*(parts or ["no words differ"]), f"{found.same} passages the same"])


def _place(change: Change) -> tuple[str, ...]:
    piece = (change.new or change.old)[0]
    return (piece.citation.title, *piece.heading) if piece.scope else piece.heading


def _pages(change: Change) -> str:
    places = [_extent(side) for side in (change.old, change.new) if side]
    return " → ".join(dict.fromkeys(places))


def _extent(side: Sequence[Piece]) -> str:
    first, last = side[0].citation.page_start, side[-1].citation.page_end
    return str(first) if first == last else f"{first}–{last}"


def _lines(change: Change) -> Iterator[Text]:
    if change.old and change.new and change.old[0].heading != change.new[0].heading:
        yield Text("was under: " + printable(" › ".join(change.old[0].heading)), "cyan")
    elif change.kind == "moved":
        yield Text("stands in another order", "cyan")
    for words in change.words:
        before, after = printable(words.before), printable(words.after)
        yield Text(" ").join(_filled(Text(f"… {before}"), *_marked(words.old, words.new), after))
    if change.kind in {"added", "removed"}:
        for piece in (*change.old, *change.new):
            text = _shortened(piece)
            yield from _marked(text, "") if change.old else _marked("", text)
    elif change.kind == "moved":
        yield Text(_shortened(change.new[0]), "dim")


def _marked(old: str, new: str) -> list[Text]:
    marks = [(f"[-{printable(old)}-]", old, "red"), (f"{{+{printable(new)}+}}", new, "green")]
    return [Text(mark, style) for mark, text, style in marks if text]


def _filled(*parts: Text | str) -> Iterable[Text]:
    return (Text(part) if isinstance(part, str) else part for part in parts if part)


def _shortened(piece: Piece) -> str:
    words = piece.citation.excerpt.split()
    rest = f" … ({len(words)} words)" if len(words) > _LONGEST else ""
    return " ".join(words[:_LONGEST]) + rest
