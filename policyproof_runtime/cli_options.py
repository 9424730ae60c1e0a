"""Options and small helpers that several commands share."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from policyproof_runtime.errors import PolicyProofError, ReleaseError
from policyproof_runtime.objects import ObjectStore

# Called with an item, how many are done and how many there are.
Progress = Callable[[str, int, int], None]

store_option = click.option(
    "--store",
    metavar="ROOT",
    help="Path or URI of the store. [default: $POLICYPROOF_STORE, else ./artifacts]",
)
corpus_option = click.option(
    "--corpus", "-c", metavar="CORPUS", help="Corpus to use. [default: the only one in the store]"
)


def note(message: str) -> None:
    """Say something on stderr."""
    click.echo(message, err=True)


def named_corpus(store: ObjectStore, corpus: str | None) -> str:
    """Return ``corpus``, or the only one of the store; raises ReleaseError if there are more."""
    if corpus is not None:
        return corpus
    corpora = store.corpora()
    if len(corpora) == 1:
        return corpora[0]
    if not corpora:
        raise ReleaseError(
            f"no release in {store.storage.path('').rstrip('/')}",
            action="run: policyproof build CORPUS, or: policyproof unpack FILE",
        )
    raise ReleaseError(
        "the store holds several corpora", found=", ".join(corpora), action="choose: --corpus NAME"
    )


def usage(message: str) -> click.UsageError:
    """Return the error of a command line that makes no sense (exit code 2)."""
    return click.UsageError(message, ctx=click.get_current_context(silent=True))


def pipeline(module: str) -> Any:
    """Import a module of the pipeline; raises PolicyProofError if the extra is not installed.

    By name, since the runtime does without the pipeline, at run time and for type checkers alike.
    """
    try:
        return import_module(f"policyproof_assets.{module}")
    except ModuleNotFoundError as error:
        raise PolicyProofError(
            "this command needs the pipeline, which is not installed",
            found=str(error),
            action="pip install 'policyproof[build]'",
        ) from error


@contextmanager
def progress_line(what: str) -> Iterator[Progress]:
    """Yield a function (item, done, total) that shows one line on stderr, if that is a terminal."""
    terminal = sys.stderr.isatty()

    def show(item: str, done: int, total: int) -> None:
        if terminal:
            line = f"{what}: {done}/{total} {item}"
            click.echo(
                f"\r\033[K{line[: shutil.get_terminal_size().columns - 1]}", err=True, nl=False
            )

    try:
        yield show
    finally:
        if terminal:
            click.echo("\r\033[K", err=True, nl=False)
