import os
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from policyproof_assets.store import Store
from policyproof_runtime.bundle import pack, unpack
from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import ReleaseError, StoreError
from policyproof_runtime.objects import ObjectStore
from policyproof_runtime.release import load_release
from policyproof_runtime.verify import verify_release

BLOCK = 512


@pytest.fixture
def bundle(store, release, tmp_path) -> Path:
    path = tmp_path / "demo.policyproof"
    assert pack(store, "demo", path) == release
    return path


@pytest.fixture
def empty(tmp_path) -> ObjectStore:
    return ObjectStore(tmp_path / "other")


def files(store) -> list[Path]:
    return [path for path in Path(store.root).rglob("*") if path.is_file()]


def member(name: str, data: bytes, **changes) -> bytes:
    """A tar member as `pack` writes it, but for ``changes`` of its header."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), 0o444
    for key, value in changes.items():
        setattr(info, key, value)
    return info.tobuf(tarfile.USTAR_FORMAT) + data + bytes(-len(data) % BLOCK)


def archive(*members: bytes) -> bytes:
    data = b"".join(members) + bytes(2 * BLOCK)
    return data + bytes(-len(data) % tarfile.RECORDSIZE)


def members_of(bundle: Path) -> list[tuple[str, bytes]]:
    with tarfile.open(bundle, "r:") as tar:
        return [(info.name, tar.extractfile(info).read()) for info in tar]


def test_a_release_arrives_whole(bundle, empty, release):
    assert unpack(bundle, empty) == release
    assert load_release(empty, "demo") == release
    verify_release(empty, "demo")
    assert unpack(bundle, empty) == release, "a second time changes nothing"


def test_the_same_release_packs_to_the_same_bytes_from_any_store(bundle, empty, tmp_path):
    unpack(bundle, empty)
    pack(empty, "demo", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == bundle.read_bytes()


def test_a_bundle_holds_no_time_owner_or_path(bundle, release):
    with tarfile.open(bundle, "r:") as tar:
        infos = tar.getmembers()
    assert {(i.mtime, i.uid, i.gid, i.uname, i.gname) for i in infos} == {(0, 0, 0, "", "")}
    assert infos[0].name == f"releases/demo/{release.digest.hex}.json"
    assert [i.name for i in infos[1:]] == sorted(i.name for i in infos[1:])


def test_unpacking_without_accepting_keeps_the_accepted_release(store, release, bundle):
    newer = replace(release, notes=("newer",))
    store.put_release(newer)
    unpack(bundle, store, accept=False)
    assert load_release(store, "demo") == newer
    unpack(bundle, store)
    assert load_release(store, "demo") == release


def test_an_older_release_can_be_packed_by_digest(store, release, tmp_path):
    store.put_release(replace(release, notes=("newer",)))
    assert pack(store, "demo", tmp_path / "old", release.digest) == release


def refused(path: Path, data: bytes, store: ObjectStore, message: str) -> None:
    path.write_bytes(data)
    with pytest.raises(ReleaseError, match=message):
        unpack(path, store)
    assert files(store) == [], "nothing of a refused bundle is in the store"


def test_any_flipped_byte_of_content_or_header_is_refused(bundle, empty):
    data = bundle.read_bytes()
    used = len(data.rstrip(b"\0"))
    for position in [*range(0, used, 97), len(data) - 1]:
        changed = bytearray(data)
        changed[position] ^= 1
        refused(bundle, bytes(changed), empty, "the bundle")


def test_a_truncated_bundle_is_refused_at_any_length(bundle, empty):
    data = bundle.read_bytes()
    for length in [*range(1, len(data), 1531), len(data) - BLOCK, len(data) - 1]:
        refused(bundle, data[:length], empty, "the bundle .* cannot be used")


def test_anything_behind_the_last_member_is_refused(bundle, empty):
    refused(
        bundle,
        bundle.read_bytes() + bytes(tarfile.RECORDSIZE),
        empty,
        "something else than its release",
    )


@pytest.mark.parametrize("data", [b"", b"text", bytes(10240), b"PK\3\4" + bytes(600)])
def test_another_kind_of_file_is_refused(data, empty, tmp_path):
    refused(tmp_path / "file", data, empty, "is not a PolicyProof bundle")


def test_a_missing_bundle_is_an_error(empty, tmp_path):
    with pytest.raises(ReleaseError, match=r"cannot read the bundle .*No such file"):
        unpack(tmp_path / "nothing", empty)


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "objects/../../x",
        "objects/ab/../../refs/demo/release",
        "refs/demo/release",
        "memo/" + "0" * 64,
        "objects/00/" + "1" * 64 + ".parquet",
        "releases/../" + "0" * 64 + ".json",
        "notes.txt",
    ],
)
def test_names_outside_the_form_are_refused(bundle, empty, name):
    inside = [member(n, d) for n, d in members_of(bundle)]
    odd = archive(*inside, member(name, b"x"))
    refused(bundle, odd, empty, "something else than its release")


@pytest.mark.parametrize(
    "changes",
    [
        {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
        {"type": tarfile.LNKTYPE, "linkname": "x"},
        {"type": tarfile.DIRTYPE},
        {"type": tarfile.GNUTYPE_SPARSE},
        {"type": tarfile.XHDTYPE},
        {"mode": 0o4755},
        {"uid": 1},
        {"mtime": 1},
    ],
    ids=str,
)
def test_links_extensions_and_other_metadata_are_refused(bundle, empty, changes):
    first, (name, data), *rest = members_of(bundle)
    inside = [member(*first), member(name, data, **changes), *(member(n, d) for n, d in rest)]
    refused(bundle, archive(*inside), empty, "something else than its release|lacks the object")


def test_an_object_the_release_does_not_name_is_refused(bundle, empty):
    digest = Digest.of(b"more")
    more = member(f"objects/{digest.hex[:2]}/{digest.hex}.parquet", b"more")
    inside = [member(n, d) for n, d in members_of(bundle)]
    refused(bundle, archive(*inside, more), empty, "something else than its release")


def test_a_bundle_without_one_of_the_objects_is_refused(bundle, empty):
    everything = [member(n, d) for n, d in members_of(bundle)]
    for i in range(1, len(everything)):
        inside = everything[:i] + everything[i + 1 :]
        refused(bundle, archive(*inside), empty, "lacks the object")


def test_swapped_objects_are_refused(bundle, empty):
    first, (a, x), (b, y), *rest = members_of(bundle)
    inside = [member(*first), member(a, y), member(b, x), *(member(n, d) for n, d in rest)]
    refused(bundle, archive(*inside), empty, "has a corrupt member")


def test_a_member_twice_and_a_second_release_are_refused(bundle, empty):
    inside = [member(n, d) for n, d in members_of(bundle)]
    for again in (inside[0], inside[1]):
        refused(bundle, archive(*inside, again), empty, "something else than its release")


def test_a_release_under_the_name_of_another_corpus_is_refused(bundle, empty):
    (name, data), *rest = members_of(bundle)
    other = member(name.replace("/demo/", "/other/"), data)
    inside = [other, *(member(n, d) for n, d in rest)]
    refused(bundle, archive(*inside), empty, "something else than its release")


def test_a_corrupt_object_is_not_packed(store, part, overwrite, tmp_path):
    overwrite(part, b"other")
    with pytest.raises(StoreError, match="is corrupt"):
        pack(store, "demo", tmp_path / "bundle")
    assert [path.name for path in tmp_path.iterdir()] == ["store"], "nothing is half-written"


def test_a_full_disk_leaves_the_old_bundle(store, bundle, monkeypatch):
    def full(_handle):
        raise OSError(28, "No space left on device")

    before = bundle.read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=rf"no room in {bundle.parent}") as caught:
        pack(store, "demo", bundle)
    assert 0 < int(caught.value.expected.removesuffix(" bytes").replace(",", "")) < len(before)
    assert bundle.read_bytes() == before
    assert sorted(path.name for path in bundle.parent.iterdir()) == [bundle.name, "store"]


def test_a_full_disk_while_unpacking_leaves_no_release(bundle, empty, monkeypatch):
    calls = []

    def full_at_last(_handle):
        calls.append(1)
        if len(calls) > 12:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_at_last)
    with pytest.raises(StoreError, match="no room in"):
        unpack(bundle, empty)
    monkeypatch.undo()
    assert empty.corpora() == []
    assert unpack(bundle, empty) == load_release(empty, "demo")


def test_unpacking_over_a_corrupt_object_is_an_error(bundle, store, part, overwrite):
    overwrite(part, b"other")
    with pytest.raises(StoreError, match="with other bytes"):
        unpack(bundle, Store(store.root))
