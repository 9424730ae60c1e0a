"""Releases: what an accepted build froze, as a typed view of its JSON file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self, TypeVar

from policyproof_runtime.digest import Digest, canonical_json
from policyproof_runtime.errors import ReleaseError
from policyproof_runtime.objects import RELEASE_REF, ObjectStore, Snapshot, decode_snapshot
from policyproof_runtime.records import RecordError, from_json

SCHEMA = 1

T = TypeVar("T")


@dataclass(frozen=True)
class Document:
    """A source document of a release, as its manifest describes it; ``sha256`` is of the file.

    ``pages`` is 0 for formats without pages. All versions of one document share a ``family``.
    """

    id: str
    title: str
    publisher: str
    url: str | None
    sha256: Digest
    licence: str
    version: str
    status: str
    classification: str
    acl: tuple[str, ...]
    pages: int
    family: str | None = None
    supersedes: str | None = None
    effective_date: str | None = None
    department: str | None = None
    owner: str | None = None
    language: str = "en"


@dataclass(frozen=True)
class Phase:
    """A phase of a release: the snapshot object, the digest of its rows, and their number."""

    snapshot: Digest
    content: Digest
    rows: int

    @classmethod
    def of(cls, snapshot: Snapshot) -> Self:
        """Return the phase a snapshot holds."""
        return cls(snapshot.digest, snapshot.content, snapshot.rows)


@dataclass(frozen=True)
class Release:
    """Everything an answer depends on, by digest; holds no time and no path.

    ``index`` names objects made for serving (frozen BM25 and the like), ``libraries`` the versions
    that shape bytes, ``models`` the SHA-256 of model files; ``retrieval`` and ``gate`` hold
    parameters, ``scores`` what the build measured.
    """

    corpus: str
    title: str
    documents: tuple[Document, ...]
    phases: Mapping[str, Phase]
    index: Mapping[str, Digest]
    libraries: Mapping[str, str]
    models: Mapping[str, Digest]
    retrieval: Mapping[str, Any]
    gate: Mapping[str, Any]
    scores: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    schema: int = field(default=SCHEMA, kw_only=True)

    @property
    def digest(self) -> Digest:
        """The digest of the release file, which is its name."""
        return Digest.of(self.to_json())

    def to_json(self) -> bytes:
        """Return the bytes of the release file: canonical JSON."""
        return canonical_json(asdict(self))

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """Read a release file; raises ReleaseError that names the schema or the key at fault."""
        try:
            value = json.loads(data)
            _check_schema(value)
            release = from_json(cls, value)
            canonical = release.to_json()
        except (RecordError, ValueError, RecursionError) as error:
            raise ReleaseError(f"not a valid release: {error}") from error
        if canonical != data:
            raise ReleaseError(
                "not a valid release: it is not in canonical JSON",
                expected=Digest.of(canonical),
                found=Digest.of(data),
            )
        return release

    def document(self, document_id: str) -> Document:
        """Return a document by id; raises ReleaseError if there is none."""
        return self._named({d.id: d for d in self.documents}, document_id, "document")

    def phase(self, name: str) -> Phase:
        """Return a phase by name; raises ReleaseError if there is none."""
        return self._named(self.phases, name, "phase")

    def index_object(self, name: str) -> Digest:
        """Return the digest of an index object by name; raises ReleaseError if there is none."""
        return self._named(self.index, name, "index")

    def _named(self, values: Mapping[str, T], name: str, what: str) -> T:
        if name in values:
            return values[name]
        known = ", ".join(sorted(values))
        raise ReleaseError(
            f"the release of {self.corpus} has no {what} {name}", expected=f"one of: {known}"
        )


def load_release(store: ObjectStore, corpus: str, digest: Digest | None = None) -> Release:
    """Return a verified release of a corpus: by default the newest accepted one.

    The file's digest, form and schema are verified; its objects are verified when they are read.
    Raises ReleaseError for an unknown corpus, release or schema, StoreError for a corrupt file.
    """
    if digest is None and corpus in store.corpora():
        digest = store.ref(corpus, RELEASE_REF)
    known = store.corpora() if digest is None else store.releases(corpus)
    if digest is None or digest not in known:
        what = "no release" if digest is None else f"the store has no release {digest}"
        raise ReleaseError(
            f"{what} of corpus {corpus!r} in {store.storage.label}",
            expected=f"one of: {', '.join(known)}" if known else "a corpus that was built",
            action=f"run: policyproof build {corpus}",
        )
    release = Release.from_json(store.release(corpus, digest))
    if release.corpus != corpus:
        raise ReleaseError(
            f"release {digest} is of another corpus", expected=corpus, found=release.corpus
        )
    return release


def objects_of(release: Release, read: Callable[[Digest], bytes]) -> Iterator[Digest]:
    """Yield every object a release needs, each once: snapshots, their parts, indexes.

    ``read`` returns the verified bytes of an object.
    """
    seen: dict[Digest, None] = {}
    for _, phase in sorted(release.phases.items()):
        snapshot = decode_snapshot(read(phase.snapshot), phase.snapshot)
        seen |= dict.fromkeys([snapshot.digest, *(part.object for part in snapshot.parts)])
    yield from seen | dict.fromkeys(digest for _, digest in sorted(release.index.items()))


def _check_schema(value: Any) -> None:
    found = value.get("schema") if isinstance(value, dict) else None
    if found != SCHEMA:
        corpus = value.get("corpus", "CORPUS") if isinstance(value, dict) else "CORPUS"
        raise ReleaseError(
            f"the release was written by schema {found}; this runtime reads {SCHEMA}",
            expected=SCHEMA,
            found=found,
            action=f"rebuild it with: policyproof build {corpus}",
        )
