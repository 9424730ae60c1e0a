"""Frozen dataclasses to and from JSON; what does not fit is an error that names the key."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any, TypeVar

import msgspec

from policyproof_runtime.errors import PolicyProofError

T = TypeVar("T")


class RecordError(PolicyProofError):
    """A JSON value does not fit its record; the message names the key."""


def to_json(record: Any) -> Any:
    """Return a dataclass as JSON values: records as objects, digests as ``sha256:…``."""
    return json.loads(json.dumps(asdict(record)))


def from_json(kind: type[T], value: Any) -> T:
    """Read a JSON value as the frozen dataclass ``kind``, digests and other dataclasses in it.

    Raises RecordError that names the key, as in ``$.documents[2].sha256``.
    """
    unknown = set(value).difference(field.name for field in fields(kind))  # type: ignore[arg-type]
    if unknown:
        raise RecordError(f"unknown key {', '.join(map(str, unknown))}")
    try:
        return msgspec.convert(value, kind, dec_hook=_digest)
    except msgspec.ValidationError as error:
        raise RecordError(str(error)) from error


def _digest(kind: type[Any], value: Any) -> Any:
    try:
        return kind(value)
    except (PolicyProofError, AttributeError) as error:
        raise ValueError(f"{value!r} is not a SHA-256 digest") from error
