"""The write side of the store: objects, phases, the memo, refs, sources and releases."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from policyproof_assets.errors import SourceError
from policyproof_runtime import objects
from policyproof_runtime.digest import Digest, canonical_json
from policyproof_runtime.errors import StoreError
from policyproof_runtime.objects import ObjectStore, Part, Snapshot, object_name
from policyproof_runtime.records import RecordError, from_json
from policyproof_runtime.release import Release, objects_of
from policyproof_runtime.storage import Storage

# Everything that shapes the bytes of an object is fixed here, but for pyarrow's own version, which
# Parquet records in the file. Statistics would repeat the longest texts; nothing filters on them.
_WRITER = {
    "version": "2.6",
    "data_page_version": "1.0",
    "compression": "zstd",
    "compression_level": 9,
    "use_dictionary": True,
    "write_statistics": False,
    "row_group_size": 1 << 16,
    "data_page_size": 1 << 20,
    "store_schema": True,
}


class Store(ObjectStore):
    """Reads and writes a store. Two writers of the same rows write the same file, so both succeed.

    Raises StoreError for a full disk, and for a file that is there with other bytes.
    """

    @cached_property
    def memo(self) -> Memo:
        """What earlier builds made from which inputs."""
        return Memo(self.storage)

    def put(self, rows: pa.Table | pl.DataFrame) -> Digest:
        """Store a table as an object; return its digest."""
        data = encode(_arrow(rows))
        digest = Digest.of(data)
        self.storage.create(object_name(digest), data)
        return digest

    def put_part(self, document_id: str, rows: pa.Table | pl.DataFrame) -> Part:
        """Store the rows of one document in one phase.

        ``document_id`` is the corpus id for a phase that is not made per document.
        """
        table = _arrow(rows)
        return Part(document_id, self.put(table), table.num_rows, objects.content_digest(table))

    def put_snapshot(self, parts: Iterable[Part]) -> Snapshot:
        """Store the list of a phase's parts, in the accepted order of documents."""
        parts = tuple(parts)
        names = [part.document_id for part in parts]
        if not names or len(set(names)) < len(names):
            raise StoreError("a phase has one part per document", found=", ".join(names))
        return Snapshot(self.put(objects.snapshot_table(parts)), parts)

    def frame(self, digest: Digest) -> pl.DataFrame:
        """Return the verified rows of an object."""
        return pl.DataFrame(self.table(digest))

    def phase_frame(self, digest: Digest) -> pl.DataFrame:
        """Return the verified rows of all parts of a snapshot, in order."""
        return pl.DataFrame(self.phase(digest))

    def put_source(self, data: bytes, expected: Digest) -> None:
        """Store a source document; raises SourceError unless it has the ``expected`` digest."""
        found = Digest.of(data)
        if found != expected:
            raise SourceError("a source is not the expected file", expected=expected, found=found)
        self.storage.create(objects.source_name(expected), data)

    def set_ref(self, corpus: str, name: str, digest: Digest) -> None:
        """Let a name of a corpus stand for ``digest`` from now on."""
        self.storage.replace(objects.ref_name(corpus, name), f"{digest}\n".encode())

    def put_release(self, release: Release, *, accept: bool = True) -> Digest:
        """Freeze a release whose objects are all there; return its digest.

        With ``accept`` it becomes the newest accepted release of its corpus.
        """
        for digest in objects_of(release, self.read):
            if not self.has(digest):
                path = self.storage.path(object_name(digest))
                raise StoreError(f"a release names a missing object: {digest}", expected=path)
            if self.storage.local:  # reading it checks its digest; from a bucket that would be slow
                self.read(digest)
        digest = release.digest
        self.storage.create(objects.release_name(release.corpus, digest), release.to_json())
        if accept:
            self.set_ref(release.corpus, objects.RELEASE_REF, digest)
        return digest


class Memo:
    """Maps the digest of inputs to the part they gave, so that a build does nothing twice.

    An entry is one line of canonical JSON with a seal over inputs and part: a damaged entry is an
    error rather than a wrong part.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def get(self, inputs: Any) -> Part | None:
        """Return the part that ``inputs`` (JSON values) gave; None if it has to be made (again).

        A part that is found is marked as used, which keeps it from garbage collection.
        """
        key = Digest.of_json(inputs)
        name = memo_name(key)
        try:
            data = self._storage.read(name)
        except FileNotFoundError:
            return None
        part = decode_memo(key, data, self._storage.path(name))
        if self._storage.find(object_name(part.object)) is None:
            return None
        self._storage.freshen(object_name(part.object))
        return part

    def put(self, inputs: Any, part: Part) -> None:
        """Remember that ``inputs`` (JSON values) gave ``part``."""
        key = Digest.of_json(inputs)
        self._storage.replace(memo_name(key), _memo(key, part))


def memo_name(key: Digest) -> str:
    """Return the name of a memo entry below the root of the store."""
    return f"{objects.MEMO}/{key.hex}"


def decode_memo(key: Digest, data: bytes, path: str) -> Part:
    """Read a memo entry; raises StoreError with its ``path`` if it is damaged."""
    part = None
    with suppress(ValueError, KeyError, TypeError, RecordError):
        part = from_json(Part, json.loads(data)["part"])
    if part is None or data != _memo(key, part):
        action = "remove it and build again: only its part is rebuilt"
        raise StoreError(f"the memo entry {path} was damaged or edited", action=action)
    return part


def _memo(key: Digest, part: Part) -> bytes:
    value = asdict(part)
    return canonical_json({"part": value, "seal": Digest.of_json([key, value])}) + b"\n"


def encode(table: pa.Table) -> bytes:
    """Return the Parquet bytes of a table: the same rows give the same bytes, however chunked."""
    sink = pa.BufferOutputStream()
    pq.write_table(table.combine_chunks(), sink, **_WRITER)
    return bytes(sink.getvalue())


def _arrow(rows: pa.Table | pl.DataFrame) -> pa.Table:
    # The oldest level: types that every reader of Parquet has.
    oldest = pl.CompatLevel.oldest()
    return rows.to_arrow(compat_level=oldest) if isinstance(rows, pl.DataFrame) else rows
