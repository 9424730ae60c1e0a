"""Blocking asset checks, one property each, made by factories over pure validators."""

import re
from collections.abc import Callable, Iterator

import dagster as dg

from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.profiles import load_profile, load_review
from policyproof_assets.corpus.proofs import PROPERTIES, Evidence, Property
from policyproof_assets.figures import OBSERVED, flat, observe
from policyproof_assets.manifests import Corpus, read_toml
from policyproof_assets.project import Project
from policyproof_assets.store import Store
from policyproof_runtime.errors import PolicyProofError

Checked = Callable[[], dg.AssetCheckResult]


def corpus_checks(project: Project, corpus: Corpus) -> list[dg.AssetChecksDefinition]:
    """Return the checks of one corpus: properties of provenance, then its expected figures."""

    def check(phase: str, name: str, description: str, run: Checked) -> dg.AssetChecksDefinition:
        return dg.asset_check(
            asset=dg.AssetKey([corpus.group, phase]),
            name=re.sub(r"[^A-Za-z0-9_]", "_", name),
            description=description,
            blocking=True,
        )(run)

    path = project.data(corpus, "expected", ".toml")
    expected = read_toml(path) if path else {}
    properties = [
        check(p.phase, p.name, f"{p.name.replace('_', ' ')}.", _property(project, corpus, p))
        for p in PROPERTIES
    ]
    figures = [
        check(p, f"{p}_{name}", f"{name} of {p} is {value}.", _figure(corpus, p, name, value))
        for p in OBSERVED
        for name, value in flat(expected.get(p, {}))
    ]
    return [*properties, *figures]


def _property(project: Project, corpus: Corpus, proof: Property) -> Checked:
    def run() -> dg.AssetCheckResult:
        try:
            count = sum(1 for e in _evidence(project, corpus) if proof.check(e) is None)
        except PolicyProofError as error:
            return dg.AssetCheckResult(passed=False, description=str(error))
        return dg.AssetCheckResult(passed=True, metadata={"documents": count})

    return run


def _evidence(project: Project, corpus: Corpus) -> Iterator[Evidence]:
    """Yield what the properties are checked on, document by document, from the present refs."""
    store = Store()
    refs = {n: store.ref(corpus.id, n) for n in ("pages", "units", "ledger", "passages")}
    snapshots = {name: store.snapshot(digest) for name, digest in refs.items() if digest}
    for document in corpus.documents:
        parts = {name: snapshot.part(document.id) for name, snapshot in snapshots.items()}
        frames = {name: store.frame(part.object) for name, part in parts.items()}
        profile = load_profile(project.find(corpus, "profiles", document.profile))
        review = load_review(project.review(corpus, document.id))
        yield Evidence(Lines.from_pages(frames["pages"]), frames, profile, review)


def _figure(corpus: Corpus, phase: str, name: str, expected: object) -> Checked:
    def run() -> dg.AssetCheckResult:
        store = Store()
        digest = store.ref(corpus.id, phase)
        figures = dict(flat(observe(phase, store.phase_frame(digest)))) if digest else {}
        found = figures.get(name)
        metadata = {"observed": str(found), "expected": str(expected)}
        return dg.AssetCheckResult(passed=found == expected, metadata=metadata)

    return run
