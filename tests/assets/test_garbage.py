import json
import os
import time
from pathlib import Path

import polars as pl
import pytest

from policyproof_assets.garbage import collect_garbage
from policyproof_assets.store import Store, memo_name
from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import StoreError
from policyproof_runtime.objects import object_name
from policyproof_runtime.release import Phase, Release, load_release

FRAME = pl.DataFrame({"n": [1, 2]})
OLD = 100 * 3600


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def files(store) -> dict[str, bytes]:
    root = Path(store.root)
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def path_of(store, digest) -> Path:
    return Path(store.storage.path(object_name(digest)))


def age(store, seconds=OLD) -> None:
    """Make everything in the store ``seconds`` old."""
    past = time.time() - seconds
    for path in Path(store.root).rglob("*"):
        if path.is_file():
            os.utime(path, (past, past))


def release_of(store, *words: str) -> Release:
    parts = [store.put_part(word, pl.DataFrame({"word": [word]})) for word in words]
    phases = {"pages": Phase.of(store.put_snapshot(parts))}
    index = {"bm25": store.put(pl.DataFrame({"terms": [list(words)]}))}
    return Release("demo", "Demo", (), phases, index, {}, {}, {}, {}, {})


def test_a_file_that_was_not_finished_is_ignored_and_collected(store):
    release = release_of(store, "a")
    store.put_release(release)
    left = [
        path_of(store, release.index_object("bm25")).parent / ".tmp-abc",
        Path(store.root) / "refs/demo/.tmp-abc",
        Path(store.root) / "releases/demo/.tmp-abc",
        Path(store.root) / "memo/.tmp-abc",
    ]
    left[-1].parent.mkdir()
    for path in left:
        path.write_bytes(b"half")
    assert load_release(store, "demo") == release
    assert store.releases("demo") == [release.digest]
    assert collect_garbage(store, delete=True) == [], "its writer may still be at work"
    age(store)
    assert len(collect_garbage(store, delete=True)) == 4
    assert not any(path.exists() for path in left)


def test_garbage_is_what_no_release_ref_or_memo_in_use_needs(store):
    kept = release_of(store, "a", "b")
    store.put_release(kept)
    store.memo.put("in use", store.snapshot(kept.phase("pages").snapshot).parts[0])
    named = store.put_snapshot([store.put_part("c", FRAME)])
    store.set_ref("demo", "pages", named.digest)
    store.put_source(b"pdf", Digest.of(b"pdf"))
    needed = files(store)
    dropped = store.put_part("d", FRAME[:1])
    store.memo.put("not in use", dropped)
    snapshot = store.put_snapshot([dropped])
    age(store)
    listed = collect_garbage(store)
    assert {item.name for item in listed} == {
        object_name(dropped.object),
        object_name(snapshot.digest),
        memo_name(Digest.of_json("not in use")),
    }
    everything = files(store)
    assert all(item.size == len(everything[item.name]) for item in listed)
    assert collect_garbage(store, delete=True) == listed
    assert files(store) == needed
    assert collect_garbage(store) == []


@pytest.mark.parametrize(
    "name",
    [
        *("releases/demo/notes.json", "releases/notes.json", "releases/demo/.DS_Store"),
        *("refs/.DS_Store", "refs/demo/.DS_Store", "refs/notes", "refs/demo/a/b"),
        *("objects/.DS_Store", "memo/.DS_Store"),
    ],
)
def test_files_that_are_not_of_the_store_are_left_alone(store, name):
    store.put_release(release_of(store, "a"))
    store.memo.put("not in use", store.put_part("d", FRAME))
    path = Path(store.root) / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("notes")
    age(store)
    assert len(collect_garbage(store, delete=True)) == 2
    assert path.read_text() == "notes"


def test_a_damaged_ref_still_stops_the_collection(store):
    store.put_release(release_of(store, "a"))
    (Path(store.root) / "refs" / "demo" / "pages").write_text("notes")
    with pytest.raises(StoreError, match="does not hold a digest"):
        collect_garbage(store)


def test_replaced_releases_keep_their_objects(store):
    old, new = release_of(store, "a"), release_of(store, "b")
    store.put_release(old)
    store.put_release(new)
    age(store)
    assert collect_garbage(store) == []


def test_a_release_of_another_schema_keeps_its_objects(store):
    digest = store.put(FRAME)
    data = json.dumps({"schema": 99, "things": [{"deep": str(digest)}]}).encode()
    store.storage.create(f"releases/demo/{Digest.of(data).hex}.json", data)
    age(store)
    assert collect_garbage(store) == []


def test_young_objects_are_left_to_the_build_that_writes_them(store):
    store.put(FRAME)
    age(store, 23 * 3600)
    assert collect_garbage(store, delete=True) == []
    assert len(collect_garbage(store, grace_hours=22)) == 1


def test_what_a_running_build_reuses_is_not_collected(store):
    part = store.put_part("a", FRAME)
    store.memo.put("inputs", part)
    age(store)
    assert store.memo.get("inputs") == part
    store.put(FRAME[:1])
    assert collect_garbage(store, delete=True) == []
    assert store.memo.get("inputs") == part


def test_reusing_another_users_object_rewrites_it_the_same(store, monkeypatch):
    digest = store.put(FRAME)
    age(store)

    def refuse(*_):
        raise PermissionError(1, "not the owner")

    monkeypatch.setattr(os, "utime", refuse)
    store.put(FRAME)
    assert store.storage.find(object_name(digest)).age < 60
    assert store.frame(digest).equals(FRAME)


def test_nothing_is_collected_while_a_root_cannot_be_read(store):
    release = release_of(store, "a")
    store.put_release(release)
    store.put(FRAME)
    age(store)
    path = path_of(store, release.phase("pages").snapshot)
    data = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(data[:-1])
    before = files(store)
    with pytest.raises(StoreError, match="is corrupt"):
        collect_garbage(store, delete=True)
    assert files(store) == before
