"""What may be asked: limits on a question, checked before anything else sees it."""

from __future__ import annotations

import unicodedata

from policyproof_runtime.errors import QueryError

# A question of this length is a pasted document; ranking it would match everything a little.
MAX_CHARACTERS = 8_000
MAX_TOP_K = 1_000


def check_question(text: str) -> str:
    """Return ``text`` without surrounding space.

    Raises QueryError if it is empty, longer than MAX_CHARACTERS, or holds control characters,
    or bytes that were no valid text.
    """
    if len(text) > MAX_CHARACTERS:
        raise QueryError(
            "the question is too long",
            expected=f"at most {MAX_CHARACTERS:,} characters",
            found=f"{len(text):,} characters",
            action="ask about one thing at a time; a list of questions goes through --batch",
        )
    for place, character in enumerate(text, start=1):
        # Cs: a surrogate stands for a byte of the command line that is no UTF-8.
        if unicodedata.category(character) in {"Cc", "Cs"} and character not in "\n\r\t":
            raise QueryError(
                f"the question holds a control character or an invalid byte at place {place}",
                found=f"U+{ord(character):04X}",
            )
    if not text.strip():
        raise QueryError("the question is empty", action="ask something")
    return text.strip()


def check_top_k(top_k: int) -> int:
    """Return ``top_k``; raises QueryError unless it is between 1 and MAX_TOP_K."""
    if not 1 <= top_k <= MAX_TOP_K:
        raise QueryError("top_k is out of range", expected=f"1 to {MAX_TOP_K:,}", found=top_k)
    return top_k
