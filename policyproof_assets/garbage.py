"""Garbage collection: which files of a store nothing can need any more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from policyproof_assets.store import Store, decode_memo
from policyproof_runtime import objects as names
from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import PolicyProofError
from policyproof_runtime.objects import decode, decode_snapshot, is_snapshot, object_name
from policyproof_runtime.storage import TEMPORARY, Entry

#: Longer than any build: what a running build has written or reused is younger than this.
GRACE_HOURS = 24.0
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_REF = re.compile(rf"{names.REFS}/(?P<corpus>[^/]+)/(?P<name>[^/]+)")
#: What a program of the system leaves in folders, as .DS_Store; the store writes no such name.
_HIDDEN = re.compile(rf"/\.(?!{re.escape(TEMPORARY[1:])})")


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
    release, ref or snapshot cannot be read, since what it needs is then unknown. Hidden
    files, and what lies among releases and refs and is neither, are left alone.

    A build that runs meanwhile loses nothing: it marks what it reuses as new. Only between the last
    look at a file's age and its removal, one system call later, can it reuse what goes; it then
    fails with a missing object and succeeds when repeated.
    """
    # 1. List before looking for roots: what is written later is not in the list.
    files = {
        kind: [e for e in store.storage.files(kind) if not _HIDDEN.search(e.name)]
        for kind in names.FOLDERS
    }
    # 2. Everything a root reaches.
    kept = {object_name(digest) for digest in _reachable(store, files)}
    # 3. Memo entries go before their objects, so that none is left without.
    grace = grace_hours * 3600
    whole = [e for e in files[names.OBJECTS] if not e.temporary]
    dead = [e for e in whole if e.name not in kept and e.age >= grace]
    left = {e.name for e in whole}.difference(e.name for e in dead)
    memos = [e for e in files[names.MEMO] if not e.temporary and e.age >= grace]
    garbage = [Garbage(e.name, e.size, why) for e in memos if (why := _fault(store, e, left))]
    garbage += [Garbage(e.name, e.size, "reached by nothing") for e in dead]
    garbage += [
        Garbage(e.name, e.size, "left by a writer that did not finish")
        for entries in files.values()
        for e in entries
        if e.temporary and e.age >= grace
    ]
    for item in garbage if delete else ():
        entry = store.storage.find(item.name)
        if entry is not None and entry.age >= grace:
            store.storage.delete(item.name)
    return garbage


def _reachable(store: Store, files: dict[str, list[Entry]]) -> Iterator[Digest]:
    for root in sorted(set(_roots(store, files))):
        yield root
        if store.has(root):
            data = store.read(root)
            if is_snapshot(decode(data, root)):
                yield from (part.object for part in decode_snapshot(data, root).parts)


def _roots(store: Store, files: dict[str, list[Entry]]) -> Iterator[Digest]:
    """Yield every digest in a release or ref; those that are no objects do no harm."""
    for entry in (e for e in files[names.RELEASES] if not e.temporary):
        if found := names.RELEASE_FILE.fullmatch(entry.name):
            # Releases of every schema write digests alike, so that old ones keep their objects.
            text = store.release(found["corpus"], Digest(found["digest"])).decode()
            yield from map(Digest, _DIGEST.findall(text))
    for entry in (e for e in files[names.REFS] if not e.temporary):
        found = _REF.fullmatch(entry.name)
        if found and (digest := store.ref(found["corpus"], found["name"])):
            yield digest


def _fault(store: Store, memo: Entry, objects: set[str]) -> str | None:
    try:
        key = Digest(PurePath(memo.name).name)
        part = decode_memo(key, store.storage.read(memo.name), memo.name)
    except PolicyProofError:
        return "damaged"
    return None if object_name(part.object) in objects else "its object is gone or goes"
