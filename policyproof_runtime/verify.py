"""Verification of what is stored, from the bytes up."""

from __future__ import annotations

from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import PolicyProofError, ReleaseError
from policyproof_runtime.objects import ObjectStore, Part, content_digest
from policyproof_runtime.release import load_release


def verify_release(store: ObjectStore, corpus: str, digest: Digest | None = None) -> None:
    """Verify a release of ``corpus``, by default the accepted one, against the bytes it names.

    1. The release file matches its digest and is valid, canonical and of this runtime's schema.
    2. The snapshot of each phase matches its digest, and lists the release's rows and content.
    3. Each part matches its digest; its rows are as many as listed and have the listed content.
    4. Each index object matches its digest and is a table.
    5. Each source document that the store holds matches its digest.

    Raises StoreError for bytes that do not match their digest, ReleaseError for anything that does
    not match the release. The caller must still decide whether this release is the one to trust:
    its digest has to come from somewhere else than the store.
    """
    # 1. Release file
    release = load_release(store, corpus, digest)
    for name, phase in sorted(release.phases.items()):
        # 2. Snapshots
        snapshot = store.snapshot(phase.snapshot)
        _equal(f"phase {name}: rows", phase.rows, snapshot.rows)
        _equal(f"phase {name}: content", phase.content, snapshot.content)
        # 3. Parts
        for part in snapshot.parts:
            _verify_part(store, part, f"phase {name}, {part.document_id}")
    # 4. Index objects
    for index in release.index.values():
        store.table(index)
    # 5. Source documents
    for document in release.documents:
        if store.has_source(document.sha256):
            store.source(document.sha256)


def _verify_part(store: ObjectStore, part: Part, where: str) -> None:
    try:
        table = store.table(part.object)
    except PolicyProofError as error:
        error.message = f"{where}: {error.message}"
        raise
    _equal(f"{where}: rows", part.rows, table.num_rows)
    _equal(f"{where}: content", part.content, content_digest(table))


def _equal(what: str, expected: object, found: object) -> None:
    if expected != found:
        raise ReleaseError(
            f"{what} differ from what is recorded",
            expected=expected,
            found=found,
            action="the build that wrote it is at fault: build the corpus again",
        )
