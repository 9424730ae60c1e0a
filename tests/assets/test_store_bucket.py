"""The store in a bucket: the same behaviour behind a URI, tried on a local S3 server."""

import urllib.request

import polars as pl
import pytest

from policyproof_assets.garbage import collect_garbage
from policyproof_assets.store import Store
from policyproof_runtime import storage
from policyproof_runtime.bundle import pack, unpack
from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import StoreError
from policyproof_runtime.objects import object_name
from policyproof_runtime.release import Phase, Release
from policyproof_runtime.verify import verify_release

server = pytest.importorskip("moto.server", reason="moto (an S3 server) is not installed")
FRAME = pl.DataFrame({"n": [1, 2]})


@pytest.fixture(scope="module")
def address():
    running = server.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    put = urllib.request.Request(f"http://{host}:{port}/bucket", method="PUT")
    urllib.request.urlopen(put).close()  # noqa: S310
    yield f"{host}:{port}"
    running.stop()


@pytest.fixture
def store(address, request):
    query = f"endpoint_override={address}&scheme=http&region=us-east-1"
    return Store(f"s3://someone:password@bucket/{request.node.name}?{query}")


def accept_release(store) -> Release:
    snapshot = store.put_snapshot([store.put_part("a", FRAME), store.put_part("b", FRAME[:1])])
    release = Release("demo", "Demo", (), {"pages": Phase.of(snapshot)}, {}, {}, {}, {}, {}, {})
    store.put_release(release)
    return release


def test_a_release_is_written_verified_and_packed(store, tmp_path):
    release = accept_release(store)
    verify_release(store, "demo")
    assert store.corpora() == ["demo"]
    assert store.releases("demo") == [release.digest]
    pack(store, "demo", tmp_path / "bundle")
    local = Store(tmp_path / "local")
    unpack(tmp_path / "bundle", local)
    verify_release(local, "demo")


def test_memo_and_garbage_work_as_in_a_folder(store, monkeypatch):
    accept_release(store)
    part = store.put_part("c", FRAME[1:])
    store.memo.put("inputs", part)
    monkeypatch.setattr(storage, "FRESH_SECONDS", -1)
    assert store.memo.get("inputs") == part
    assert collect_garbage(store, delete=True) == []
    assert len(collect_garbage(store, grace_hours=-1, delete=True)) == 2
    assert store.memo.get("inputs") is None
    verify_release(store, "demo")


def test_other_bytes_are_refused(store):
    digest = store.put(FRAME)
    store.storage.replace(object_name(digest), b"other")
    with pytest.raises(StoreError, match="is corrupt"):
        store.table(digest)


def test_errors_do_not_show_the_credentials(store, address):
    with pytest.raises(StoreError, match="is missing") as caught:
        store.table(Digest.of(b"nothing"))
    assert "password" not in str(caught.value)
    lost = Store(
        f"s3://someone:password@nowhere/x?endpoint_override={address}&scheme=http&region=x"
    )
    with pytest.raises(StoreError, match="cannot write s3://nowhere/x/objects") as caught:
        lost.put(FRAME)
    assert "password" not in str(caught.value)
