"""The read side of the store: nothing is used before its bytes match its name.

Layout below the root::

    objects/ab/<sha256>.parquet       tables: parts, snapshots, indexes
    sources/<sha256>                  source documents
    releases/<corpus>/<sha256>.json   what accepted builds froze
    refs/<corpus>/<name>              the digest a name stands for at present
    memo/<sha256 of the inputs>       the part those inputs gave

A phase is a snapshot: an object that lists one part per document, in order, each with its digest.
So the digest of a snapshot is the root of a Merkle tree over the phase.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from policyproof_runtime.digest import Digest, canonical_json
from policyproof_runtime.errors import PolicyProofError, StoreError
from policyproof_runtime.storage import Storage

FOLDERS = OBJECTS, SOURCES, RELEASES, REFS, MEMO = "objects", "sources", "releases", "refs", "memo"
RELEASE_REF = "release"
RELEASE_FILE = re.compile(rf"{RELEASES}/(?P<corpus>[^/]+)/(?P<digest>[0-9a-f]{{64}})\.json")
SNAPSHOT = pa.schema(
    [
        pa.field("document_id", pa.string(), nullable=False),
        pa.field("part", pa.string(), nullable=False),
        pa.field("rows", pa.int64(), nullable=False),
        pa.field("content", pa.string(), nullable=False),
    ]
)
_BATCH_ROWS = 4096


@dataclass(frozen=True)
class Part:
    """The rows of one document in one phase; ``document_id`` is the corpus id if not per document.

    ``object`` names the file; ``content`` is the digest of the rows, whoever writes the file.
    """

    document_id: str
    object: Digest
    rows: int
    content: Digest


@dataclass(frozen=True)
class Snapshot:
    """A phase: its parts in accepted order; ``digest`` names the object that lists them."""

    digest: Digest
    parts: tuple[Part, ...]

    @property
    def rows(self) -> int:
        """The number of rows of all parts."""
        return sum(part.rows for part in self.parts)

    @property
    def content(self) -> Digest:
        """The digest of the rows of all parts; an upgrade of the Parquet writer leaves it as is."""
        return Digest.of_json([[p.document_id, p.rows, p.content] for p in self.parts])

    def part(self, document_id: str) -> Part:
        """Return the part of a document; raises StoreError if there is none."""
        for part in self.parts:
            if part.document_id == document_id:
                return part
        raise StoreError(f"the snapshot {self.digest} has no part for {document_id}")


class ObjectStore:
    """Reads a store; takes no lock, since files appear whole and never change.

    Every method raises StoreError for what is missing or does not match its digest.
    """

    def __init__(self, root: str | Path | None = None) -> None:
        self.storage = Storage(root)
        self.root = self.storage.root

    def has(self, digest: Digest) -> bool:
        """Return whether an object is there; its bytes are not read."""
        return self.storage.find(object_name(digest)) is not None

    def read(self, digest: Digest) -> bytes:
        """Return the verified bytes of an object."""
        return self._verified(object_name(digest), digest, f"object {digest}")

    def table(self, digest: Digest) -> pa.Table:
        """Return the verified table of an object."""
        return decode(self.read(digest), digest)

    def snapshot(self, digest: Digest) -> Snapshot:
        """Return the parts a snapshot lists."""
        return decode_snapshot(self.read(digest), digest)

    def phase(self, digest: Digest) -> pa.Table:
        """Return the rows of all parts of a snapshot, in order."""
        return pa.concat_tables(self.table(part.object) for part in self.snapshot(digest).parts)

    def has_source(self, digest: Digest) -> bool:
        """Return whether a source document is there; its bytes are not read."""
        return self.storage.find(source_name(digest)) is not None

    def source(self, digest: Digest) -> bytes:
        """Return the verified bytes of a source document."""
        return self._verified(source_name(digest), digest, f"source {digest}")

    def ref(self, corpus: str, name: str) -> Digest | None:
        """Return the digest a name of a corpus stands for; None if there is no such name."""
        file = ref_name(corpus, name)
        try:
            return Digest(self.storage.read(file).decode().strip())
        except FileNotFoundError:
            return None
        except (PolicyProofError, UnicodeDecodeError) as error:
            raise StoreError(
                f"the ref {self.storage.path(file)} does not hold a digest: {error}",
                action=f"remove it and run: policyproof build {corpus}",
            ) from error

    def releases(self, corpus: str) -> list[Digest]:
        """Return the digests of all releases of a corpus, sorted; other files are left alone."""
        files = self.storage.files(f"{RELEASES}/{corpus}")
        found = (RELEASE_FILE.fullmatch(entry.name) for entry in files)
        return sorted(Digest(match["digest"]) for match in found if match)

    def corpora(self) -> list[str]:
        """Return the names of the corpora that have an accepted release, sorted."""
        names = [entry.name.split("/") for entry in self.storage.files(REFS)]
        return sorted(name[1] for name in names if name[2:] == [RELEASE_REF])

    def release(self, corpus: str, digest: Digest) -> bytes:
        """Return the verified bytes of a release file."""
        return self._verified(release_name(corpus, digest), digest, f"release {digest} of {corpus}")

    def _verified(self, name: str, digest: Digest, what: str) -> bytes:
        path = self.storage.path(name)
        again = "build again (only what is missing is made) or unpack the release again"
        try:
            data = self.storage.read(name)
        except FileNotFoundError:
            raise StoreError(f"{what} is missing", expected=path, action=again) from None
        found = Digest.of(data)
        if found != digest:
            message, action = f"{what} is corrupt: {path}", f"remove it, then {again}"
            raise StoreError(message, expected=digest, found=found, action=action)
        return data


def object_name(digest: Digest) -> str:
    """Return the name of an object's file below the root."""
    return f"{OBJECTS}/{digest.hex[:2]}/{digest.hex}.parquet"


def source_name(digest: Digest) -> str:
    """Return the name of a source document below the root."""
    return f"{SOURCES}/{digest.hex}"


def release_name(corpus: str, digest: Digest) -> str:
    """Return the name of a release's file below the root."""
    return f"{RELEASES}/{corpus}/{digest.hex}.json"


def ref_name(corpus: str, name: str) -> str:
    """Return the name of a ref's file below the root."""
    return f"{REFS}/{corpus}/{name}"


def decode(data: bytes, digest: Digest) -> pa.Table:
    """Read the Parquet bytes of the object ``digest``; raises StoreError if they are none."""
    try:
        # A thread of the pool that lets go of a buffer while Python ends would abort the process.
        return pq.ParquetFile(pa.BufferReader(data)).read(use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise StoreError(f"object {digest} is not a Parquet file: {error}") from error


def decode_snapshot(data: bytes, digest: Digest) -> Snapshot:
    """Read the bytes of the snapshot ``digest``; raises StoreError if they are no snapshot."""
    table = decode(data, digest)
    if not is_snapshot(table):
        raise StoreError(f"object {digest} is not a snapshot", found=", ".join(table.schema.names))
    try:
        rows = zip(*(table[name].to_pylist() for name in SNAPSHOT.names), strict=True)
        return Snapshot(digest, tuple(Part(d, Digest(o), n, Digest(c)) for d, o, n, c in rows))
    except PolicyProofError as error:
        message = f"the snapshot {digest} lists something that is not a part: {error}"
        raise StoreError(message) from error


def is_snapshot(table: pa.Table) -> bool:
    """Return whether a table has the columns of a snapshot."""
    return bool(table.schema.equals(SNAPSHOT))


def snapshot_table(parts: Sequence[Part]) -> pa.Table:
    """Return the rows that list ``parts`` in a snapshot."""
    rows = [(p.document_id, p.object.hex, p.rows, p.content.hex) for p in parts]
    return pa.table(list(zip(*rows, strict=True)), SNAPSHOT)


def content_digest(table: pa.Table) -> Digest:
    """Digest the rows in canonical form: one line of canonical JSON per row, ended by LF.

    Neither the Parquet writer, the column order, chunks nor the width of integers matter. Raises
    StoreError for values that JSON does not have.
    """
    digest = hashlib.sha256()
    try:
        for batch in table.to_batches(max_chunksize=_BATCH_ROWS):
            digest.update(b"".join(canonical_json(row) + b"\n" for row in batch.to_pylist()))
    except (TypeError, ValueError) as error:
        raise StoreError(f"a table has values without a canonical form: {error}") from error
    return Digest(digest.hexdigest())
