"""SHA-256 digests as a type of their own, and the one canonical form of JSON."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Self

from policyproof_runtime.errors import PolicyProofError

_PREFIX = "sha256:"
_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode


class Digest(str):
    """A SHA-256 digest, ``sha256:<64 hex digits>``; made of that or of the bare hex digits.

    Raises PolicyProofError for any other text.
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Self:  # noqa: D102 the class docstring says it
        digits = text.removeprefix(_PREFIX)
        if not re.fullmatch("[0-9a-f]{64}", digits):
            raise PolicyProofError(
                "not a SHA-256 digest", expected="64 lower-case hex digits", found=repr(text)
            )
        return super().__new__(cls, _PREFIX + digits)

    @property
    def hex(self) -> str:
        """The hex digits."""
        return self.removeprefix(_PREFIX)

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Digest ``data``."""
        return cls(hashlib.sha256(data).hexdigest())

    @classmethod
    def of_json(cls, value: Any) -> Self:
        """Digest the canonical JSON of ``value``."""
        return cls.of(canonical_json(value))


def canonical_json(value: Any) -> bytes:
    """Encode ``value`` as JSON with sorted keys, no spaces, UTF-8, no NaN (after RFC 8785)."""
    return _encode(value).encode()
