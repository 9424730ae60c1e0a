import json
from dataclasses import replace
from pathlib import Path

import pytest

from policyproof_runtime.digest import Digest, canonical_json
from policyproof_runtime.errors import ReleaseError, StoreError
from policyproof_runtime.objects import object_name
from policyproof_runtime.release import SCHEMA, Release, load_release, objects_of


def edited(release, **changes):
    return canonical_json({**json.loads(release.to_json()), **changes})


def test_a_release_survives_its_json(release):
    assert Release.from_json(release.to_json()) == release


def test_the_newest_accepted_release_is_the_default(store, release):
    newer = replace(release, notes=("newer",))
    store.put_release(newer)
    assert load_release(store, "demo") == newer
    assert load_release(store, "demo", release.digest) == release
    store.put_release(replace(release, notes=("rejected",)), accept=False)
    assert load_release(store, "demo") == newer
    assert len(store.releases("demo")) == 3


@pytest.mark.parametrize("corpus", ["nosuch", "../demo", "", "demo/x"])
def test_an_unknown_corpus_says_what_there_is_and_how_to_build(store, release, corpus):
    with pytest.raises(ReleaseError, match="no release of corpus") as caught:
        load_release(store, corpus)
    assert caught.value.expected == f"one of: {release.corpus}"
    assert "policyproof build" in caught.value.action


def test_an_empty_store_says_that_nothing_was_built(store):
    with pytest.raises(ReleaseError, match="a corpus that was built"):
        load_release(store, "demo")


def test_an_unknown_release_lists_the_known_ones(store, release):
    with pytest.raises(ReleaseError, match="the store has no release sha256:") as caught:
        load_release(store, "demo", Digest.of(b"?"))
    assert str(release.digest) in caught.value.expected


def test_a_ref_to_nothing_is_refused(store, release):
    store.set_ref("demo", "release", Digest.of(b"?"))
    with pytest.raises(ReleaseError, match="the store has no release sha256:") as caught:
        load_release(store, "demo")
    assert str(release.digest) in caught.value.expected


def test_an_edited_release_is_refused(store, release, overwrite):
    path = Path(store.storage.path(f"releases/demo/{release.digest.hex}.json"))
    overwrite(path, edited(release, title="Another title"))
    with pytest.raises(StoreError, match=r"release .* is corrupt"):
        load_release(store, "demo")


def test_a_release_moved_to_another_corpus_is_refused(store, release):
    store.storage.create(f"releases/other/{release.digest.hex}.json", release.to_json())
    store.set_ref("other", "release", release.digest)
    with pytest.raises(ReleaseError, match="of another corpus"):
        load_release(store, "other")


@pytest.mark.parametrize("schema", [SCHEMA + 1, SCHEMA - 1, None, str(SCHEMA)])
def test_another_schema_is_refused_with_the_way_out(release, schema):
    message = f"written by schema {schema}; this runtime reads {SCHEMA}"
    with pytest.raises(ReleaseError, match=message) as caught:
        Release.from_json(edited(release, schema=schema, unknown_here=1))
    assert caught.value.action == "rebuild it with: policyproof build demo"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"extra": 1}, "unknown key extra"),
        ({"title": 3}, r"Expected `str`, got `int` - at `\$\.title`"),
        ({"documents": {}}, r"Expected `array`, got `object` - at `\$\.documents`"),
        ({"documents": [{}]}, r"missing required field `id` - at `\$\.documents\[0\]`"),
        ({"index": {"bm25": "sha256:12"}}, "'sha256:12' is not a SHA-256 digest - at"),
        ({"index": {"bm25": 12}}, "12 is not a SHA-256 digest - at"),
        ({"phases": {"pages": 1}}, r"Expected `object`, got `int` - at `\$\.phases"),
        ({"models": {"m": Digest.of(b"").hex}}, "not in canonical JSON"),
    ],
)
def test_a_bad_key_is_named(release, changes, message):
    with pytest.raises(ReleaseError, match=message):
        Release.from_json(edited(release, **changes))


def test_true_is_not_a_number_of_rows(release):
    phases = json.loads(release.to_json())["phases"]
    phases["pages"]["rows"] = True
    with pytest.raises(ReleaseError, match="Expected `int`, got `bool`"):
        Release.from_json(edited(release, phases=phases))


@pytest.mark.parametrize("value", ["NaN", "1e999", '"\\ud800"'])
def test_values_without_a_canonical_form_are_refused(release, value):
    data = release.to_json().replace(b'"threshold":0.5', f'"threshold":{value}'.encode())
    with pytest.raises(ReleaseError, match="not a valid release"):
        Release.from_json(data)


def test_stray_files_are_no_releases(store, release):
    for name in ("notes.txt", "notes.json"):
        (Path(store.root) / "releases/demo" / name).write_text("x")
    assert store.releases("demo") == [release.digest]


@pytest.mark.parametrize("data", [b"[" * 100_000, b"", b"{", b"\xff", b"[]", b"1"])
def test_what_is_no_release_is_refused(data):
    with pytest.raises(ReleaseError, match=r"not a valid release|written by schema None"):
        Release.from_json(data)


def test_json_in_another_form_is_refused(release):
    with pytest.raises(ReleaseError, match="not in canonical JSON"):
        Release.from_json(json.dumps(json.loads(release.to_json()), indent=1).encode())


def test_a_release_holds_no_path_of_the_machine(store, release):
    assert store.storage.label.encode() not in release.to_json()


def test_objects_of_a_release_are_each_named_once(store, release):
    objects = list(objects_of(release, store.read))
    # Two snapshots of two parts, and the index.
    assert len(objects) == len(set(objects)) == 7


def test_what_a_release_lacks_is_named(release):
    with pytest.raises(ReleaseError, match="has no phase units"):
        release.phase("units")
    with pytest.raises(ReleaseError, match="has no index dense"):
        release.index_object("dense")
    with pytest.raises(ReleaseError, match="has no document third"):
        release.document("third")
    assert release.document("second").title == "Title of second"


def test_a_release_with_a_damaged_object_is_not_accepted(store, release):
    path = Path(store.storage.path(object_name(next(iter(release.index.values())))))
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    newer = replace(release, notes=("newer",))
    with pytest.raises(StoreError, match="corrupt"):
        store.put_release(newer)
    assert newer.digest not in store.releases("demo")
