"""Errors of the runtime: each says what was expected, what was found and what to do next."""

from __future__ import annotations

from functools import partial


class PolicyProofError(Exception):
    """Base of every error PolicyProof raises on purpose.

    ``message`` says what is wrong and with which item; ``expected`` and ``found`` are the two sides
    of a failed comparison; ``action`` tells a person what to do next.
    """

    def __init__(
        self,
        message: str,
        *,
        expected: object = None,
        found: object = None,
        action: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.expected = expected
        self.found = found
        self.action = action

    def diagnostics(self) -> list[str]:
        """Return the lines a person needs after the message, in reading order."""
        lines = {"expected": self.expected, "found": self.found, "to do": self.action}
        return [f"{f'{name}:':9} {value}" for name, value in lines.items() if value is not None]

    def __str__(self) -> str:
        return "\n  ".join([self.message, *self.diagnostics()])

    def __reduce__(self) -> tuple[object, ...]:
        """Keep the keyword fields when a worker process sends the error back."""
        fields = {name: getattr(self, name) for name in ("message", "expected", "found", "action")}
        return partial(type(self), **fields), ()


class StoreError(PolicyProofError):
    """An object of the store is missing, corrupt or cannot be written."""


class ReleaseError(PolicyProofError):
    """A release is unknown, of another schema, or does not match its objects."""


class QueryError(PolicyProofError):
    """A question or a batch line cannot be served as given."""


class ModelError(PolicyProofError):
    """A model is unknown, missing or differs from its manifest."""
