"""The commands that make, move and check releases: what builds needs the pipeline, an extra."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from policyproof_runtime.bundle import pack, unpack
from policyproof_runtime.cli_options import (
    corpus_option,
    find_release,
    named_corpus,
    note,
    pipeline,
    progress_line,
    store_option,
)
from policyproof_runtime.objects import RELEASE_REF, ObjectStore
from policyproof_runtime.verify import verify_release


@click.command("build")
@click.argument("corpus", default="handbook")
@click.option("--keep-going", is_flag=True, help="Leave out documents that cannot be read.")
@store_option
def build_command(corpus: str, keep_going: bool, store: str | None) -> None:  # noqa: FBT001 -- click
    """Build CORPUS and freeze a release if the gate passes.

    CORPUS is the name of a manifest in manifests/corpora, the path of a corpus manifest, or a
    folder of documents. Without it the bundled handbook is built.
    """
    publish = pipeline("publish")
    with progress_line(f"build {corpus}") as progress:
        release, work = publish.build_corpus(corpus, store, progress, keep_going=keep_going)
    for document_id, error in work.left_out.items():
        note(f"left out {document_id}: {error}")
    if work.made:
        known = f", {work.known} known from an earlier build" if work.known else ""
        note(f"{work.made} parts made{known}")
    else:
        note(f"nothing to do: all {work.known} parts are known from an earlier build")
    click.echo(release)


@click.command("new")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def new_command(folder: Path) -> None:
    """Write a starter manifest for the documents in FOLDER, by looking at the files.

    It is FOLDER/corpus.toml, never overwritten. Who may read a document stays TODO in it, which a
    build refuses until a person has decided.
    """
    path, documents, undecided = pipeline("starter").write_starter(folder)
    note(f"{documents} document{'' if documents == 1 else 's'} found")
    if undecided:
        note(f"{undecided} to decide: say who may read them, in place of TODO in {path}")
    note(f"then run: policyproof build {folder}")
    click.echo(path)


@click.command("export")
@corpus_option
@click.option(
    "--jsonl",
    "folder",
    required=True,
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the JSON-lines files.",
)
@store_option
def export_command(corpus: str | None, folder: Path, store: str | None) -> None:
    """Write the artifacts of a release as JSON lines, in the published field order."""
    name = named_corpus(ObjectStore(store), corpus)
    for path in pipeline("export").export_jsonl(name, store, folder):
        click.echo(path)
    note(f"exported {name}")


@click.command("verify")
@click.argument("targets", nargs=-1, metavar="[CORPUS|RELEASE]...")
@store_option
def verify_command(targets: tuple[str, ...], store: str | None) -> None:
    """Recompute every digest of releases; exit code 1 on the first that differs.

    A target is a corpus (its accepted release) or a release digest. Without one, the accepted
    releases of all corpora are verified.
    """
    objects = ObjectStore(store)
    for target in targets or objects.corpora() or (named_corpus(objects, None),):
        corpus, digest = find_release(objects, target)
        verify_release(objects, corpus, digest)
        click.echo(f"verified {corpus} {digest or objects.ref(corpus, RELEASE_REF)}")


@click.command("pack")
@click.argument("target", required=False, metavar="[CORPUS|RELEASE]")
@click.option("--out", "-o", type=click.Path(dir_okay=False, path_type=Path), help="File to write.")
@corpus_option
@store_option
def pack_command(
    target: str | None, out: Path | None, corpus: str | None, store: str | None
) -> None:
    """Write a release with all its objects to one file, for a machine with only the runtime."""
    objects = ObjectStore(store)
    name, digest = find_release(objects, target or named_corpus(objects, corpus))
    digest = digest or objects.ref(name, RELEASE_REF)
    path = out or Path(f"{name}-{digest.hex[:12] if digest else ''}.policyproof")
    click.echo(f"packed {name} {pack(objects, name, path, digest).digest}")
    note(f"written: {path}")


@click.command("unpack")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--keep-accepted", is_flag=True, help="Do not make it the release used by default.")
@store_option
def unpack_command(file: Path, keep_accepted: bool, store: str | None) -> None:  # noqa: FBT001
    """Verify a packed release and bring it into the store."""
    release = unpack(file, ObjectStore(store), accept=not keep_accepted)
    click.echo(f"unpacked {release.corpus} {release.digest}")


@click.command("gc")
@click.option("--delete", is_flag=True, help="Remove the files; without it they are only listed.")
@click.option("--hours", type=click.FloatRange(min=0), help="Leave alone what is younger.")
@store_option
def gc_command(delete: bool, hours: float | None, store: str | None) -> None:  # noqa: FBT001
    """List or remove what no release, ref or memo entry in use needs."""
    writable = pipeline("store").Store(store)
    collector = pipeline("garbage")
    grace = collector.GRACE_HOURS if hours is None else hours
    garbage = collector.collect_garbage(writable, grace_hours=grace, delete=delete)
    for item in garbage:
        click.echo(f"{item.name}\t{item.size}\t{item.reason}")
    for reason, count in sorted(Counter(item.reason for item in garbage).items()):
        note(f"{count} files: {reason}")
    size = sum(item.size for item in garbage)
    note(f"{len(garbage)} files, {size:,} bytes {'removed' if delete else 'could go (--delete)'}")
