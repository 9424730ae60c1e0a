"""``policyproof diff`` over releases, documents of releases, and files."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner

from policyproof_assets.publish import build_corpus
from policyproof_runtime.cli import cli

from .small_corpus import TEXTS, write_corpus, write_pdf

LATER = {
    **TEXTS,
    "leave": [[line.replace("thirty", "forty") for line in p] for p in TEXTS["leave"]],
}


@pytest.fixture
def diff(tmp_path, monkeypatch):
    monkeypatch.setenv("POLICYPROOF_STORE", str(tmp_path / "store"))

    def invoke(*arguments):
        return CliRunner().invoke(cli, ["diff", *map(str, arguments)])

    return invoke


@pytest.fixture
def releases(tmp_path):
    return [
        build_corpus(
            str(write_corpus(tmp_path, texts)),
            str(tmp_path / "store"),
            executor=lambda: ThreadPoolExecutor(1),
        )[0]
        for texts in (TEXTS, LATER)
    ]


def test_two_releases_differ_by_their_words(diff, releases):
    found = diff(releases[0].hex[:12], "small")
    assert found.exit_code == 0
    assert "1 changed, 2 passages the same" in found.stdout
    assert "leave policy › 1 Annual leave" in found.stdout
    assert "Every employee has [-thirty-] {+forty+} days of leave a year." in found.stdout


def test_json_has_both_sides_and_every_change(diff, releases):
    found = json.loads(diff("--json", releases[0], releases[1]).stdout)
    assert [found[name]["digest"] for name in "ab"] == [str(digest) for digest in releases]
    assert [change["words"][0]["new"] for change in found["changes"]] == ["forty"]
    assert found["changes"][0]["old"][0]["citation"]["page_start"] == 1


def test_a_document_against_itself_in_another_release(diff, releases):
    found = diff(f"{releases[0]}:leave", "small:leave")
    assert "1 changed, 1 passages the same" in found.stdout
    assert "no words differ" in diff("small:travel", f"{releases[0]}:travel").stdout


@pytest.mark.usefixtures("releases")
def test_a_release_and_a_document_cannot_be_compared(diff):
    assert diff("small", "small:leave").exit_code == 2


@pytest.mark.usefixtures("releases")
def test_what_does_not_exist_is_named(diff):
    assert "has no document nobody" in diff("small:nobody", "small:leave").stderr
    assert "no release of corpus 'other.pdf'" in diff("small:leave", "other.pdf").stderr


def test_files_are_read_by_the_profile_that_is_asked_for(diff, tmp_path):
    lines = [["1. Introduction", "We compare the words of two files.", "They say the same."]]
    write_pdf(tmp_path / "one.pdf", lines)
    write_pdf(tmp_path / "two.pdf", [[*lines[0], "The last words are new."]])
    files = tmp_path / "one.pdf", tmp_path / "two.pdf"
    found = diff(*files, "--profile", "nist-genai-profile")
    assert "They say the same. {+The last words are new.+}" in found.stdout
    assert "profiles nobody, which does not exist" in diff(*files, "--profile", "nobody").stderr
