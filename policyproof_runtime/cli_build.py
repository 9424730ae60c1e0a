"""``policyproof build`` and ``export``: the doors to the pipeline, which is an extra."""

from __future__ import annotations

from pathlib import Path

import click

from policyproof_runtime.cli_options import (
    corpus_option,
    named_corpus,
    note,
    pipeline,
    progress_line,
    store_option,
)
from policyproof_runtime.objects import ObjectStore


@click.command("build")
@click.argument("corpus", default="handbook")
@click.option("--keep-going", is_flag=True, help="Leave out documents that cannot be read.")
@store_option
def build_command(corpus: str, keep_going: bool, store: str | None) -> None:  # noqa: FBT001 -- click
    """Build CORPUS and freeze a release if the gate passes.

    CORPUS is the name of a manifest in manifests/corpora, the path of a corpus manifest, or a folder
    of documents. Without it the bundled handbook is built.
    """
    publish = pipeline("publish")
    with progress_line(f"build {corpus}") as progress:
        release, work = publish.build_corpus(corpus, store, progress, keep_going=keep_going)
    for document_id, error in work.left_out.items():
        note(f"left out {document_id}: {error}")
    if work.made:
        note(f"{work.made} parts made, {work.known} known from earlier builds")
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
    module = pipeline("export")
    name = named_corpus(ObjectStore(store), corpus)
    for path in module.export_jsonl(name, store, folder):
        click.echo(path)
    note(f"exported {name}")
