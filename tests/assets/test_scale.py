"""The same build elsewhere: on workers of a cluster, into a bucket; what growth may not cost."""

import gc
import tempfile
import time
import urllib.request
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from policyproof_assets.corpus.logical_sources import find_sources
from policyproof_assets.corpus.markdown import read_markdown
from policyproof_assets.corpus.profiles import Review, load_profile
from policyproof_assets.publish import build_corpus
from policyproof_assets.workers import run_each
from policyproof_runtime import load
from policyproof_runtime.bundle import pack, unpack
from policyproof_runtime.errors import StoreError
from policyproof_runtime.objects import ObjectStore
from policyproof_runtime.verify import verify_release

from .small_corpus import TEXTS, write_corpus


def build(manifest, store, **options):
    options.setdefault("executor", lambda: ThreadPoolExecutor(2))
    return build_corpus(str(manifest), str(store), **options)


@pytest.fixture
def cluster():
    """Two worker processes behind a Dask scheduler; yields a client of it."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, protocol="tcp://"
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


def test_a_dask_cluster_gives_the_same_release(tmp_path, cluster):
    manifest = write_corpus(tmp_path, {**TEXTS, "scan": [[]]})
    here, work = build(manifest, tmp_path / "here", keep_going=True)
    there, afar = build(
        manifest, tmp_path / "there", keep_going=True, executor=cluster.get_executor
    )
    assert there == here
    assert afar.made == work.made
    assert list(afar.left_out) == ["scan"]


@pytest.fixture
def bucket():
    """The URI of a folder in a bucket on an S3 server of our own."""
    server = pytest.importorskip("moto.server", reason="moto (an S3 server) is not installed")
    running = server.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    put = urllib.request.Request(f"http://{host}:{port}/bucket", method="PUT")
    urllib.request.urlopen(put).close()  # noqa: S310
    query = f"endpoint_override={host}:{port}&scheme=http&region=us-east-1"
    yield f"s3://someone:password@bucket/artifacts?{query}"
    running.stop()


def test_a_bucket_serves_from_build_to_answer(tmp_path, bucket):
    manifest = write_corpus(tmp_path)
    local, _ = build(manifest, tmp_path / "local")
    release, work = build_corpus(str(manifest), bucket)  # by the processes of this machine
    assert release == local
    assert work.made > 0
    assert build(manifest, bucket)[1].made == 0
    verify_release(ObjectStore(bucket), "small")
    citation = load("small", bucket).ask("How many days of annual leave a year?").citations[0]
    assert (citation.document_id, citation.page_start, citation.line_start) == ("leave", 1, 3)


@pytest.fixture
def no_scratch(monkeypatch):
    """A machine whose temporary folders are all full."""

    def refuse(**_):
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", refuse)


@pytest.mark.usefixtures("no_scratch")
def test_a_local_store_needs_no_temporary_folder(tmp_path):
    assert build(write_corpus(tmp_path), tmp_path / "store")[1].made > 0


@pytest.mark.usefixtures("no_scratch")
def test_a_bucket_without_a_temporary_folder_is_an_error_that_says_so(tmp_path, bucket):
    with pytest.raises(StoreError, match="No usable temporary directory") as caught:
        build(write_corpus(tmp_path), bucket.replace("/artifacts?", "/empty?"))
    assert "TMPDIR" in caught.value.action


def test_a_release_travels_from_a_bucket_to_a_folder(tmp_path, bucket):
    release, _ = build(write_corpus(tmp_path), bucket)
    pack(ObjectStore(bucket), "small", tmp_path / "bundle")
    folder = ObjectStore(str(tmp_path / "store"))
    unpack(tmp_path / "bundle", folder)
    verify_release(folder, "small")
    assert load("small", tmp_path / "store").release.digest == release


def test_a_document_more_is_the_only_one_read(tmp_path):
    build(write_corpus(tmp_path), tmp_path / "store")
    more = {**TEXTS, "visits": [["1 Visitors", "Visitors sign in at reception."]]}
    _, work = build(write_corpus(tmp_path, more), tmp_path / "store")
    whole = build(write_corpus(tmp_path / "alone", {"visits": more["visits"]}), tmp_path / "alone")
    assert work.made <= whole[1].made


def test_results_are_not_kept_once_taken():
    """Memory of the building process must not grow with the documents that are done."""

    class Result:
        pass

    alive = []
    with ThreadPoolExecutor(1) as pool:
        for _, result in run_each(pool, Result, [("a", ()), ("b", ()), ("c", ())]):
            alive.append(weakref.ref(result))
            del result
            gc.collect()
            assert sum(ref() is not None for ref in alive[:-1]) == 0


def test_sections_cost_in_proportion_to_their_number(tmp_path, manifests, read_structure):
    sections = (f"{'#' * (1 + i * i % 5)} Section {i}\n\nText {i}.\n\n---\n" for i in range(8000))
    path = tmp_path / "long.md"
    path.write_text("\n".join(sections))
    profile = load_profile(manifests / "profiles" / "markdown.toml")
    pages = read_markdown(path, "long")
    start = time.process_time()
    lines, _, hierarchy, spans = read_structure(pages, profile, Review(document_id="long"))
    found = find_sources(lines, hierarchy, spans, profile)
    # Well under a second; where each section looked at all that follow, ten.
    assert time.process_time() - start < 4
    assert len(found) == 8000
