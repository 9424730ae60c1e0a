"""Options and small helpers that several commands share."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import PolicyProofError, ReleaseError
from policyproof_runtime.objects import ObjectStore

_SHORTEST_PREFIX = 6  # hex digits of a digest

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
    corpora = [corpus] if corpus is not None else store.corpora()
    if len(corpora) == 1:
        return corpora[0]
    if corpora:
        found, action = ", ".join(corpora), "choose: --corpus NAME"
        raise ReleaseError("the store holds several corpora", found=found, action=action)
    action = "run: policyproof build CORPUS, or: policyproof unpack FILE"
    raise ReleaseError(f"no release in {store.storage.label}", action=action)


def find_release(store: ObjectStore, target: str) -> tuple[str, Digest | None]:
    """Return the corpus and digest of a corpus, a release, or the first digits of its digest.

    No digest means the newest release of the corpus; whether there is one is not looked at. Raises
    ReleaseError if several releases begin so, or if ``target`` is a path.
    """
    if "/" in target:
        raise ReleaseError(f"{target} names no release", expected="a corpus or a digest")
    corpora, start = store.corpora(), target.removeprefix("sha256:")
    if target in corpora or len(start) < _SHORTEST_PREFIX:
        return target, None
    found = [(c, d) for c in corpora for d in store.releases(c) if d.hex.startswith(start)]
    if len(found) > 1:
        known = ", ".join(f"{digest} of {corpus}" for corpus, digest in found)
        raise ReleaseError(f"several releases begin with {target}", found=known)
    return found[0] if found else (target, None)


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
def progress_line(what: str) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function (item, done, total) that shows one line on stderr, if that is a terminal."""

    def write(line: str) -> None:
        if sys.stderr.isatty():
            width = shutil.get_terminal_size().columns - 1
            click.echo(f"\r\033[K{line[:width]}", err=True, nl=False)

    try:
        yield lambda item, done, total: write(f"{what}: {done}/{total} {item}")
    finally:
        write("")
