"""A release with all its objects as one file, for a machine that has only the runtime.

A bundle is an uncompressed ustar archive (its objects are compressed already) of a fixed form: the
release first, then its objects in the order of their digests; owner, group and time are zero. So a
release gives the same bytes everywhere, and a reader can refuse whatever it would not write itself:
links, absolute or odd paths, extensions, duplicates and anything behind the last member.
"""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
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
_RELEASE = re.compile(r"releases/([A-Za-z0-9][A-Za-z0-9._-]*)/([0-9a-f]{64})\.json")
_OBJECT = re.compile(r"objects/[0-9a-f]{2}/([0-9a-f]{64})\.parquet")
_ANEW = "pack the release again, or copy the file again"


@dataclass(frozen=True)
class _Member:
    """A file in a bundle: ``start`` and ``size`` are bytes."""

    name: str
    start: int
    size: int


def pack(store: ObjectStore, corpus: str, path: Path, digest: Digest | None = None) -> Release:
    """Write a release of ``corpus``, by default the accepted one, with its objects to ``path``.

    Every object is verified on the way. The file replaces one that is there, in one step. Raises
    ReleaseError for an unknown release, StoreError for a bad object or a full disk.
    """
    release = load_release(store, corpus, digest)
    data = release.to_json()
    objects = sorted(objects_of(release, store.read))
    sizes = [entry.size for o in objects if (entry := store.storage.find(object_name(o)))]
    with durable(path.absolute(), need=_total([len(data), *sizes])) as file:
        written = [_write(file, release_name(corpus, Digest.of(data)), data)]
        written += [_write(file, object_name(o), store.read(o)) for o in objects]
        file.write(bytes(_total(written) - file.tell()))
    return release


def unpack(path: Path, store: ObjectStore, *, accept: bool = True) -> Release:
    """Bring the release in the bundle at ``path`` into ``store``; return it.

    Nothing is written before the whole bundle is verified, and the release appears after all its
    objects. With ``accept`` it becomes the release that ``load`` takes by default. Raises
    ReleaseError if the bundle is damaged or holds anything but one release with all its objects.
    """
    try:
        with path.open("rb") as file:
            # 1. The archive has the form `pack` gives it, to the last byte.
            members = {member.name: member for member in _members(file, path)}
            # 2. Every member's bytes match its name.
            digests = [_verify(file, member, path) for member in members.values()]
            # 3. The release is valid and its objects are exactly the members.
            release, data = _release(file, next(iter(members.values())), path)
            _check_complete(release, file, members, path)
            # 4. Objects first, then the release, then the name that points to it.
            for member, digest in zip(members.values(), digests, strict=True):
                if member.name == object_name(digest):
                    store.storage.create(member.name, _bytes(file, member))
    except OSError as error:
        raise ReleaseError(f"cannot read the bundle {path}: {error.strerror or error}") from error
    store.storage.create(release_name(release.corpus, release.digest), data)
    if accept:
        store.storage.replace(ref_name(release.corpus, RELEASE_REF), f"{release.digest}\n".encode())
    return release


def _write(file: BinaryIO, name: str, data: bytes) -> int:
    file.write(_header(name, len(data)))
    file.write(data)
    file.write(bytes(-len(data) % _BLOCK))
    return len(data)


def _header(name: str, size: int) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o444
    return member.tobuf(tarfile.USTAR_FORMAT)


def _total(sizes: list[int]) -> int:
    """Return the size of a bundle whose members have these sizes: two empty blocks end it."""
    used = sum(_BLOCK + size + -size % _BLOCK for size in sizes) + 2 * _BLOCK
    return used + -used % tarfile.RECORDSIZE


def _members(file: BinaryIO, path: Path) -> Iterator[_Member]:
    end = file.seek(0, io.SEEK_END)
    offset = 0
    names: set[str] = set()
    sizes: list[int] = []
    while (block := _at(file, offset, _BLOCK)).strip(b"\0"):
        member = _member(block, offset, path)
        if member.start + member.size > end:
            raise _damaged(path, f"is cut short in {member.name}")
        if member.name in names or bool(names) == bool(_RELEASE.fullmatch(member.name)):
            raise _damaged(path, f"has a member in the wrong place: {member.name}")
        names.add(member.name)
        sizes.append(member.size)
        yield member
        padding = -member.size % _BLOCK
        if any(_at(file, member.start + member.size, padding)):
            raise _damaged(path, f"has something hidden behind {member.name}")
        offset = member.start + member.size + padding
    if not names:
        raise _damaged(path, "is not a PolicyProof bundle")
    if end != _total(sizes) or any(_at(file, offset, end - offset)):
        raise _damaged(path, "is cut short, or something follows its last member")


def _member(header: bytes, offset: int, path: Path) -> _Member:
    """Read a header; the only accepted one is, byte for byte, what `pack` writes."""
    if len(header) < _BLOCK:
        raise _damaged(path, "is not a PolicyProof bundle" if offset == 0 else "is cut short")
    name = header[:100].rstrip(b"\0").decode("ascii", "replace")
    digits = header[124:135]
    known = _RELEASE.fullmatch(name) or _OBJECT.fullmatch(name)
    size = int(digits, 8) if re.fullmatch(rb"[0-7]{11}", digits) else -1
    if not known or size < 0 or header != _header(name, size):
        what = "is not a PolicyProof bundle" if offset == 0 else "has an unknown member"
        raise _damaged(path, f"{what}: {name!r}")
    return _Member(name, offset + _BLOCK, size)


def _verify(file: BinaryIO, member: _Member, path: Path) -> Digest:
    expected = Digest(Path(member.name).stem)
    found = Digest.of(_bytes(file, member))
    if found != expected:
        raise _damaged(path, f"has a corrupt member: {member.name}", expected, found)
    return found


def _release(file: BinaryIO, member: _Member, path: Path) -> tuple[Release, bytes]:
    data = _bytes(file, member)
    release = Release.from_json(data)
    name = release_name(release.corpus, release.digest)
    if name != member.name:
        raise _damaged(path, "names another corpus than its release", name, member.name)
    return release, data


def _check_complete(
    release: Release, file: BinaryIO, members: dict[str, _Member], path: Path
) -> None:
    def read(digest: Digest) -> bytes:
        member = members.get(object_name(digest))
        if member is None:
            raise _damaged(path, f"lacks the object {digest}")
        return _bytes(file, member)

    try:
        needed = {object_name(digest) for digest in objects_of(release, read)}
    except ReleaseError:
        raise
    except PolicyProofError as error:
        raise _damaged(path, f"has a phase that cannot be read: {error.message}") from error
    present = {name for name in members if _OBJECT.fullmatch(name)}
    for name in sorted(needed ^ present):
        what = "lacks the object" if name in needed else "has a member its release does not name:"
        raise _damaged(path, f"{what} {name}")


def _bytes(file: BinaryIO, member: _Member) -> bytes:
    return _at(file, member.start, member.size)


def _at(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(size)


def _damaged(path: Path, what: str, expected: object = None, found: object = None) -> ReleaseError:
    return ReleaseError(f"the bundle {path} {what}", expected=expected, found=found, action=_ANEW)
