"""Profiles: how to read one kind of document. Everything particular to a kind is data in TOML."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from policyproof_assets.corpus.auto import LayoutHeadingRules
from policyproof_assets.corpus.exclusions import LedgerRules
from policyproof_assets.corpus.extract import ExtractRules
from policyproof_assets.corpus.headings import HeadingRules
from policyproof_assets.corpus.hierarchy import HierarchyRules
from policyproof_assets.corpus.html import HtmlRules
from policyproof_assets.corpus.layout import LayoutRules
from policyproof_assets.corpus.markdown import MarkdownRules
from policyproof_assets.corpus.passages import PassageRules
from policyproof_assets.corpus.reviews import Review, load_review
from policyproof_assets.corpus.units import UnitRules
from policyproof_assets.manifests import read_toml, validate

__all__ = ["Profile", "Review", "load_profile", "load_review"]


def _heading_rules(value: Any) -> str:
    """Tell which rules a [headings] section holds: those by layout name their ``source``."""
    named = "source" in value if isinstance(value, dict) else hasattr(value, "source")
    return "by_layout" if named else "by_pattern"


class Profile(BaseModel):
    """The rules of one kind of document, a section for each phase."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    extract: Annotated[
        ExtractRules | LayoutRules | MarkdownRules | HtmlRules, Field(discriminator="extractor")
    ]
    headings: Annotated[
        Annotated[HeadingRules, Tag("by_pattern")]
        | Annotated[LayoutHeadingRules, Tag("by_layout")],
        Discriminator(_heading_rules),
    ]
    hierarchy: HierarchyRules
    units: UnitRules = UnitRules()
    ledger: LedgerRules = LedgerRules()
    passages: PassageRules = PassageRules()


def load_profile(path: Path) -> Profile:
    """Read and validate the profile at ``path``, its patterns compiled.

    Raises ManifestError that names file and key.
    """
    return validate(Profile, {**read_toml(path), "name": path.stem}, path)
