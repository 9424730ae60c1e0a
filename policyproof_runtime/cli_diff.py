"""``policyproof diff``: what changed between two releases or two versions of a document."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import pyarrow as pa

from policyproof_runtime.cli_options import note, pipeline, store_option, usage
from policyproof_runtime.cli_store import find_release
from policyproof_runtime.diff import Piece, compare, pieces
from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import ReleaseError
from policyproof_runtime.objects import ObjectStore
from policyproof_runtime.passages import Passages
from policyproof_runtime.release import Release, load_release

_SUFFIXES = {".pdf", ".md", ".html", ".htm"}
_SHORTEST_PREFIX = 6  # hex digits


@dataclass(frozen=True)
class _Side:
    title: str
    digest: Digest  # of the release or of the document's file
    pieces: list[Piece]
    is_release: bool


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
    a, b = _side(objects, old, new, profile), _side(objects, new, old, profile)
    if a.is_release != b.is_release:
        raise usage("A and B must both be releases or both be documents")
    found = compare(a.pieces, b.pieces)
    if as_json:
        sides = [{"title": side.title, "digest": str(side.digest)} for side in (a, b)]
        value = {"a": sides[0], "b": sides[1], **asdict(found)}
        click.echo(json.dumps(value, ensure_ascii=False, indent=2))
        return
    from policyproof_runtime.diff_output import show_comparison

    show_comparison(found, f"A  {a.title}  {a.digest}", f"B  {b.title}  {b.digest}")
    if a.digest != b.digest and not found.changes:
        note("The files differ, the words of their passages do not.")
    note("Compared: the text under headings; not title pages, contents, headers and footers.")


def _side(store: ObjectStore, target: str, other: str, profile: str | None) -> _Side:
    path = Path(target)
    if path.suffix.lower() in _SUFFIXES and path.is_file():
        table = pipeline("compare").build_passages(path, [other], profile)
        return _Side(path.name, Digest.of(path.read_bytes()), _pieces(table), is_release=False)
    name, colon, document_id = target.removeprefix("sha256:").partition(":")
    release = _release(store, name)
    passages = release.phase("passages").snapshot
    if not colon:
        table = store.phase(passages)
        return _Side(release.title, release.digest, _pieces(table, release), is_release=True)
    document = release.document(document_id)
    table = store.table(store.snapshot(passages).part(document_id).object)
    return _Side(document.title, document.sha256, _pieces(table), is_release=False)


def _pieces(table: pa.Table, release: Release | None = None) -> list[Piece]:
    titles = {d.id: d.title for d in release.documents} if release else {}
    return pieces(Passages(table, titles), scoped=release is not None)


def _release(store: ObjectStore, target: str) -> Release:
    """Return the newest release of a corpus, or the only one whose digest starts so."""
    corpora = store.corpora()
    if target not in corpora and len(target) >= _SHORTEST_PREFIX:
        known = {
            d.hex for name in corpora for d in store.releases(name) if d.hex.startswith(target)
        }
        if len(known) > 1:
            raise ReleaseError(f"several releases start with {target}", found=", ".join(known))
        target = next(iter(known), target)
    return load_release(store, *find_release(store, target))
