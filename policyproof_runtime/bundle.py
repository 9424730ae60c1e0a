"""A release with all its objects as one file, for a machine that has only the runtime.

A bundle is an uncompressed ustar archive (its objects are compressed already) of a fixed form: the
release first, then its objects in the order of their digests; owner, group and time are zero. So a
release gives the same bytes everywhere, and a reader refuses whatever it would not write itself:
links, absolute or odd paths, extensions, duplicates and anything behind the last member.
"""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import PolicyProofError, ReleaseError
from policyproof_runtime.objects import (
    RELEASE_REF,
    ObjectStore,
    object_name,
    ref_name,
    release_name,
)
from policyproof_runtime.release import Release, load_release, objects_of
from policyproof_runtime.storage import durable

_BLOCK = tarfile.BLOCKSIZE
_SIZE = re.compile(rb"[0-7]{11}")


def pack(store: ObjectStore, corpus: str, path: Path, digest: Digest | None = None) -> Release:
    """Write a release of ``corpus``, by default the accepted one, with its objects to ``path``.

    Every object is verified on the way. The file replaces one that is there, in one step. Raises
    ReleaseError for an unknown release, StoreError for a bad object or a full disk.
    """
    release = load_release(store, corpus, digest)
    objects = sorted(objects_of(release, store.read))
    need = sum(entry.size for o in objects if (entry := store.storage.find(object_name(o))))
    with durable(path.absolute(), need=need) as file:
        file.writelines(_chunks(release, objects, store.read))
    return release


def unpack(path: Path, store: ObjectStore, *, accept: bool = True) -> Release:
    """Bring the release in the bundle at ``path`` into ``store``; return it.

    1. The first member is a valid release, and each object it needs is there and has its digest.
    2. The file is to the byte what `pack` writes for that release.
    3. Objects are stored first, then the release, then (with ``accept``) the name that makes it
       the one that ``load`` takes by default.

    Nothing is written before 3. Raises ReleaseError if the bundle is damaged in any way.
    """
    try:
        with path.open("rb") as file:
            # 1.
            release, objects, read = _contents(file)
            # 2.
            store.storage.find(release_name(release.corpus, release.digest))  # refuses odd names
            expected = hashlib.sha256()
            for chunk in _chunks(release, objects, read):
                expected.update(chunk)
            file.seek(0)
            if hashlib.file_digest(file, "sha256").digest() != expected.digest():
                raise ReleaseError("it holds something else than its release and the objects of it")
            # 3.
            for digest in objects:
                store.storage.create(object_name(digest), read(digest))
    except (OSError, ValueError) as error:
        raise ReleaseError(f"cannot read the bundle {path}: {error}") from error
    except ReleaseError as error:
        error.message = f"the bundle {path} cannot be used: {error.message}"
        error.action = error.action or "pack the release again, or copy the file again"
        raise
    store.storage.create(release_name(release.corpus, release.digest), release.to_json())
    if accept:
        store.storage.replace(ref_name(release.corpus, RELEASE_REF), f"{release.digest}\n".encode())
    return release


def _chunks(
    release: Release, objects: Sequence[Digest], read: Callable[[Digest], bytes]
) -> Iterator[bytes]:
    """Yield the bytes of a bundle."""
    chunk = _member(release_name(release.corpus, release.digest), release.to_json())
    size = len(chunk)
    yield chunk
    for digest in objects:
        chunk = _member(object_name(digest), read(digest))
        size += len(chunk)
        yield chunk
    # Two empty blocks end an archive, zeros fill its last record.
    yield bytes(2 * _BLOCK + -(size + 2 * _BLOCK) % tarfile.RECORDSIZE)


def _member(name: str, data: bytes) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), 0o444
    return info.tobuf(tarfile.USTAR_FORMAT) + data + bytes(-len(data) % _BLOCK)


def _contents(file: BinaryIO) -> tuple[Release, list[Digest], Callable[[Digest], bytes]]:
    """Return the release, its objects, and what reads the verified bytes of one."""
    places = dict(_places(file))
    if not places:
        raise ReleaseError("it is not a PolicyProof bundle")

    def read(digest: Digest) -> bytes:
        name = object_name(digest)
        data = _at(file, *places.get(name, (0, 0)))
        if Digest.of(data) != digest:
            what = "has a corrupt member" if name in places else "lacks the object"
            raise ReleaseError(f"it {what}: {name}", expected=digest)
        return data

    release = Release.from_json(_at(file, *next(iter(places.values()))))
    try:
        return release, sorted(objects_of(release, read)), read
    except ReleaseError:
        raise
    except PolicyProofError as error:
        raise ReleaseError(f"it has a phase that cannot be read: {error.message}") from error


def _places(file: BinaryIO) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the name, start and size of what look like members; the whole is verified later."""
    start, end = _BLOCK, file.seek(0, io.SEEK_END)
    while _SIZE.fullmatch((header := _at(file, start - _BLOCK, _BLOCK))[124:135]):
        size = int(header[124:135], 8)
        if start + size > end:
            raise ReleaseError("it is cut short")
        yield header[:100].rstrip(b"\0").decode("ascii", "replace"), (start, size)
        start += size + -size % _BLOCK + _BLOCK


def _at(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(size)
