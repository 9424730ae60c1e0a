"""Errors of the pipeline, on the runtime's base error."""

from policyproof_runtime.errors import PolicyProofError


class ManifestError(PolicyProofError):
    """A manifest, profile, review or benchmark is not valid; the message names file and key."""


class SourceError(PolicyProofError):
    """A source document cannot be had or is not the one the manifest pins."""


class ExtractError(PolicyProofError):
    """A source document cannot be read: truncated, encrypted, without text, or over a limit."""


class ReviewError(PolicyProofError):
    """A reviewed exception no longer matches its source."""


class ProvenanceError(PolicyProofError):
    """A line or a character is owned by nobody or by two."""


class GateError(PolicyProofError):
    """A build does not reproduce what is expected of it, so no release is written."""
