"""The phases made per document, and how a worker runs them.

A phase is a pure function of the frames of earlier phases and of rules; a worker reads its inputs
from the store, runs it and stores the result.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from policyproof_assets.code import code_digest
from policyproof_assets.corpus.headings import find_headings
from policyproof_assets.corpus.hierarchy import build_hierarchy
from policyproof_assets.corpus.ledger import own_lines
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.passages import pack_passages
from policyproof_assets.corpus.profiles import Profile
from policyproof_assets.corpus.proofs import Evidence, prove_all
from policyproof_assets.corpus.reviews import Review
from policyproof_assets.corpus.spans import measure_spans
from policyproof_assets.corpus.units import pack_units
from policyproof_assets.manifests import Document
from policyproof_assets.store import Store
from policyproof_runtime.digest import Digest
from policyproof_runtime.objects import Part
from policyproof_runtime.tokenize import TokenCounter, pinned_vocabulary

Frames = Mapping[str, pl.DataFrame]


@dataclass(frozen=True)
class Job:
    """What is to be done for one document: where, by which rules, from which earlier parts."""

    store: Store
    document: Document
    namespace: str
    profile: Profile
    review: Review
    #: Manifest of the token vocabulary.
    vocabulary: Path
    #: Digests of the profile's sections, the review and the vocabulary's manifest, by name.
    rules: Mapping[str, str]

    def key(self, phase: "Phase", parts: Mapping[str, Part]) -> dict[str, Any]:
        """Return everything the result of ``phase`` depends on, as JSON values."""
        return {
            "phase": phase.name,
            "code": str(code_digest(phase.module)),
            "document": self.document.id,
            "namespace": self.namespace,
            "inputs": {name: str(parts[name].object) for name in phase.inputs},
            "rules": {name: self.rules[name] for name in phase.rules},
        }


@dataclass(frozen=True)
class Phase:
    """A phase made per document from ``inputs``, earlier phases, and ``rules``, profile sections.

    ``run`` is given the frames of the inputs by name.
    """

    name: str
    inputs: tuple[str, ...]
    rules: tuple[str, ...]
    run: Callable[[Job, Lines, Frames], pl.DataFrame]

    @property
    def module(self) -> str:
        """The module that holds its code."""
        return f"policyproof_assets.corpus.{self.name}"


PHASES = (
    Phase(
        "headings",
        ("pages",),
        ("headings", "review"),
        lambda job, lines, _: find_headings(lines, job.profile, job.review),
    ),
    Phase(
        "hierarchy",
        ("headings",),
        ("hierarchy",),
        lambda job, _, f: build_hierarchy(f["headings"], job.profile),
    ),
    Phase(
        "spans",
        ("pages", "hierarchy"),
        (),
        lambda _, lines, f: measure_spans(lines, f["hierarchy"]),
    ),
    Phase(
        "units",
        ("pages", "hierarchy", "spans"),
        ("units", "ledger", "review"),
        lambda job, lines, f: pack_units(
            lines, f["hierarchy"], f["spans"], job.profile, job.review, namespace=job.namespace
        ),
    ),
    Phase(
        "ledger",
        ("pages", "headings", "units"),
        ("units", "ledger"),
        lambda job, lines, f: own_lines(lines, f["headings"], f["units"], job.profile),
    ),
    Phase(
        "passages",
        ("pages", "units", "hierarchy"),
        ("units", "ledger", "passages", "review", "vocabulary"),
        lambda job, lines, f: pack_passages(
            lines, f["units"], f["hierarchy"], job.profile, job.review, _counter(job.vocabulary)
        ),
    ),
    Phase(
        "proofs",
        ("pages", "units", "ledger", "passages"),
        ("passages", "review"),
        lambda job, lines, f: prove_all(Evidence(lines, f, job.profile, job.review)),
    ),
)


@cache
def _counter(vocabulary: Path) -> TokenCounter:
    return TokenCounter(pinned_vocabulary(vocabulary))


def rules_of(profile: Profile, vocabulary: Path) -> dict[str, str]:
    """Return the digest of every set of rules a kind of document has, by name."""
    sections = profile.model_dump(mode="json").items()
    digests = {name: Digest.of_json(value) for name, value in sections}
    return digests | {"vocabulary": Digest.of(vocabulary.read_bytes())}


def known_parts(job: Job, parts: Mapping[str, Part], names: Sequence[str]) -> dict[str, Part]:
    """Return the parts of the named phases that the memo has, up to the first it has not."""
    known = dict(parts)
    for phase in PHASES:
        if phase.name in names:
            part = job.store.memo.get(job.key(phase, known))
            if part is None:
                break
            known[phase.name] = part
    return known


def run_phases(job: Job, parts: Mapping[str, Part], names: Sequence[str]) -> dict[str, Part]:
    """Run the named phases of one document in order, those that ``parts`` already has left out.

    Returns ``parts`` and the part of every phase asked for. Runs in a worker process.
    """
    parts = dict(parts)
    frames = _Frames(lambda name: job.store.frame(parts[name].object))
    lines = Lines.from_pages(frames["pages"])
    for phase in PHASES:
        if phase.name in names and phase.name not in parts:
            frame = phase.run(job, lines, {name: frames[name] for name in phase.inputs})
            key = job.key(phase, parts)
            parts[phase.name] = job.store.put_part(job.document.id, frame)
            job.store.memo.put(key, parts[phase.name])
            frames[phase.name] = frame
    return parts


class _Frames(dict[str, pl.DataFrame]):
    """The frames of one document while its phases run, so that none is read twice."""

    def __init__(self, read: Callable[[str], pl.DataFrame]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, name: str) -> pl.DataFrame:
        return self.setdefault(name, self._read(name))
