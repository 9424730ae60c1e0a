"""``policyproof verify``, ``pack``, ``unpack`` and ``gc``: the store as a whole."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from policyproof_runtime.bundle import pack, unpack
from policyproof_runtime.cli_options import (
    corpus_option,
    named_corpus,
    note,
    pipeline,
    progress_line,
    store_option,
)
from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import PolicyProofError, ReleaseError
from policyproof_runtime.objects import RELEASE_REF, ObjectStore
from policyproof_runtime.release import Release
from policyproof_runtime.verify import verify_release


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
        with progress_line(f"verify {corpus}") as progress:
            verify_release(objects, corpus, digest, progress=progress)
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
    _say("packed", pack(objects, name, path, digest))
    note(f"written: {path}")


@click.command("unpack")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--keep-accepted", is_flag=True, help="Do not make it the release used by default.")
@store_option
def unpack_command(file: Path, keep_accepted: bool, store: str | None) -> None:  # noqa: FBT001
    """Verify a packed release and bring it into the store."""
    _say("unpacked", unpack(file, ObjectStore(store), accept=not keep_accepted))


@click.command("gc")
@click.option("--delete", is_flag=True, help="Remove the files; without it they are only listed.")
@click.option("--hours", type=click.FloatRange(min=0), help="Leave alone what is younger.")
@store_option
def gc_command(delete: bool, hours: float | None, store: str | None) -> None:  # noqa: FBT001
    """List or remove what no release, ref or memo entry in use needs."""
    collector = pipeline("garbage")
    grace = collector.GRACE_HOURS if hours is None else hours
    writable = pipeline("store").Store(store)
    garbage = collector.collect_garbage(writable, grace_hours=grace, delete=delete)
    for item in garbage:
        click.echo(f"{item.name}\t{item.size}\t{item.reason}")
    for reason, count in sorted(Counter(item.reason for item in garbage).items()):
        note(f"{count} files: {reason}")
    size = sum(item.size for item in garbage)
    note(f"{len(garbage)} files, {size:,} bytes {'removed' if delete else 'could go (--delete)'}")


def find_release(store: ObjectStore, target: str) -> tuple[str, Digest | None]:
    """Return the corpus and digest that ``target`` names; no digest means the accepted release.

    Raises ReleaseError if the store has neither such a corpus nor such a release.
    """
    try:
        digest = Digest.parse(target)
    except PolicyProofError:
        return target, None
    for corpus in store.corpora():
        if digest in store.releases(corpus):
            return corpus, digest
    raise ReleaseError(f"the store has no release {digest}", action="policyproof verify lists them")


def _say(verb: str, release: Release) -> None:
    click.echo(f"{verb} {release.corpus} {release.digest}")
