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
    garbage += _listed(_unfinished(store, grace), "left by a writer that did not finish")
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
        if not entry.temporary:
            _, corpus, file = entry.name.split("/")
            data = store.release(corpus, Digest.parse(file.removesuffix(".json")))
            # Releases of every schema write digests alike, so that old ones keep their objects.
            yield from map(Digest, _DIGEST.findall(json.dumps(json.loads(data))))
    for entry in store.storage.files(REFS):
        if not entry.temporary:
            _, corpus, name = entry.name.split("/")
            digest = store.ref(corpus, name)
            if digest is not None:
                yield digest


def _dead_memos(
    store: Store, memos: list[Entry], left: set[str], grace: float
) -> Iterator[Garbage]:
    for entry in memos:
        if entry.temporary or entry.age < grace:
            continue
        key = Digest.parse(entry.name.rpartition("/")[2])
        try:
            part = decode_memo(key, store.storage.read(entry.name), entry.name)
        except StoreError:
            yield Garbage(entry.name, entry.size, "damaged")
        else:
            if object_name(part.object) not in left:
                yield Garbage(entry.name, entry.size, "its object is gone or goes")


def _unfinished(store: Store, grace: float) -> list[Entry]:
    entries = [e for f in (OBJECTS, MEMO, REFS, RELEASES, SOURCES) for e in store.storage.files(f)]
    return [entry for entry in entries if entry.temporary and entry.age >= grace]


def _listed(entries: list[Entry], reason: str) -> list[Garbage]:
    return [Garbage(entry.name, entry.size, reason) for entry in entries]


def _delete(store: Store, garbage: list[Garbage], grace: float) -> None:
    for item in garbage:
        entry = store.storage.find(item.name)
        if entry is not None and entry.age >= grace:
            store.storage.delete(item.name)
