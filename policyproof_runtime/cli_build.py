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
@click.argument("corpus")
@store_option
def build_command(corpus: str, store: str | None) -> None:
    """Build CORPUS and freeze a release if the gate passes.

    CORPUS is the name of a manifest in manifests/corpora, or a path to a corpus manifest.
    """
    module = pipeline("build")
    with progress_line(f"build {corpus}") as progress:
        result = module.build(corpus, store, progress)
    click.echo(result)


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
