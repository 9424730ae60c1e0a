"""Garbage collection: which files of a store nothing can need any more."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from policyproof_assets.store import Store, decode_memo
from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import StoreError
from policyproof_runtime.objects import (
    MEMO,
    OBJECTS,
    REFS,
    RELEASES,
    SOURCES,
    decode,
    decode_snapshot,
    is_snapshot,
    object_name,
)
from policyproof_runtime.storage import Entry

#: Longer than any build: what a running build has written or reused is younger than this.
GRACE_HOURS = 24.0
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_RELEASE_FILE = re.compile(rf"{RELEASES}/([^/]+)/([0-9a-f]{{64}})\.json")
_MEMO_FILE = re.compile(rf"{MEMO}/([0-9a-f]{{64}})")


@dataclass(frozen=True)
class Garbage:
    """A file that can go, its size in bytes, and why."""

    name: str
    size: int
    reason: str


def collect_garbage(
    store: Store, *, grace_hours: float = GRACE_HOURS, delete: bool = False
) -> list[Garbage]:
    """List, and with ``delete`` remove, what no release, ref or memo entry in use needs.

    Kept are: releases and all they name, of whatever schema; what refs name; every file younger
    than ``grace_hours`` (0 only where nothing else uses the store); memo entries whose object is
    kept; source documents, which may not be had again. Raises StoreError, and removes nothing, if a
    release, ref or snapshot cannot be read, since what it needs is then unknown.

    A build that runs meanwhile loses nothing: it marks what it reuses as new. Only between the last
    look at a file's age and its removal, one system call later, can it reuse what goes; it then
    fails with a missing object and succeeds when repeated.
    """
    # 1. List before looking for roots: what is written later is not in the list.
    objects = store.storage.files(OBJECTS)
    memos = store.storage.files(MEMO)
    # 2. Everything a root reaches.
    kept = {object_name(digest) for digest in _reachable(store)}
    # 3. Memo entries go before their objects, so that none is left without.
    grace = grace_hours * 3600
    dead = [e for e in objects if not e.temporary and e.name not in kept and e.age >= grace]
    left = {e.name for e in objects if not e.temporary} - {e.name for e in dead}
    garbage = [*_dead_memos(store, memos, left, grace), *_listed(dead, "reached by nothing")]
    others = [entry for f in (REFS, RELEASES, SOURCES) for entry in store.storage.files(f)]
    unfinished = [e for e in (*objects, *memos, *others) if e.temporary and e.age >= grace]
    garbage += _listed(unfinished, "left by a writer that did not finish")
    if delete:
        _delete(store, garbage, grace)
    return garbage


def _reachable(store: Store) -> Iterator[Digest]:
    for root in sorted(set(_roots(store))):
        yield root
        if store.has(root):
            data = store.read(root)
            if is_snapshot(decode(data, root)):
                yield from (part.object for part in decode_snapshot(data, root).parts)


def _roots(store: Store) -> Iterator[Digest]:
    """Yield every digest in a release or ref; those that are no objects do no harm."""
    for entry in store.storage.files(RELEASES):
        if match := _RELEASE_FILE.fullmatch(entry.name):
            data = store.release(match[1], Digest(match[2]))
            # Releases of every schema write digests alike, so that old ones keep their objects.
            yield from map(Digest, _DIGEST.findall(json.dumps(json.loads(data))))
    for entry in store.storage.files(REFS):
        if not entry.temporary:
            digest = store.ref(*entry.name.removeprefix(f"{REFS}/").split("/", 1))
            if digest is not None:
                yield digest


def _dead_memos(
    store: Store, memos: list[Entry], left: set[str], grace: float
) -> Iterator[Garbage]:
    for entry in memos:
        match = _MEMO_FILE.fullmatch(entry.name)
        if match is None or entry.age < grace:
            continue
        try:
            part = decode_memo(Digest(match[1]), store.storage.read(entry.name), entry.name)
        except StoreError:
            yield Garbage(entry.name, entry.size, "damaged")
        else:
            if object_name(part.object) not in left:
                yield Garbage(entry.name, entry.size, "its object is gone or goes")


def _listed(entries: list[Entry], reason: str) -> list[Garbage]:
    return [Garbage(entry.name, entry.size, reason) for entry in entries]


def _delete(store: Store, garbage: list[Garbage], grace: float) -> None:
    for item in garbage:
        entry = store.storage.find(item.name)
        if entry is not None and entry.age >= grace:
            store.storage.delete(item.name)
