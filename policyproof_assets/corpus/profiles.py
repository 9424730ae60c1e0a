"""Profiles: how to read one kind of document. Everything particular to a kind is data in TOML."""

from __future__ import annotations

from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError

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
from policyproof_assets.errors import ManifestError
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

    Raises ManifestError that names file and key and, for an unknown key, what is allowed there.
    """
    try:
        return validate(Profile, {**read_toml(path), "name": path.stem}, path)
    except ManifestError as error:
        if isinstance(error.__cause__, ValidationError):
            error.expected = _allowed(error.__cause__)
        raise


def _allowed(error: ValidationError) -> str | None:
    """Name the keys a profile may have where it has an unknown one."""
    places = [item["loc"][:-1] for item in error.errors() if item["type"] == "extra_forbidden"]
    lines = []
    for place in dict.fromkeys(places):
        where = ".".join(str(part) for part in place if isinstance(part, str)) or "the profile"
        lines.append(f"in {where}: {', '.join(_model_at(place).model_fields)}")
    return "; ".join(lines) or None


def _model_at(place: tuple[int | str, ...]) -> type[BaseModel]:
    model: type[BaseModel] = Profile
    choice: Any = None
    for name in place:
        if isinstance(name, str) and choice is not None:
            # The name of one of the models a section may hold.
            model, choice = _chosen(choice, name), None
        elif isinstance(name, str):
            annotation = model.model_fields[name].annotation
            model = _model_in(annotation) or model
            choice = annotation if len(_models_in(annotation)) > 1 else None
    return model


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    arguments = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else ()
    return [model for argument in arguments if (model := _model_in(argument))]


def _chosen(annotation: Any, tag: str) -> type[BaseModel]:
    """Return the model of a choice that is named ``tag``."""
    for argument in get_args(annotation):
        names = [meta.tag for meta in get_args(argument)[1:] if isinstance(meta, Tag)]
        model = _model_in(argument)
        field = model.model_fields.get("extractor") if model else None
        if model and (tag in names or (field and tag in get_args(field.annotation))):
            return model
    return Profile


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model an annotation is or holds: in a tuple, or beside None."""
    if get_origin(annotation) is Annotated:
        return _model_in(get_args(annotation)[0])
    if get_origin(annotation) in (tuple, Union, UnionType):
        return next(filter(None, map(_model_in, get_args(annotation))), None)
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return annotation if is_model else None
