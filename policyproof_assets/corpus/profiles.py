"""Profiles: how to read one kind of document. Everything particular to a kind is data in TOML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from policyproof_assets.corpus.headings import HeadingRules
from policyproof_assets.corpus.hierarchy import HierarchyRules
from policyproof_assets.corpus.reviews import Review, load_review
from policyproof_assets.manifests import read_toml, validate

__all__ = ["Profile", "Review", "load_profile", "load_review"]


class Profile(BaseModel):
    """The rules of one kind of document, one section for each phase that has some."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    extract: dict[str, Any]
    headings: HeadingRules
    hierarchy: HierarchyRules
    units: dict[str, Any] | None = None
    ledger: dict[str, Any] | None = None
    passages: dict[str, Any] | None = None


def load_profile(path: Path) -> Profile:
    """Read and validate the profile at ``path``, its patterns compiled.

    Raises ManifestError that names file and key.
    """
    return validate(Profile, {**read_toml(path), "name": path.stem}, path)
