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

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """Build the tokenizer; raises ModelError if ``vocabulary`` is none."""
        ids = {token: number for number, token in enumerate(vocabulary)}
        if UNKNOWN not in ids or len(ids) != len(vocabulary):
            raise ModelError("not a WordPiece vocabulary", expected=f"distinct, with {UNKNOWN}")
        self._tokenizer = Tokenizer(WordPiece(ids, unk_token=UNKNOWN))
        self._tokenizer.normalizer = BertNormalizer(lowercase=True)
        self._tokenizer.pre_tokenizer = BertPreTokenizer()

    def ids(self, text: str) -> list[int]:
        """Return the ids of the tokens of ``text``, without special tokens, however many."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def count(self, text: str) -> int:
        """Return the number of tokens of ``text``."""
        return len(self.ids(text))

    def count_all(self, texts: Iterable[str]) -> list[int]:
        """Return the number of tokens of every text, counted in one batch."""
        batch = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding) for encoding in batch]


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
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"no token vocabulary in {path}", found=repr(error)) from error


def pinned_vocabulary(manifest: Path) -> list[str]:
    """Return the vocabulary a manifest pins, out of the installed package that it names.

    Nothing of the package is imported. Raises ModelError if it is missing or not the pinned one.
    """
    pinned = tomllib.loads(manifest.read_text(encoding="utf-8"))
    package, ending = pinned["package"]["name"], pinned["package"]["file"]
    try:
        files = metadata.files(package) or []
        file = next(file for file in files if file.as_posix().endswith(ending))
    except (metadata.PackageNotFoundError, StopIteration):
        raise ModelError(
            f"no installed package {package} that holds {ending}", action=f"pip install {package}"
        ) from None
    vocabulary = read_vocabulary(Path(str(file.locate())))
    found = Digest.of("\n".join(vocabulary).encode())
    if found != Digest(pinned["model"]["sha256"]):
        raise ModelError(
            f"the token vocabulary is not the one of {manifest.name}",
            expected=pinned["model"]["sha256"],
            found=found,
        )
    return vocabulary
