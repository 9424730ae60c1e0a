"""The command: results on stdout, the rest on stderr, exit codes, batches, lean imports."""

import csv
import io
import json
import os
import pkgutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

import policyproof_runtime
from policyproof_runtime.cli import cli
from policyproof_runtime.output import printable

HEAVY = {"dagster", "pdfplumber", "sklearn", "fastapi", "polars", "pydantic"}
QUESTIONS = [
    {"id": "m", "question": "What is the limit for meals abroad?"},
    {"id": 2, "question": "Who is the pope?"},
]


@pytest.fixture
def run(served, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLICYPROOF_STORE", served.root)

    def invoke(*arguments, stdin=None):
        return CliRunner().invoke(cli, arguments, input=stdin)

    return invoke


def test_ask_shows_excerpt_and_place(run):
    result = run("ask", QUESTIONS[0]["question"])
    assert result.exit_code == 0
    assert "Article 2 — Meals\nTitle of travel · page 1, lines 7–8\n" in result.stdout
    assert "a limit of 40." in result.stdout
    assert "\x1b" not in result.stdout


def test_an_abstention_is_a_result(run):
    result = run("ask", "What is the limit for meals in Kansas?")
    assert result.exit_code == 0
    assert result.stdout.startswith("No answer")
    assert "Not found: Kansas" in result.stdout
    assert "Related, not an answer:" in result.stdout


def test_ask_as_json(run):
    answer = json.loads(run("ask", "--json", QUESTIONS[0]["question"]).stdout)
    assert (answer["decision"], answer["corpus"]) == ("answer", "served")


def test_retrieve_shows_ranks_or_json(run):
    assert "Article 2 — Meals" in run("retrieve", "meals").stdout
    hits = json.loads(run("retrieve", "--json", "--top-k", "1", "meals").stdout)["hits"]
    assert [hit["label"] for hit in hits] == ["Article 2 — Meals"]
    assert run("retrieve", "zeppelin").stdout == "No passage matches.\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["ask"], 2, "either a QUESTION or --batch"),
        (["ask", "x", "--batch", "y"], 2, "either a QUESTION or --batch"),
        (["ask", "x", "--out", "y"], 2, "--out belongs to --batch"),
        (["ask", ""], 1, "the question is empty"),
        (["ask", "x" * 100_000], 1, "found:    100,000 characters"),
        (["ask", "x", "--corpus", "other"], 1, "one of: served"),
        (["retrieve", "x", "--method", "magic"], 1, "no such retrieval method"),
        (["retrieve", "x", "--top-k", "0"], 1, "top_k is out of range"),
        (["ask", "--batch", "nowhere.jsonl"], 1, "cannot read nowhere.jsonl"),
        (["verify", "other"], 1, "no release of corpus 'other'"),
        (["verify", "f" * 64], 1, "no release of corpus 'ffff"),
        (["unpack", "nowhere"], 1, "cannot read the bundle nowhere"),
        (["dance"], 2, "No such command"),
    ],
)
def test_errors_go_to_stderr_with_their_code(run, arguments, code, message):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


def test_without_a_release_it_says_how_to_get_one(run, monkeypatch, tmp_path):
    monkeypatch.setenv("POLICYPROOF_STORE", str(tmp_path / "empty"))
    result = run("ask", "x")
    assert result.exit_code == 1
    assert "policyproof build" in result.stderr


def test_several_corpora_must_be_told_apart(run, served, release):  # noqa: ARG001 a second corpus
    result = run("ask", "x")
    assert result.exit_code == 1
    assert "demo, served" in result.stderr


def test_a_batch_from_stdin_to_stdout(run):
    lines = "\n\n".join(json.dumps(question) for question in QUESTIONS)
    result = run("ask", "--batch", "-", stdin=lines)
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(a["id"], a["decision"]) for a in answers] == [("m", "answer"), (2, "abstain")]
    assert list(answers[0])[:3] == ["id", "question", "decision"]
    assert "2 questions done" in result.stderr


def test_a_batch_from_csv_to_csv(run):
    Path("in.csv").write_text('\ufeffid,question\r\nm,"What is the limit\nfor meals abroad?"\r\n')
    assert run("ask", "--batch", "in.csv", "--out", "out.csv").exit_code == 0
    [row] = csv.DictReader(io.StringIO(Path("out.csv").read_text()))
    assert row["decision"] == "answer"
    assert row["answer"] == "Meals abroad are paid up to\na limit of 40."
    assert row["sources"] == "Title of travel · Article 2 — Meals · page 1, lines 7–8"
    assert json.loads(row["citations"])[0]["line_end"] == 8


def test_a_retrieve_batch_has_one_csv_row_per_hit(run):
    Path("in.jsonl").write_text(json.dumps({"question": "meals or a model"}))
    assert run("retrieve", "--batch", "in.jsonl", "--out", "out.csv").exit_code == 0
    rows = list(csv.DictReader(io.StringIO(Path("out.csv").read_text())))
    assert [row["rank"] for row in rows] == ["1", "2", "3"]
    assert {row["id"] for row in rows} == {"1"}


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("q.jsonl", b'{"question": "x"}\n{bad', "q.jsonl, line 2: not valid JSON"),
        ("q.jsonl", b'{"question": "x"}\n\n{"id": 1}', "q.jsonl, line 3: the question is empty"),
        ("q.jsonl", b'{"question": 7}', "line 1: 'question' must be text"),
        ("q.jsonl", b'{"id": [], "question": "x"}', "line 1: 'id' must be text or a number"),
        ("q.jsonl", b'{"question": "a\\u0000b"}', "line 1: the question holds a control character"),
        ("q.jsonl", b'{"question": "\xff"}', "line 1: not valid UTF-8"),
        ("q.jsonl", b"[1]", "line 1: a JSON object is expected"),
        ("q.jsonl", b"[" * 100_000, "line 1: not valid JSON"),
        ("q.csv", b"id,text\r\n1,x\r\n", "q.csv, line 1: there is no column 'question'"),
        ("q.csv", b"question\r\nx\r\na,b\r\n", "q.csv, line 3: more cells than the header has"),
        ("q.csv", b'question\r\n"x" y\r\n', "q.csv, line 2: not valid CSV"),
        ("q.csv", b"question\r\n\xe4\r\n", "q.csv, line 2: not valid UTF-8"),
        ("q.csv", b"question,id\r\n,1\r\n", "q.csv, line 2: the question is empty"),
        ("q.csv", b"", "q.csv, line 1: there is no column 'question'"),
    ],
)
def test_a_bad_batch_line_is_named_and_nothing_is_written(run, name, data, message):
    Path(name).write_bytes(data)
    result = run("ask", "--batch", name, "--out", "out.jsonl")
    assert result.exit_code == 1
    assert message in result.stderr
    assert sorted(path.name for path in Path().iterdir()) == sorted([name, "store"])
    assert run("ask", "--batch", name).stdout == ""


def test_a_batch_needs_a_folder_to_write_to(run):
    result = run("ask", "--batch", "-", "--out", "nowhere/out.jsonl", stdin="")
    assert result.exit_code == 1
    assert "there is no folder nowhere" in result.stderr


LINES = "\n".join(json.dumps(question) for question in QUESTIONS)


def test_a_batch_is_written_through_a_link(run):
    Path("there").mkdir()
    Path("there/out.jsonl").write_text("old")
    for name in ("out", "new"):
        Path(name).symlink_to(f"there/{name}.jsonl")
        assert run("ask", "--batch", "-", "--out", name, stdin=LINES).exit_code == 0
        assert Path(name).is_symlink()
        assert len(Path(f"there/{name}.jsonl").read_text().splitlines()) == 2


def test_a_batch_is_written_into_a_pipe_not_over_it(run):
    os.mkfifo("pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_text()), daemon=True)
    reader.start()
    assert run("ask", "--batch", "-", "--out", "pipe", stdin=LINES).exit_code == 0
    assert Path("pipe").is_fifo()
    reader.join(10)
    assert len(read[0].splitlines()) == 2


@pytest.mark.parametrize("name", ["store", "link"])
def test_a_batch_cannot_take_the_place_of_a_folder(run, name):
    Path("link").symlink_to("store")
    result = run("ask", "--batch", "-", "--out", name, stdin="{bad")
    assert result.exit_code == 1
    assert f"cannot write {name}: it is a folder" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_behind_stdout_is_said_plainly(run):  # noqa: ARG001 its store and folder
    Path("in.jsonl").write_text(LINES)
    command = [sys.executable, "-m", "policyproof_runtime.cli", "ask", "--batch", "in.jsonl"]
    environment = os.environ | {"PYTHONPATH": str(Path(policyproof_runtime.__file__).parents[1])}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment
        )
    assert done.returncode == 1
    assert done.stderr.startswith("Error: cannot write to stdout: No space left")
    assert len(done.stderr.splitlines()) == 1


def test_an_id_that_is_no_text_is_refused_before_a_question_is_answered(run, monkeypatch):
    monkeypatch.setattr("policyproof_runtime.cli_batch._answered", pytest.fail)
    result = run("ask", "--batch", "-", stdin='{"question": "x"}\n{"id": "\\ud800"}')
    assert (result.exit_code, result.stdout) == (1, "")
    assert "stdin, line 2: 'id' is no valid text" in result.stderr


def test_an_empty_batch_gives_an_empty_file(run):
    assert run("ask", "--batch", "-", "--out", "out.jsonl", stdin="").exit_code == 0
    assert Path("out.jsonl").read_bytes() == b""


def test_a_release_travels_as_one_file(run, monkeypatch):
    digest = run("pack", "-o", "one.policyproof").stdout.split()[2]
    monkeypatch.setenv("POLICYPROOF_STORE", "elsewhere")
    assert run("unpack", "one.policyproof").stdout == f"unpacked served {digest}\n"
    assert run("verify", digest).stdout == f"verified served {digest}\n"
    assert json.loads(run("ask", "--json", "meals abroad limit").stdout)["release"] == digest


def test_gc_lists_before_it_deletes(run):
    result = run("gc", "--hours", "0")
    assert result.exit_code == 0
    assert "0 files, 0 bytes could go (--delete)" in result.stderr


def test_steering_characters_of_a_source_are_not_printed():
    assert printable("a\x1b[2Jb\u202ec\td\n") == "a�[2Jb�c\td\n"


def test_no_module_of_the_runtime_imports_the_pipeline_or_the_web():
    names = [module.name for module in pkgutil.iter_modules(policyproof_runtime.__path__)]
    code = "import importlib, sys\nfor n in sys.argv[1:]: importlib.import_module(n)\n"
    code += "print(*sorted(m for m in sys.modules if '.' not in m))"
    modules = ["policyproof_runtime", *(f"policyproof_runtime.{name}" for name in names)]
    done = subprocess.run(
        [sys.executable, "-c", code, *modules], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "policyproof_runtime" in loaded
    assert not loaded & (HEAVY | {"policyproof_assets"})


def test_output_that_cannot_be_written_is_an_error_and_no_traceback(served):
    code = "from policyproof_runtime.cli import main; main()"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, "ask", "--json", "meals", "--store", served.root],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "Error: cannot read or write: No space left on device\n"


def test_a_file_that_cannot_be_read_is_an_error_and_no_traceback(run, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied", "docs")

    monkeypatch.setattr("policyproof_runtime.cli_store.verify_release", refuse)
    result = run("verify")
    assert (result.exit_code, result.stderr) == (1, "Error: docs: Permission denied\n")
