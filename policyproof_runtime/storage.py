"""Files below one root, in a folder or in a bucket, that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.fs

from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import StoreError

TEMPORARY = ".tmp-"
# A file in use is marked as used when its last mark is older than this. Garbage collection has to
# wait longer than this plus the longest build; its default is a day.
FRESH_SECONDS = 3600
READ_ONLY = 0o444

_NAME = re.compile(rf"(?:[A-Za-z0-9][\w.-]*/)*(?:{re.escape(TEMPORARY)}|[A-Za-z0-9])[\w.-]*", re.A)
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True)
class Entry:
    """A file of the store: its name below the root, size in bytes and age in seconds."""

    name: str
    size: int
    age: float

    @property
    def temporary(self) -> bool:
        """Whether a writer that has not finished, or was killed, left the file."""
        return f"/{TEMPORARY}" in self.name


class Storage:
    """The files below a root: a path, or a URI that ``pyarrow.fs`` understands (s3, gs, abfs).

    Names are relative, with ``/``. Without a root, the environment variable POLICYPROOF_STORE
    decides, else ``./artifacts``. Failures of the system are StoreErrors, except that reading a
    file that is not there raises FileNotFoundError.
    """

    def __init__(self, root: str | Path | None = None) -> None:
        given = str(root or os.environ.get("POLICYPROOF_STORE") or "artifacts")
        self._fs, self._base, self.label = _resolve(given)
        self.local = isinstance(self._fs, pyarrow.fs.LocalFileSystem)
        # Absolute, so that a worker process with another working directory opens the same store.
        self.root = self.label if self.local else given

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.root,))

    def path(self, name: str) -> str:
        """Return where ``name`` lies, for people; credentials of a URI are left out."""
        return f"{self.label}/{name}"

    def read(self, name: str) -> bytes:
        """Return the bytes of a file."""
        with _explained("read", self.path(name)), self._fs.open_input_file(self._at(name)) as file:
            return bytes(file.read())

    def find(self, name: str) -> Entry | None:
        """Return the size and age of a file; None if it is not there."""
        with _explained("look for", self.path(name)):
            info = self._fs.get_file_info(self._at(name))
        return _entry(name, info) if info.is_file else None

    def files(self, folder: str) -> list[Entry]:
        """Return all files below ``folder``, sorted by name, temporary ones included."""
        selector = pyarrow.fs.FileSelector(self._at(folder), recursive=True, allow_not_found=True)
        with _explained("list", self.path(folder)):
            infos = self._fs.get_file_info(selector)
        start = len(self._base) + 1
        entries = [_entry(info.path[start:], info) for info in infos if info.is_file]
        return sorted(entries, key=lambda entry: entry.name)

    def create(self, name: str, data: bytes) -> None:
        """Write a read-only file, or mark the one that is there as used.

        Raises StoreError if the file is there with other bytes: it is never rewritten.
        """
        if self.find(name) is None:
            self.replace(name, data, READ_ONLY)
            return
        there = self.read(name)
        if there != data:
            raise StoreError(
                f"{self.path(name)} is there with other bytes, and files of this kind never change",
                expected=Digest.of(data),
                found=Digest.of(there),
                action="remove it and repeat the command",
            )
        self.freshen(name)

    def freshen(self, name: str) -> None:
        """Mark a file as used now, which keeps it from garbage collection."""
        entry = self.find(name)
        if entry is None or entry.age < FRESH_SECONDS:
            return
        if self.local:
            with suppress(PermissionError):  # another user's file: rewritten below
                os.utime(self._at(name))
                return
        self.replace(name, self.read(name), READ_ONLY)

    def delete(self, name: str) -> None:
        """Delete a file; one that is not there is deleted already."""
        with suppress(FileNotFoundError), _explained("delete", self.path(name)):
            self._fs.delete_file(self._at(name))

    def _at(self, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise StoreError("not a name of the store", found=repr(name))
        return f"{self._base}/{name}"

    def replace(self, name: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file, or put new bytes in its place in one step."""
        if self.local:
            with durable(Path(self._at(name)), mode=mode, need=len(data)) as file:
                file.write(data)
            return
        # A bucket shows an object when its upload is complete, and the old one until then.
        with _explained("write", self.path(name)), self._fs.open_output_stream(self._at(name)) as s:
            s.write(data)


@contextmanager
def durable(path: Path, *, mode: int = 0o644, need: int = 0) -> Iterator[BinaryIO]:
    """Yield a file that becomes ``path`` when the block ends well, and leaves nothing otherwise.

    The file and its folder are on disk when the block has ended. ``need`` is the size in bytes that
    the error names when the disk is full, 0 where it is not known. Raises StoreError.
    """
    temporary: Path | None = None
    try:
        _make_folder(path.parent)
        handle, text = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)
        temporary = Path(text)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)
        temporary.replace(path)
        _sync_folder(path.parent)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _cannot_write(error, path, need) from error
        raise


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _cannot_write(error: OSError, path: Path, need: int) -> StoreError:
    if error.errno not in _NO_ROOM:
        return StoreError(f"cannot write {path}: {error.strerror or error}")
    # A file can be too large for the system, or for a quota of it, where the device has room.
    free = None if error.errno == errno.EFBIG else shutil.disk_usage(path.parent).free
    return StoreError(
        f"no room in {path.parent} to write {path.name}: {error.strerror}",
        expected=f"{need:,} bytes" if need else None,
        found=None if free is None else f"{free:,} bytes free on the device",
        action="free space (or raise the quota) and repeat the command; nothing is half-written",
    )


@contextmanager
def _explained(verb: str, path: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"cannot {verb} {path}: {error}") from error


def _resolve(root: str) -> tuple[Any, str, str]:
    """Return the file system, the path of the root in it, and the root as people should see it."""
    if "://" not in root:
        path = Path(root).expanduser().absolute().as_posix()
        return pyarrow.fs.LocalFileSystem(), path, path
    scheme = root.partition("://")[0]
    try:
        fs, path = pyarrow.fs.FileSystem.from_uri(root)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise StoreError(f"cannot open the {scheme} store: {error}") from error
    path = path.rstrip("/")
    return fs, path, path if scheme == "file" else f"{scheme}://{path}"


def _entry(name: str, info: Any) -> Entry:
    # Time decides only what garbage collection leaves alone; no digest depends on it.
    return Entry(name, info.size, time.time() - (info.mtime_ns or 0) / 1e9)
