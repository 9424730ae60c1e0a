import errno
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from policyproof_assets import schemas
from policyproof_assets.errors import SourceError
from policyproof_assets.garbage import collect_garbage
from policyproof_assets.store import Store, encode, memo_name
from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import StoreError
from policyproof_runtime.objects import content_digest, object_name
from policyproof_runtime.release import Phase, Release
from policyproof_runtime.storage import durable

FRAME = pl.DataFrame(
    {
        "name": ["a", "b"],
        "list": [["x", None], []],
        "struct": [{"n": 1, "t": "q"}, None],
        "vector": pl.Series([[1.0, 2.0], [3.0, 4.0]], dtype=pl.Array(pl.Float32, 2)),
    }
)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def files(store) -> dict[str, bytes]:
    root = Path(store.root)
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def visible(store) -> dict[str, bytes]:
    entries = [e for f in ("objects", "memo") for e in store.storage.files(f) if not e.temporary]
    return {entry.name: store.storage.read(entry.name) for entry in entries}


def path_of(store, digest) -> Path:
    return Path(store.storage.path(object_name(digest)))


def release_of(store, *words: str) -> Release:
    parts = [store.put_part(word, pl.DataFrame({"word": [word]})) for word in words]
    phases = {"pages": Phase.of(store.put_snapshot(parts))}
    index = {"bm25": store.put(pl.DataFrame({"terms": [list(words)]}))}
    return Release("demo", "Demo", (), phases, index, {}, {}, {}, {}, {})


# Objects


def test_frames_come_back_as_they_were(store):
    assert store.frame(store.put(FRAME)).equals(FRAME)
    for name, schema in schemas.PHASES.items():
        empty = pl.DataFrame(schema=schema)
        assert store.frame(store.put_part(name, empty).object).schema == empty.schema


def test_the_same_rows_give_the_same_bytes_however_chunked(store):
    assert store.put(pl.concat([FRAME[:1], FRAME[1:]], rechunk=False)) == store.put(FRAME)


def test_bytes_do_not_depend_on_process_or_hash_seed():
    code = (
        "import pyarrow as pa; from policyproof_assets.store import encode;"
        "print(encode(pa.table({'n': list(range(99)), 't': ['x']*99})).hex())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_an_object_that_exists_is_not_rewritten(store):
    path = path_of(store, store.put(FRAME))
    before = path.stat()
    store.put(FRAME)
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_an_object_that_exists_with_other_bytes_is_an_error_and_stays(store):
    path = path_of(store, store.put(FRAME))
    path.chmod(0o644)
    path.write_bytes(b"other")
    with pytest.raises(StoreError, match="with other bytes") as caught:
        store.put(FRAME)
    assert caught.value.action.startswith("remove it")
    assert path.read_bytes() == b"other"


def test_a_snapshot_needs_parts_and_each_document_once(store):
    part = store.put_part("a", FRAME)
    with pytest.raises(StoreError, match="one part per document"):
        store.put_snapshot([part, part])
    with pytest.raises(StoreError, match="one part per document"):
        store.put_snapshot([])


def test_adding_a_document_leaves_the_other_parts(store):
    one, two = release_of(store, "a", "b"), release_of(store, "a", "b", "c")
    old = store.snapshot(one.phase("pages").snapshot).parts
    new = store.snapshot(two.phase("pages").snapshot).parts
    assert new[:2] == old
    assert one.phase("pages").snapshot != two.phase("pages").snapshot


# Memo, refs, sources, releases


def test_the_memo_gives_what_the_same_inputs_gave(store):
    part = store.put_part("a", FRAME)
    store.memo.put({"code": "1", "inputs": ["x"]}, part)
    assert store.memo.get({"inputs": ["x"], "code": "1"}) == part
    assert store.memo.get({"inputs": ["y"], "code": "1"}) is None


def test_the_memo_forgets_what_is_gone(store):
    part = store.put_part("a", FRAME)
    store.memo.put("inputs", part)
    path_of(store, part.object).unlink()
    assert store.memo.get("inputs") is None
    assert store.put_part("a", FRAME) == part
    assert store.memo.get("inputs") == part


def memo_path(store, inputs) -> Path:
    return Path(store.storage.path(memo_name(Digest.of_json(inputs))))


def test_a_memo_entry_pointed_at_another_part_is_refused(store):
    part, other = store.put_part("a", FRAME), store.put_part("a", FRAME[:1])
    store.memo.put("inputs", part)
    path = memo_path(store, "inputs")
    path.write_text(path.read_text().replace(str(part.object), str(other.object)))
    with pytest.raises(StoreError, match=r"memo entry .* was damaged or edited"):
        store.memo.get("inputs")


def test_a_memo_entry_of_other_inputs_is_refused(store):
    store.memo.put("inputs", store.put_part("a", FRAME))
    memo_path(store, "others").write_bytes(memo_path(store, "inputs").read_bytes())
    with pytest.raises(StoreError, match=r"memo entry .* was damaged or edited"):
        store.memo.get("others")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"seal": 1}', "sha256:00"])
def test_a_damaged_memo_entry_is_refused(store, text):
    store.memo.put("inputs", store.put_part("a", FRAME))
    memo_path(store, "inputs").write_text(text)
    with pytest.raises(StoreError, match=r"memo entry .* was damaged or edited"):
        store.memo.get("inputs")


def test_a_ref_moves_in_one_step(store):
    assert store.ref("demo", "pages") is None
    for word in (b"one", b"two"):
        store.set_ref("demo", "pages", Digest.of(word))
        assert store.ref("demo", "pages") == Digest.of(word)


def test_a_source_must_be_the_expected_file(store):
    store.put_source(b"pdf", Digest.of(b"pdf"))
    assert store.source(Digest.of(b"pdf")) == b"pdf"
    with pytest.raises(SourceError, match="not the expected file"):
        store.put_source(b"other", Digest.of(b"pdf"))


def test_a_release_of_missing_objects_is_refused(store):
    release = release_of(store, "a")
    path_of(store, release.index_object("bm25")).unlink()
    with pytest.raises(StoreError, match="missing"):
        store.put_release(release)
    assert store.corpora() == []


# Full disk


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_says_what_was_needed_and_leaves_nothing(store, monkeypatch, code):
    def full(_handle):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", full)
    store_folder = Path(store.root)
    store_folder.mkdir()
    for sub in ("objects", "memo"):
        (store_folder / sub).mkdir()
    data = encode(FRAME.to_arrow(compat_level=pl.CompatLevel.oldest()))
    folder = store_folder / "objects" / Digest.of(data).hex[:2]
    folder.mkdir()
    with pytest.raises(StoreError, match=f"no room in {folder}") as caught:
        store.put(FRAME)
    assert caught.value.expected == f"{len(data):,} bytes"
    assert "free on the device" in caught.value.found
    assert files(store) == {}


@pytest.mark.parametrize(
    ("code", "need", "said"),
    [
        (errno.ENOSPC, 5, ["expected", "found", "to do"]),
        (errno.ENOSPC, 0, ["found", "to do"]),
        (errno.EFBIG, 5, ["expected", "to do"]),
    ],
)
def test_no_room_says_only_what_is_known_and_in_the_way(tmp_path, monkeypatch, code, need, said):
    def full(_handle):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="no room") as caught, durable(tmp_path / "a", need=need):
        pass
    assert [line.partition(":")[0] for line in caught.value.diagnostics()] == said


def test_another_failure_to_write_names_the_file(store, tmp_path):
    (tmp_path / "store").write_text("a file where the folder should be")
    with pytest.raises(StoreError, match=r"cannot (write|look for) .*store/objects"):
        store.put(FRAME)


def test_a_write_that_the_system_cuts_short_leaves_nothing(store):
    small = store.put(FRAME)
    code = (
        "import sys; import polars as pl; from policyproof_assets.store import Store;"
        "Store(sys.argv[1]).put(pl.DataFrame({'n': [i * i for i in range(100_000)]}))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, store.root],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "StoreError: no room in" in result.stderr
    assert list(files(store)) == [object_name(small)]


# Several writers, and killed ones

WRITER = """
import sys
import polars as pl
from policyproof_assets.store import Store
from policyproof_runtime.digest import Digest
store = Store(sys.argv[1])
print("ready", flush=True)
for n in range(int(sys.argv[2])):
    parts = [store.put_part(d, pl.DataFrame({"n": [n], "t": [d * 5000]})) for d in "abc"]
    store.memo.put(n, parts[0])
    snapshot = store.put_snapshot(parts)
    store.set_ref("demo", "pages", snapshot.digest)
print(snapshot.digest)
"""


def start_writer(store, rounds: int) -> subprocess.Popen:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, store.root, str(rounds)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout.readline() == "ready\n"
    return writer


def test_two_writers_of_the_same_objects_both_succeed(store):
    writers = [start_writer(store, 25) for _ in range(2)]
    outputs = [writer.communicate()[0] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert outputs[0] == outputs[1] == f"{store.ref('demo', 'pages')}\n"
    assert not [name for name in files(store) if ".tmp-" in name]


def check_readable(store) -> None:
    """Whatever is visible is whole: objects, memo entries, and the ref with all it needs."""
    for name, data in visible(store).items():
        if name.endswith(".parquet"):
            assert Digest.of(data).hex == Path(name).stem
    for n in range(1000):
        if (part := store.memo.get(n)) is not None:
            store.frame(part.object)
    pages = store.ref("demo", "pages")
    if pages is not None:
        assert store.phase(pages).num_rows == 3


def test_a_store_whose_writer_is_killed_again_and_again_stays_readable(store):
    chance = random.Random(7)  # noqa: S311
    for _ in range(8):
        writer = start_writer(store, 1000)
        time.sleep(chance.uniform(0, 0.15))
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        check_readable(store)
    undisturbed = start_writer(store, 10).communicate()[0]
    assert undisturbed == f"{store.ref('demo', 'pages')}\n"


def test_readers_and_collection_are_not_disturbed_by_a_writer(store):
    writer = start_writer(store, 60)
    while writer.poll() is None:
        collect_garbage(store, delete=True)
        check_readable(store)
    assert writer.communicate()[0] == f"{store.ref('demo', 'pages')}\n"


# Speed


def test_a_ledger_of_twelve_thousand_rows_is_stored_in_well_under_a_second(store):
    rows = 12_008
    table = pa.table(
        {
            "document_id": ["eu-ai-act"] * rows,
            "page": pa.array([i // 80 for i in range(rows)], pa.int32()),
            "line": pa.array([i % 80 for i in range(rows)], pa.int32()),
            "owner": [f"source:page-{i // 80:04}:line-{i % 80:04}" for i in range(rows)],
        }
    )
    start = time.perf_counter()
    content_digest(table)
    store.put(table)
    assert time.perf_counter() - start < 0.9
