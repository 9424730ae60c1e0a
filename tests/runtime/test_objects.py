import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from policyproof_assets.store import Store, encode
from policyproof_runtime.digest import Digest, canonical_json
from policyproof_runtime.errors import StoreError
from policyproof_runtime.objects import SNAPSHOT, ObjectStore, content_digest, object_name
from policyproof_runtime.storage import Storage

TABLE = pa.table({"n": [1, 2], "text": ["é", None]})


def file_of(store, digest):
    return Path(store.storage.path(object_name(digest)))


def test_an_object_is_named_by_the_digest_of_its_bytes_and_read_only(store):
    digest = store.put(TABLE)
    path = file_of(store, digest)
    assert path.parts[-3:] == ("objects", digest.hex[:2], f"{digest.hex}.parquet")
    assert Digest.of(path.read_bytes()) == digest
    assert path.stat().st_mode & 0o777 == 0o444
    assert store.table(digest).equals(TABLE)


@pytest.mark.parametrize(
    "tamper",
    [
        lambda data: bytes([data[0] ^ 1]) + data[1:],
        lambda data: data[:-1] + bytes([data[-1] ^ 128]),
        lambda data: data[: len(data) // 2],
        lambda data: data + b"\0",
        lambda _: b"",
    ],
    ids=["first-bit", "last-bit", "truncated", "appended", "empty"],
)
def test_other_bytes_are_refused_with_path_digests_and_remedy(store, overwrite, tamper):
    digest = store.put(TABLE)
    path = file_of(store, digest)
    changed = tamper(path.read_bytes())
    overwrite(path, changed)
    with pytest.raises(StoreError, match="is corrupt") as caught:
        store.table(digest)
    assert str(path) in caught.value.message
    assert (caught.value.expected, caught.value.found) == (digest, Digest.of(changed))
    assert "remove it, then build again" in caught.value.action
    assert path.read_bytes() == changed, "reading never repairs"


def test_swapped_objects_are_refused(store, overwrite):
    one, two = store.put(TABLE), store.put(TABLE.slice(1))
    data = file_of(store, one).read_bytes()
    overwrite(file_of(store, one), file_of(store, two).read_bytes())
    overwrite(file_of(store, two), data)
    for digest in (one, two):
        with pytest.raises(StoreError, match="is corrupt"):
            store.table(digest)


def test_a_missing_object_is_named(store):
    with pytest.raises(StoreError, match="is missing") as caught:
        store.table(Digest.of(b"nothing"))
    assert caught.value.action.startswith("build again")


def test_an_object_that_is_not_parquet_is_refused(store):
    digest = Digest.of(b"text")
    store.storage.create(object_name(digest), b"text")
    with pytest.raises(StoreError, match="not a Parquet file"):
        store.table(digest)


def test_an_object_that_is_no_snapshot_is_refused(store):
    with pytest.raises(StoreError, match="is not a snapshot"):
        store.snapshot(store.put(TABLE))


def test_a_snapshot_that_lists_no_digests_is_refused(store):
    row = {"document_id": "a", "part": "x", "rows": 1, "content": "y"}
    with pytest.raises(StoreError, match="lists something that is not a part"):
        store.snapshot(store.put(pa.Table.from_pylist([row], SNAPSHOT)))


def test_a_phase_is_its_parts_in_order(store):
    parts = [store.put_part(name, pa.table({"id": [name]})) for name in ("b", "a")]
    snapshot = store.put_snapshot(parts)
    assert store.snapshot(snapshot.digest) == snapshot
    assert store.phase(snapshot.digest)["id"].to_pylist() == ["b", "a"]
    assert snapshot.rows == 2
    with pytest.raises(StoreError, match="has no part for c"):
        snapshot.part("c")


def test_the_content_digest_is_that_of_canonical_json_lines():
    lines = b"".join(canonical_json(row) + b"\n" for row in TABLE.to_pylist())
    assert content_digest(TABLE) == Digest.of(lines)


def test_the_content_digest_is_independent_of_writer_chunks_and_widths():
    chunked = pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)])
    narrow = TABLE.cast(pa.schema([("n", pa.int8()), ("text", pa.large_string())]))
    turned = TABLE.select(["text", "n"])
    for other in (chunked, narrow, turned, TABLE.replace_schema_metadata({"a": "b"})):
        assert content_digest(other) == content_digest(TABLE)


@pytest.mark.parametrize(
    "table",
    [TABLE.slice(1), TABLE.take([1, 0]), TABLE.rename_columns(["m", "text"])],
    ids=["fewer rows", "another order", "another column"],
)
def test_the_content_digest_changes_with_the_rows(table):
    assert content_digest(table) != content_digest(TABLE)


@pytest.mark.parametrize("value", [float("nan"), b"bytes"])
def test_a_value_that_json_lacks_has_no_content_digest(value):
    with pytest.raises(StoreError, match="without a canonical form"):
        content_digest(pa.table({"x": [value]}))


def test_an_edited_ref_is_refused(store, release, overwrite):
    path = Path(store.storage.path(f"refs/{release.corpus}/release"))
    overwrite(path, b"somewhere else\n")
    with pytest.raises(StoreError, match="does not hold a digest"):
        store.ref(release.corpus, "release")


def test_a_corrupt_source_is_refused(store, release, overwrite):
    sha256 = release.documents[0].sha256
    overwrite(Path(store.storage.path(f"sources/{sha256.hex}")), b"another file")
    with pytest.raises(StoreError, match=r"source sha256:.* is corrupt"):
        store.source(sha256)


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a//b", "a/../b", ".hidden", "a\0b", "", "a b"])
def test_names_cannot_leave_the_root(store, name):
    for use in (store.storage.read, store.storage.files, store.storage.find):
        with pytest.raises(StoreError, match="not a name of the store"):
            use(name)


def test_the_root_comes_from_the_environment_else_the_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POLICYPROOF_STORE", raising=False)
    assert Storage().label == str(tmp_path / "artifacts")
    monkeypatch.setenv("POLICYPROOF_STORE", str(tmp_path / "other"))
    assert Storage().label == str(tmp_path / "other")


def test_a_uri_is_a_root_too(tmp_path):
    by_uri = Store(f"file://{tmp_path}/s")
    digest = by_uri.put(TABLE)
    assert ObjectStore(tmp_path / "s").table(digest).equals(TABLE)


def test_an_unknown_scheme_is_refused_without_repeating_credentials():
    with pytest.raises(StoreError, match="cannot open the nosuch store"):
        ObjectStore("nosuch://bucket/store")


def test_a_store_can_be_sent_to_a_worker_process(store):
    digest = store.put(TABLE)
    assert pickle.loads(pickle.dumps(store)).table(digest).equals(TABLE)  # noqa: S301


def test_encoding_is_idempotent(store):
    digest = store.put(TABLE)
    assert Digest.of(encode(store.table(digest))) == digest
