"""``policyproof diff``: what changed between two releases or two versions of a document."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

import click
from rich import box
from rich.table import Table
from rich.text import Text

from policyproof_runtime.cli_options import find_release, note, pipeline, store_option
from policyproof_runtime.diff import Change, Comparison, Piece, compare, pieces
from policyproof_runtime.digest import Digest
from policyproof_runtime.objects import ObjectStore
from policyproof_runtime.output import new_console, printable
from policyproof_runtime.passages import Passages
from policyproof_runtime.release import load_release

_SUFFIXES = {".pdf", ".md", ".html", ".htm"}
_LONGEST = 60  # words shown of an added or removed passage; --json has all
_STYLES = {"changed": "yellow", "added": "green", "removed": "red", "moved": "cyan"}


@dataclass(frozen=True)
class _Side:
    title: str
    digest: Digest  # of the release or of the document's file
    pieces: list[Piece]
    is_release: bool = False


@click.command("diff")
@click.argument("old", metavar="A")
@click.argument("new", metavar="B")
@click.option("--profile", metavar="NAME", help="How to read files. [default: as the other side]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def diff_command(
    old: str,
    new: str,
    profile: str | None,
    as_json: bool,  # noqa: FBT001 click passes flags by name
    store: str | None,
) -> None:
    """Show what changed from A to B: words, and passages added, removed or moved, by heading.

    A and B are two releases (a digest, the start of one, or a corpus for its newest) or two
    documents: CORPUS:DOCUMENT_ID, or the path of a PDF, Markdown or HTML file.
    """
    objects = ObjectStore(store)
    sides = _side(objects, old, new, profile), _side(objects, new, old, profile)
    if sides[0].is_release != sides[1].is_release:
        raise click.UsageError("A and B must both be releases or both be documents")
    found = compare(sides[0].pieces, sides[1].pieces)
    if as_json:
        a, b = ({"title": side.title, "digest": side.digest} for side in sides)
        click.echo(json.dumps({"a": a, "b": b, **asdict(found)}, ensure_ascii=False, indent=2))
        return
    _show(found, sides)
    note("Compared: the text under headings; not title pages, contents, headers and footers.")


def _side(store: ObjectStore, target: str, other: str, profile: str | None) -> _Side:
    path = Path(target)
    if path.suffix.lower() in _SUFFIXES and path.is_file():
        table = pipeline("compare").build_passages(path, [other], profile)
        found = pieces(Passages(table, {}), scoped=False)
        return _Side(path.name, Digest.of(path.read_bytes()), found)
    name, colon, document_id = target.removeprefix("sha256:").partition(":")
    release = load_release(store, *find_release(store, name))
    passages = release.phase("passages").snapshot
    if not colon:
        titles = {document.id: document.title for document in release.documents}
        found = pieces(Passages(store.phase(passages), titles), scoped=True)
        return _Side(release.title, release.digest, found, is_release=True)
    document = release.document(document_id)
    table = store.table(store.snapshot(passages).part(document_id).object)
    return _Side(document.title, document.sha256, pieces(Passages(table, {}), scoped=False))


def _show(found: Comparison, sides: Sequence[_Side]) -> None:
    """Print one table, a row per difference, by heading."""
    console = new_console()
    for name, side, style in zip("AB", sides, ("red", "green"), strict=True):
        console.print(Text(printable(f"{name}  {side.title}  {side.digest}"), style))
    console.print(Text(_summary(found), "bold"))
    shown = [change for change in found.changes if change.kind in _STYLES]
    if not shown:
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 1, 0), show_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("page", no_wrap=True)
    table.add_column("[-only in A-] {+only in B+}", overflow="fold")
    for heading, changes in groupby(shown, key=_heading):
        table.add_row("", "", Text(heading, "bold"))
        for change in changes:
            kind = Text(change.kind, _STYLES[change.kind])
            table.add_row(kind, _pages(change), Text("\n").join(_lines(change)))
    console.print()
    console.print(table)


def _summary(found: Comparison) -> str:
    counts = Counter(str(change.kind) for change in found.changes)
    parts = [f"{counts[kind]} {kind}" for kind in _STYLES if counts[kind]] or ["no words differ"]
    if counts["same_words"]:
        parts.append(f"{counts['same_words']} with the same words on other lines")
    return ", ".join([*parts, f"{found.same} passages the same"])


def _heading(change: Change) -> str:
    piece = (change.new or change.old)[0]
    path = (piece.citation.title, *piece.heading) if piece.scope else piece.heading
    return printable(" › ".join(path))


def _pages(change: Change) -> str:
    places = []
    for side in filter(None, (change.old, change.new)):
        first, last = side[0].citation.page_start, side[-1].citation.page_end
        places.append(str(first) if first == last else f"{first}–{last}")
    return " → ".join(dict.fromkeys(places))


def _lines(change: Change) -> Iterator[Text]:
    for words in change.words:
        before, after = Text(printable(f"… {words.before} ")), Text(printable(f" {words.after}"))
        marks = [_removed(words.old)] * bool(words.old) + [_added(words.new)] * bool(words.new)
        yield before + Text(" ").join(marks) + after
    if change.kind == "removed":
        yield from (_removed(_shortened(piece)) for piece in change.old)
    if change.kind == "added":
        yield from (_added(_shortened(piece)) for piece in change.new)
    if change.kind == "moved":
        yield Text("was under: " + printable(" › ".join(change.old[0].heading)), "cyan")
        yield Text(_shortened(change.new[0]), "dim")


def _removed(words: str) -> Text:
    return Text(f"[-{printable(words)}-]", "red")


def _added(words: str) -> Text:
    return Text(f"{{+{printable(words)}+}}", "green")


def _shortened(piece: Piece) -> str:
    words = piece.citation.excerpt.split()
    rest = f" … ({len(words)} words)" if len(words) > _LONGEST else ""
    return printable(" ".join(words[:_LONGEST]) + rest)
