"""A build from PDFs to a release: repeatable, resumable, and honest about what it cannot read."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from policyproof_assets.errors import ExtractError, GateError, ManifestError, SourceError
from policyproof_assets.figures import check_figures
from policyproof_assets.project import Project
from policyproof_assets.publish import build_corpus
from policyproof_assets.store import Store
from policyproof_runtime import load
from policyproof_runtime.errors import StoreError
from policyproof_runtime.release import load_release

from .small_corpus import TEXTS, write_corpus, write_pdf


def build(manifest, store, **options):
    options.setdefault("executor", lambda: ThreadPoolExecutor(2))
    return build_corpus(str(manifest), str(store), **options)


def test_a_build_answers_with_the_place_of_the_words(tmp_path):
    build(write_corpus(tmp_path), tmp_path / "store")
    answer = load("small", tmp_path / "store").ask("How many days of annual leave a year?")
    assert answer.decision == "answer"
    citation = answer.citations[0]
    assert "thirty days" in citation.excerpt
    assert (citation.document_id, citation.page_start, citation.line_start) == ("leave", 1, 3)


def test_a_second_build_does_nothing_and_gives_the_same_release(tmp_path):
    manifest = write_corpus(tmp_path)
    first, work = build(manifest, tmp_path / "store")
    assert work.made > 0
    second, work = build(manifest, tmp_path / "store")
    assert (second, work.made) == (first, 0)


def test_two_folders_and_any_number_of_workers_give_the_same_release(tmp_path):
    manifest = write_corpus(tmp_path)
    one, _ = build(manifest, tmp_path / "a", executor=lambda: ThreadPoolExecutor(1))
    many, _ = build(manifest, tmp_path / "b", executor=lambda: ThreadPoolExecutor(8))
    processes = build_corpus(str(manifest), str(tmp_path / "c"))[0]
    assert one == many == processes


def test_two_builders_at_once_both_succeed_with_the_same_release(tmp_path):
    manifest = write_corpus(tmp_path)
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda _: build(manifest, tmp_path / "store")[0], range(2)))
    assert results[0] == results[1]
    load_release(Store(str(tmp_path / "store")), "small")


BUILD = "import sys; from policyproof_assets.publish import build_corpus as b; b(*sys.argv[1:])"


def test_a_killed_build_is_finished_by_the_next_one(tmp_path):
    manifest = write_corpus(tmp_path)
    undisturbed, _ = build(manifest, tmp_path / "whole")
    for delay in (0.5, 1.0, 1.5, 2.0):
        process = subprocess.Popen(
            [sys.executable, "-c", BUILD, str(manifest), str(tmp_path / "killed")],
            start_new_session=True,
        )
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert build(manifest, tmp_path / "killed")[0] == undisturbed


def test_a_changed_review_rebuilds_only_later_phases_of_its_document(tmp_path):
    manifest = write_corpus(tmp_path)
    build(manifest, tmp_path / "store")
    (tmp_path / "reviews").mkdir()
    (tmp_path / "reviews" / "leave.toml").write_text(
        '[[rows]]\nkind = "not_heading"\npage = 2\nline = 1\ntext = "2 Sick leave"\n'
        'reason = "a test"\n'
    )
    store = Store(str(tmp_path / "store"))
    before = {name: store.snapshot(store.ref("small", name)) for name in ("pages", "passages")}
    build(manifest, tmp_path / "store")
    after = {name: store.snapshot(store.ref("small", name)) for name in ("pages", "passages")}
    assert before["pages"] == after["pages"]
    assert before["passages"].part("travel") == after["passages"].part("travel")
    assert before["passages"].part("leave") != after["passages"].part("leave")


def test_a_changed_source_is_refused_by_both_digests(tmp_path):
    manifest = write_corpus(tmp_path)
    write_pdf(tmp_path / "leave.pdf", [["another file"]])
    with pytest.raises(SourceError, match="not the document the manifest pins"):
        build(manifest, tmp_path / "store")


def test_a_source_that_changed_after_a_build_is_not_passed_over(tmp_path):
    manifest = write_corpus(tmp_path)
    build(manifest, tmp_path / "store")
    write_pdf(tmp_path / "leave.pdf", [["another file"]])
    with pytest.raises(SourceError, match=r"leave\.pdf is not the document the manifest pins"):
        build(manifest, tmp_path / "store")
    (tmp_path / "leave.pdf").unlink()  # the store has the one that is pinned
    assert build(manifest, tmp_path / "store")[1].made == 0


def test_a_document_that_cannot_be_read_is_left_out_only_when_asked(tmp_path):
    manifest = write_corpus(tmp_path, {**TEXTS, "scan": [[]]})
    with pytest.raises(ExtractError, match=r"^scan"):
        build(manifest, tmp_path / "strict")
    _, work = build(manifest, tmp_path / "store", keep_going=True)
    assert list(work.left_out) == ["scan"]
    release = load_release(Store(str(tmp_path / "store")), "small")
    assert [document.id for document in release.documents] == ["leave", "travel"]
    assert "scan" in release.notes[0]


def test_a_figure_that_is_not_reproduced_stops_the_release(tmp_path):
    manifest = write_corpus(tmp_path)
    (tmp_path / "expected").mkdir()
    (tmp_path / "expected" / "small.toml").write_text("[passages]\npassages = 99\n")
    with pytest.raises(GateError, match="passages: expected 99, found 3"):
        build(manifest, tmp_path / "store")
    assert Store(str(tmp_path / "store")).ref("small", "release") is None


def test_scores_that_differ_between_processors_have_a_tolerance():
    expected = {"bm25": {"test": {"ndcg": 0.5}}, "fused": {"test": {"ndcg": 0.5}}}
    near = {"bm25": {"test": {"ndcg": 0.5}}, "fused": {"test": {"ndcg": 0.515}}}
    check_figures("benchmark", expected, near, {"fused": 0.02})
    with pytest.raises(GateError, match=r"fused.test.ndcg: expected 0.5, found 0.515"):
        check_figures("benchmark", expected, near, {"fused": 0.01})
    with pytest.raises(GateError, match=r"fused.test.ndcg: expected 0.5, found None"):
        check_figures("benchmark", expected, {"bm25": near["bm25"]}, {"fused": 0.02})


def test_a_corrupt_object_is_named_and_never_rebuilt_in_silence(tmp_path):
    manifest = write_corpus(tmp_path)
    build(manifest, tmp_path / "store")
    store = Store(str(tmp_path / "store"))
    part = store.snapshot(store.ref("small", "passages")).parts[0]
    path = next((tmp_path / "store" / "objects").rglob(f"{part.object.hex}.parquet"))
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(StoreError, match="corrupt"):
        load("small", tmp_path / "store")


def test_an_unknown_corpus_lists_those_there_are():
    with pytest.raises(ManifestError, match="ai-governance"):
        Project().corpus("nowhere")
