"""``policyproof annotate`` and ``policyproof sufficiency``: evidence, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path

import click

from policyproof_runtime import cli_batch
from policyproof_runtime.cli_options import (
    corpus_option,
    named_corpus,
    note,
    pipeline,
    store_option,
)
from policyproof_runtime.corpus import Corpus, open_corpus
from policyproof_runtime.errors import QueryError
from policyproof_runtime.objects import ObjectStore

_PATH = click.Path(path_type=Path)


@click.command("sufficiency")
@corpus_option
@click.option(
    "--batch",
    metavar="IN",
    required=True,
    help='JSON lines {"id", "question", "passage_ids"}, or - for stdin.',
)
@click.option("--out", metavar="OUT", help="Results to a file. [default: JSON lines on stdout]")
@store_option
def sufficiency_command(corpus: str | None, batch: str, out: str | None, store: str | None) -> None:
    """Say whether given passages suffice to answer a question, and what is missing.

    Lines out: {"id", "probability", "sufficient", "reason_codes", "missing"}.
    """
    loaded = _load(corpus, store)

    def assess(question: cli_batch.Question) -> cli_batch.Result:
        ids = question.values.get("passage_ids")
        if not isinstance(ids, list) or not all(isinstance(name, str) for name in ids):
            raise QueryError("'passage_ids' must be a list of passage ids", found=ids)
        return loaded.assess(question.text, ids)

    count = cli_batch.run(batch, out, assess, lambda result: [result])
    note(f"{count} case{'' if count == 1 else 's'} done" + (f": {out}" if out else ""))


@click.group("annotate")
def annotate_command() -> None:
    """Let people label evidence cases, and bring their labels in."""


@annotate_command.command("export")
@click.argument("folder", type=_PATH)
@click.option("--first", metavar="N", type=click.IntRange(1), help="Only N cases, ever the same.")
@corpus_option
@store_option
def export_command(folder: Path, first: int | None, corpus: str | None, store: str | None) -> None:
    """Write the blinded batch to FOLDER: batch.jsonl, and batch.html to print."""
    loaded = _load(corpus, store)
    annotation = pipeline("evaluation.annotation")
    batch = annotation.export_batch(annotation.released_cases(loaded), loaded.passages)[:first]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise QueryError(f"cannot make the folder {folder}: {error.strerror or error}") from error
    _write(folder / "batch.jsonl", batch)
    cli_batch.write_file(folder / "batch.html", annotation.printable_page(batch).encode())
    note(f"{len(batch)} cases: {folder / 'batch.jsonl'}, {folder / 'batch.html'}")


@annotate_command.command("import")
@click.argument("submissions", nargs=-1, required=True, type=_PATH)
@click.option("--decisions", type=_PATH, help="Labels of the adjudicator for disputed cases.")
@click.option("--out", type=_PATH, required=True, help="Gold labels, as <corpus>.gold.jsonl.")
@corpus_option
@store_option
def import_command(
    submissions: tuple[Path, ...],
    decisions: Path | None,
    out: Path,
    corpus: str | None,
    store: str | None,
) -> None:
    """Check SUBMISSIONS, one file per person, and write the labels people agree on.

    Prints raw agreement, Cohen's kappa and the disputed cases of every pair of people. Beside
    manifests/cases/<corpus>.yaml the written file replaces derived labels in the next build.
    """
    annotation = pipeline("evaluation.annotation")
    cases = annotation.released_cases(_load(corpus, store))
    cli_batch.check_target(out)
    files = annotation.read_submissions(submissions, cases)
    for pair in annotation.agreements(files):
        click.echo(json.dumps(pair, ensure_ascii=False))
    decided = annotation.read_labels(decisions, cases, annotation.Gold) if decisions else []
    gold = annotation.adjudicate([said for file in files for said in file], decided)
    _write(out, [label.model_dump(mode="json") for label in gold])
    note(f"{len(gold)} of {len(cases)} cases have a gold label: {out}")


def _load(corpus: str | None, store: str | None) -> Corpus:
    objects = ObjectStore(store)
    return open_corpus(named_corpus(objects, corpus), objects)


def _write(path: Path, rows: list[dict[str, object]]) -> None:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    cli_batch.write_file(path, "".join(lines).encode())
