from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import ReleaseError, StoreError
from policyproof_runtime.objects import object_name
from policyproof_runtime.release import Phase
from policyproof_runtime.verify import verify_release


def path_of(store, digest) -> Path:
    return Path(store.storage.path(object_name(digest)))


def test_a_release_verifies_with_and_without_its_source_files(store, release):
    verify_release(store, "demo")
    Path(store.storage.path(f"sources/{release.documents[0].sha256.hex}")).unlink()
    verify_release(store, "demo")


@pytest.mark.usefixtures("release")
def test_a_flipped_byte_anywhere_is_found(store, overwrite):
    objects = [path for path in Path(store.root).rglob("*") if path.is_file()]
    assert len(objects) == 10
    for path in objects:
        data = path.read_bytes()
        for position in (0, len(data) // 2, len(data) - 2):
            changed = bytearray(data)
            changed[position] ^= 1
            overwrite(path, bytes(changed))
            with pytest.raises((StoreError, ReleaseError), match=r"corrupt|digest|no release"):
                verify_release(store, "demo")
        overwrite(path, data)
    verify_release(store, "demo")


def test_a_corrupt_part_is_named_with_phase_and_document(store, part, overwrite):
    overwrite(part, part.read_bytes()[:-1])
    with pytest.raises(StoreError, match=r"phase passages, second: object sha256:.* is corrupt"):
        verify_release(store, "demo")


def test_swapped_parts_are_found(store, release, overwrite):
    one, two = (p.object for p in store.snapshot(release.phase("pages").snapshot).parts)
    data = path_of(store, one).read_bytes()
    overwrite(path_of(store, one), path_of(store, two).read_bytes() + b"\0")
    overwrite(path_of(store, two), data)
    with pytest.raises(StoreError, match="is corrupt"):
        verify_release(store, "demo")


@pytest.mark.usefixtures("release")
def test_every_deleted_object_is_found(store):
    for path in sorted(Path(store.root).rglob("*.parquet")):
        data = path.read_bytes()
        path.unlink()
        with pytest.raises(StoreError, match="is missing"):
            verify_release(store, "demo")
        path.write_bytes(data)


def refused(store, release, message) -> None:
    """Even a release written with valid digests must agree with what it names."""
    digest = store.put_release(release, accept=False)
    with pytest.raises(ReleaseError, match=message):
        verify_release(store, "demo", digest)


def with_phase(release, phase: Phase):
    return replace(release, phases={**release.phases, "pages": phase})


def test_a_wrong_number_of_rows_is_found(store, release):
    phase = replace(release.phase("pages"), rows=5)
    refused(store, with_phase(release, phase), "phase pages: rows differ")


def test_a_wrong_content_is_found(store, release):
    phase = replace(release.phase("pages"), content=Digest.of(b"other"))
    refused(store, with_phase(release, phase), "phase pages: content differ")


def test_parts_listed_in_another_order_are_found(store, release):
    phase = release.phase("pages")
    turned = store.put_snapshot(reversed(store.snapshot(phase.snapshot).parts))
    release = with_phase(release, replace(phase, snapshot=turned.digest))
    refused(store, release, "phase pages: content differ")


def test_rows_other_than_the_snapshot_lists_are_found(store, release):
    first, second = store.snapshot(release.phase("pages").snapshot).parts
    other = store.put_part("first", pa.table({"document_id": ["x", "y"], "text": ["a", "b"]}))
    forged = store.put_snapshot([replace(first, object=other.object), second])
    refused(store, with_phase(release, Phase.of(forged)), "phase pages, first: content differ")
    short = store.put_part("first", pa.table({"document_id": ["x"], "text": ["a"]}))
    forged = store.put_snapshot([replace(first, object=short.object), second])
    refused(store, with_phase(release, Phase.of(forged)), "phase pages, first: rows differ")
