"""Blocking asset checks, one property each, made by factories over pure validators."""

import re
from collections.abc import Iterator

import dagster as dg
import polars as pl

from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.profiles import load_profile, load_review
from policyproof_assets.corpus.proofs import PROPERTIES, Evidence, Property
from policyproof_assets.figures import OBSERVED, flat, observe
from policyproof_assets.manifests import Corpus, Document, read_toml
from policyproof_assets.project import Project
from policyproof_assets.store import Store
from policyproof_runtime.errors import PolicyProofError


def corpus_checks(project: Project, corpus: Corpus) -> list[dg.AssetChecksDefinition]:
    """Return the checks of one corpus: properties of provenance, then its expected figures."""
    path = project.data(corpus, "expected", ".toml")
    expected = read_toml(path) if path else {}
    figures = [
        _figure_check(corpus, phase, name, value)
        for phase in OBSERVED
        for name, value in flat(expected.get(phase, {}))
    ]
    return [*(_property_check(project, corpus, proof) for proof in PROPERTIES), *figures]


def _property_check(project: Project, corpus: Corpus, proof: Property) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=dg.AssetKey([corpus.group, proof.phase]),
        name=proof.name,
        description=(proof.name.replace("_", " ") + "."),
        blocking=True,
    )
    def check() -> dg.AssetCheckResult:
        try:
            count = sum(1 for e in _evidence(project, corpus) if proof.check(e) is None)
        except PolicyProofError as error:
            return dg.AssetCheckResult(passed=False, description=str(error))
        return dg.AssetCheckResult(passed=True, metadata={"documents": count})

    return check


def _evidence(project: Project, corpus: Corpus) -> Iterator[Evidence]:
    """Yield what the properties are checked on, document by document, from the present refs."""
    for document in corpus.documents:
        frames = {
            name: frame
            for name in ("pages", "units", "ledger", "passages")
            if (frame := _part(corpus, document, name)) is not None
        }
        yield Evidence(
            lines=Lines.from_pages(frames["pages"]),
            frames=frames,
            profile=load_profile(project.find(corpus, "profiles", document.profile)),
            review=load_review(project.review(corpus, document.id)),
        )


def _part(corpus: Corpus, document: Document, phase: str) -> pl.DataFrame | None:
    store = Store()
    digest = store.ref(corpus.id, phase)
    if digest is None:
        return None
    return store.frame(store.snapshot(digest).part(document.id).object)


def _figure_check(
    corpus: Corpus, phase: str, figure: str, expected: object
) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=dg.AssetKey([corpus.group, phase]),
        name=re.sub(r"[^A-Za-z0-9_]", "_", f"{phase}_{figure}"),
        description=f"{figure} of {phase} is {expected}.",
        blocking=True,
    )
    def check() -> dg.AssetCheckResult:
        store = Store()
        digest = store.ref(corpus.id, phase)
        frame = store.phase_frame(digest) if digest else None
        observed = None if frame is None else dict(flat(observe(phase, frame))).get(figure)
        return dg.AssetCheckResult(
            passed=observed == expected,
            metadata={"observed": str(observed), "expected": str(expected)},
        )

    return check
