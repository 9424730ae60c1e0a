"""What may not stand in the repository: facts of documents in code, machines, registries."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from policyproof_runtime.cli import cli

from .conftest import ROOT

PRODUCT = sorted(path for path in ROOT.glob("policyproof_*/**/*.py"))
GENERATED = {"artifacts", "build", "dist", "__pycache__"}
HEX = re.compile(r"\b[0-9a-f]{64}\b")
PASSAGE_ID = re.compile(r"page-\d{2,}|line-\d{2,}")
MACHINE = re.compile(r"(?<![\w.:/])/(?:home|root|work|Users)/\w|\b[A-Z]:\\\\?Users")
REGISTRY = re.compile(r"https?:|index-url|find-links|trusted-host|@ file:")


def manifests(kind: str) -> list[dict]:
    return [
        tomllib.loads(path.read_text("utf-8"))
        for path in sorted((ROOT / "manifests" / kind).glob("*.toml"))
    ]


def text_files() -> Iterator[Path]:
    shown = [path for path in ROOT.iterdir() if not path.name.startswith(".")]
    for top in [*shown, ROOT / ".ci"]:
        files = [top] if top.is_file() else sorted(top.rglob("*"))
        for path in files:
            if path.is_file() and not GENERATED.intersection(path.parts):
                yield path


def lines_with(pattern: re.Pattern[str], paths) -> list[str]:
    found = []
    for path in paths:
        text = path.read_bytes().decode("utf-8", "ignore")
        found += [f"{path.relative_to(ROOT)}: {m[0]}" for m in pattern.finditer(text)]
    return found


def figures(value) -> Iterator[int]:
    if isinstance(value, dict):
        for name, item in value.items():
            # The largest passage may be as long as the models allow, which is no fact of a corpus.
            if name != "maximum_tokens":
                yield from figures(item)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value


def test_there_is_product_code_to_look_at():
    assert len(PRODUCT) > 30
    assert len(manifests("corpora")) >= 1
    assert len(list(figures(manifests("expected")[0]))) > 30


def test_no_document_is_named_in_code():
    names = [d["id"] for corpus in manifests("corpora") for d in corpus["documents"]]
    assert lines_with(re.compile("|".join(map(re.escape, names))), PRODUCT) == []


@pytest.mark.parametrize("pattern", [HEX, PASSAGE_ID], ids=["digest", "place"])
def test_no_digest_and_no_place_of_a_document_stands_in_code(pattern):
    assert lines_with(pattern, PRODUCT) == []


def test_no_figure_of_a_corpus_stands_in_code():
    # Below 200, and for round numbers, the same value has other reasons to be there.
    known = {n for expected in manifests("expected") for n in figures(expected)}
    known = {n for n in known if n >= 200 and n % 100}
    found = [
        f"{path.name}:{node.lineno}: {node.value}"
        for path in PRODUCT
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value in known
    ]
    assert found == []


def test_no_path_of_a_machine_stands_in_the_repository():
    files = [path for path in text_files() if path != Path(__file__)]
    assert lines_with(MACHINE, files) == []


def test_requirements_name_no_registry():
    files = [*ROOT.glob("requirements*.txt"), ROOT / "pyproject.toml"]
    assert len(files) >= 3
    assert lines_with(REGISTRY, files) == []


def test_the_readme_names_every_command_and_no_other():
    documented = set(re.findall(r"`policyproof ([a-z]+)", (ROOT / "README.md").read_text()))
    assert documented == set(cli.list_commands(click.Context(cli)))
