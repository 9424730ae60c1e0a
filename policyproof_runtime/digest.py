"""SHA-256 digests as a type of their own, and the one canonical form of JSON."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

from policyproof_runtime.errors import PolicyProofError

_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, order=True)
class Digest:
    """A SHA-256 digest; prints as ``sha256:<64 hex digits>``."""

    hex: str

    def __post_init__(self) -> None:
        if not _HEX.fullmatch(self.hex):
            raise PolicyProofError(
                "not a SHA-256 digest", expected="64 lower-case hex digits", found=repr(self.hex)
            )

    def __str__(self) -> str:
        return f"sha256:{self.hex}"

    @classmethod
    def parse(cls, text: str) -> Digest:
        """Read ``sha256:…`` or bare hex; raises PolicyProofError on anything else."""
        return cls(text.removeprefix("sha256:"))

    @classmethod
    def of(cls, data: bytes) -> Digest:
        """Digest ``data``."""
        return cls(hashlib.sha256(data).hexdigest())

    @classmethod
    def of_json(cls, value: Any) -> Digest:
        """Digest the canonical JSON of ``value``."""
        return cls.of(canonical_json(value))


def canonical_json(value: Any) -> bytes:
    """Encode ``value`` as JSON with sorted keys, no spaces, UTF-8, no NaN (after RFC 8785)."""
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode()
