"""Frozen dataclasses to and from JSON; what does not fit is an error that names the key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import PolicyProofError

T = TypeVar("T")

_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


class RecordError(PolicyProofError):
    """A JSON value does not fit its record; the message names the key."""


def to_json(value: Any) -> Any:
    """Return ``value`` as JSON values: records as objects, digests as ``sha256:…``."""
    if isinstance(value, Digest):
        return str(value)
    if is_dataclass(value):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    return value


def from_json(kind: type[T], value: Any, where: str = "") -> T:
    """Read a JSON value as the frozen dataclass ``kind``.

    Its fields may be str (not empty), int, float, bool, Digest, other such dataclasses,
    ``X | None``, ``tuple[X, ...]``, ``Mapping[str, X]`` and Any. Raises RecordError that names the
    key, as in ``documents[2].sha256``.
    """
    result: T = _read(kind, value, where)
    return result


def _read(kind: Any, value: Any, where: str) -> Any:
    if kind is Any:
        return value
    if get_origin(kind) is not None:
        return _compound(get_origin(kind), get_args(kind), value, where)
    if is_dataclass(kind) and kind is not Digest:
        return _record(kind, value, where)
    return _digest(value, where) if kind is Digest else _scalar(kind, value, where)


def _compound(origin: Any, arguments: tuple[Any, ...], value: Any, where: str) -> Any:
    if origin in {Union, UnionType}:
        return None if value is None else _read(_required(arguments), value, where)
    if origin is tuple:
        _expect(isinstance(value, list), "a list", value, where)
        return tuple(_read(arguments[0], item, f"{where}[{i}]") for i, item in enumerate(value))
    _expect(isinstance(value, dict), "an object", value, where)
    return {key: _read(arguments[1], item, _join(where, key)) for key, item in value.items()}


def _record(kind: Any, value: Any, where: str) -> Any:
    _expect(isinstance(value, dict), "an object", value, where)
    hints = _hints(kind)
    for key in value:
        if key not in hints:
            raise RecordError(f"unknown key {_join(where, key)}", expected=", ".join(hints))
    for field in fields(kind):
        required = field.default is MISSING and field.default_factory is MISSING
        if required and field.name not in value:
            raise RecordError(f"{_join(where, field.name)} is missing")
    return kind(**{key: _read(hints[key], item, _join(where, key)) for key, item in value.items()})


def _scalar(kind: Any, value: Any, where: str) -> Any:
    allowed = (int, float) if kind is float else kind
    # bool is an int in Python, never in JSON.
    fits = isinstance(value, allowed) and isinstance(value, bool) == (kind is bool)
    _expect(fits, _WORDS[kind], value, where)
    _expect(value != "", "text that is not empty", value, where)
    return value


def _digest(value: Any, where: str) -> Digest:
    _expect(isinstance(value, str), "a SHA-256 digest", value, where)
    try:
        return Digest.parse(value)
    except PolicyProofError as error:
        raise RecordError(f"{where} is {error.message}", found=error.found) from error


@lru_cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _required(arguments: tuple[Any, ...]) -> Any:
    return next(argument for argument in arguments if argument is not NoneType)


def _expect(fits: bool, expected: str, value: Any, where: str) -> None:  # noqa: FBT001
    if not fits:
        place = where or "the record"
        raise RecordError(f"{place} must be {expected}", found=repr(value)[:80])


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
