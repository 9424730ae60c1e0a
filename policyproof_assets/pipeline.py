"""The phases made per document, and how a worker runs them.

A phase is a pure function of the frames of earlier phases and of rules; a worker reads its inputs
from the store, runs it and stores the result.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
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
    """A phase made per document; ``module`` holds its code, ``rules`` are sections of a profile."""

    name: str
    module: str
    inputs: tuple[str, ...]
    rules: tuple[str, ...]
    run: Callable[[Job, Lines, Frames], pl.DataFrame]


def _headings(job: Job, lines: Lines, _: Frames) -> pl.DataFrame:
    return find_headings(lines, job.profile, job.review)


def _hierarchy(job: Job, _: Lines, frames: Frames) -> pl.DataFrame:
    return build_hierarchy(frames["headings"], job.profile)


def _spans(_: Job, lines: Lines, frames: Frames) -> pl.DataFrame:
    return measure_spans(lines, frames["hierarchy"])


def _units(job: Job, lines: Lines, frames: Frames) -> pl.DataFrame:
    return pack_units(
        lines,
        frames["hierarchy"],
        frames["spans"],
        job.profile,
        job.review,
        namespace=job.namespace,
    )


def _ledger(job: Job, lines: Lines, frames: Frames) -> pl.DataFrame:
    return own_lines(lines, frames["headings"], frames["units"], job.profile)


def _passages(job: Job, lines: Lines, frames: Frames) -> pl.DataFrame:
    return pack_passages(
        lines,
        frames["units"],
        frames["hierarchy"],
        job.profile,
        job.review,
        _counter(job.vocabulary),
    )


def _proofs(job: Job, lines: Lines, frames: Frames) -> pl.DataFrame:
    return prove_all(Evidence(lines, frames, job.profile, job.review))


@cache
def _counter(vocabulary: Path) -> TokenCounter:
    return TokenCounter(pinned_vocabulary(vocabulary))


_CORPUS = "policyproof_assets.corpus"
PHASES = (
    Phase("headings", f"{_CORPUS}.headings", ("pages",), ("headings", "review"), _headings),
    Phase("hierarchy", f"{_CORPUS}.hierarchy", ("headings",), ("hierarchy",), _hierarchy),
    Phase("spans", f"{_CORPUS}.spans", ("pages", "hierarchy"), (), _spans),
    Phase(
        "units",
        f"{_CORPUS}.units",
        ("pages", "hierarchy", "spans"),
        ("units", "ledger", "review"),
        _units,
    ),
    Phase(
        "ledger",
        f"{_CORPUS}.ledger",
        ("pages", "headings", "units"),
        ("units", "ledger"),
        _ledger,
    ),
    Phase(
        "passages",
        f"{_CORPUS}.passages",
        ("pages", "units", "hierarchy"),
        ("units", "ledger", "passages", "review", "vocabulary"),
        _passages,
    ),
    Phase(
        "proofs",
        f"{_CORPUS}.proofs",
        ("pages", "units", "ledger", "passages"),
        ("passages", "review"),
        _proofs,
    ),
)


def rules_of(profile: Profile, vocabulary: Path) -> dict[str, str]:
    """Return the digest of every set of rules a kind of document has, by name."""
    digests = {
        name: str(Digest.of_json(value)) for name, value in profile.model_dump(mode="json").items()
    }
    digests["vocabulary"] = str(Digest.of(vocabulary.read_bytes()))
    return digests


def digest_of_review(review: Review) -> str:
    """Return the digest of a document's review."""
    return str(Digest.of_json(review.model_dump(mode="json")))


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
    desk = _Desk(job.store, dict(parts))
    for phase in PHASES:
        if phase.name in names and phase.name not in desk.parts:
            frame = phase.run(job, desk.lines, {name: desk.frame(name) for name in phase.inputs})
            part = job.store.put_part(job.document.id, frame)
            job.store.memo.put(job.key(phase, desk.parts), part)
            desk.keep(phase.name, part, frame)
    return desk.parts


class _Desk:
    """The parts and frames of one document while its phases run, so that none is read twice."""

    def __init__(self, store: Store, parts: dict[str, Part]) -> None:
        self._store = store
        self._frames: dict[str, pl.DataFrame] = {}
        self.parts = parts

    def keep(self, name: str, part: Part, frame: pl.DataFrame) -> None:
        self.parts[name] = part
        self._frames[name] = frame

    def frame(self, name: str) -> pl.DataFrame:
        if name not in self._frames:
            self._frames[name] = self._store.frame(self.parts[name].object)
        return self._frames[name]

    @cached_property
    def lines(self) -> Lines:
        return Lines.from_pages(self.frame("pages"))
