"""Builds a corpus: every phase from the memo where it is known, in workers where it is not."""

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from policyproof_assets.code import code_digest
from policyproof_assets.corpus.profiles import load_profile, load_review
from policyproof_assets.corpus.reading import join_pages, page_ranges, read_pages
from policyproof_assets.errors import ExtractError, SourceError
from policyproof_assets.manifests import Corpus, Document
from policyproof_assets.pipeline import (
    PHASES,
    Job,
    digest_of_review,
    known_parts,
    rules_of,
    run_phases,
)
from policyproof_assets.project import Project
from policyproof_assets.store import Store
from policyproof_assets.workers import BoundedProcesses, run_each
from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import PolicyProofError
from policyproof_runtime.objects import Part, Snapshot

#: Libraries whose version may change what a page says or how an object is written.
LIBRARIES = ("pdfminer.six", "pdfplumber", "polars", "pyarrow", "pypdf", "pypdfium2", "tokenizers")
#: Pages that one worker reads at a time: small enough to share the longest document out.
PAGES_PER_TASK = 16

Progress = Callable[[str, int, int], None]
Make = Callable[[], pl.DataFrame | pa.Table]


def no_progress(item: str, done: int, total: int) -> None:
    """Show nothing."""


@dataclass
class Work:
    """How much of a build was done anew and how much was known; what was left out, and why."""

    made: int = 0
    known: int = 0
    left_out: dict[str, PolicyProofError] = field(default_factory=dict)


class Build:
    """One build of a corpus in a store.

    With ``keep_going`` a document that cannot be read is left out and named in ``work.left_out``;
    without, its error is raised once the others are done.
    """

    def __init__(
        self,
        project: Project,
        corpus: Corpus,
        store: Store,
        executor: Callable[[], Executor] = BoundedProcesses,
        progress: Progress = no_progress,
        *,
        keep_going: bool = False,
    ) -> None:
        self.project = project
        self.corpus = corpus
        self.store = store
        self.work = Work()
        self._executor_of = executor
        self._progress = progress
        self._keep_going = keep_going
        self._parts: dict[str, dict[str, Part]] = {}
        self._whole: dict[Digest, Part] = {}
        self._frames: dict[Digest, pl.DataFrame] = {}

    def phase(self, name: str) -> Snapshot:
        """Return the snapshot of one phase, making it and the phases before it where needed."""
        self._make_pages()
        if name != "pages":
            self._make_phases(_up_to(name))
        return self._snapshot(name)

    def phases(self) -> dict[str, Snapshot]:
        """Return the snapshots of all phases made per document."""
        names = [phase.name for phase in PHASES]
        self._make_pages()
        self._make_phases(names)
        return {name: self._snapshot(name) for name in ["pages", *names]}

    def part(self, name: str, module: str, inputs: Mapping[str, Any], make: Make) -> Part:
        """Return a part made for the whole corpus: known, or the rows ``make`` returns.

        ``module`` holds the code that shapes them, ``inputs`` (JSON values) all they depend on.
        """
        key = {"phase": name, "code": code_digest(module), "inputs": dict(inputs)}
        digest = Digest.of_json(key)
        if digest not in self._whole:
            part = self.store.memo.get(key)
            if part is None:
                part = self.store.put_part(self.corpus.id, make())
                self.store.memo.put(key, part)
                self.work.made += 1
            else:
                self.work.known += 1
            self._whole[digest] = part
        return self._whole[digest]

    def frame(self, snapshot: Snapshot) -> pl.DataFrame:
        """Return all rows of a phase, which are kept: reading every part is what costs."""
        if snapshot.digest not in self._frames:
            self._frames[snapshot.digest] = self.store.phase_frame(snapshot.digest)
        return self._frames[snapshot.digest]

    @property
    def documents(self) -> list[Document]:
        """The documents of the corpus that could be read so far, in order."""
        return [d for d in self.corpus.documents if d.id not in self.work.left_out]

    def close(self) -> None:
        """End the workers, if any were started."""
        executor = self.__dict__.pop("_executor", None)
        if executor is not None:
            executor.shutdown()

    @cached_property
    def _executor(self) -> Executor:
        return self._executor_of()

    @cached_property
    def _jobs(self) -> dict[str, Job]:
        vocabulary = self.project.model("bert-base-uncased-vocab")
        profiles = {
            name: load_profile(self.project.find(self.corpus, "profiles", name))
            for name in dict.fromkeys(document.profile for document in self.corpus.documents)
        }
        rules = {name: rules_of(profile, vocabulary) for name, profile in profiles.items()}
        jobs = {}
        for document in self.corpus.documents:
            review = load_review(self.project.review(self.corpus, document.id))
            jobs[document.id] = Job(
                store=self.store,
                document=document,
                namespace=self.corpus.namespace,
                profile=profiles[document.profile],
                review=review,
                vocabulary=vocabulary,
                rules={**rules[document.profile], "review": digest_of_review(review)},
            )
        return jobs

    def _snapshot(self, name: str) -> Snapshot:
        snapshot = self.store.put_snapshot(self._parts[d.id][name] for d in self.documents)
        self.store.set_ref(self.corpus.id, name, snapshot.digest)
        return snapshot

    def _make_pages(self) -> None:
        waiting = []
        for document in self.documents:
            if "pages" in self._parts.get(document.id, {}):
                continue
            part = self.store.memo.get(self._pages_key(document))
            if part is None:
                waiting.append(document)
            elif self._is_unchanged(document):
                self._parts[document.id] = {"pages": part}
                self.work.known += 1
        if waiting:
            self._read(waiting)
        self._raise_faults()

    def _is_unchanged(self, document: Document) -> bool:
        try:
            self.project.check_source(self.corpus, document)
        except SourceError as error:
            self._leave_out(document.id, error)
            return False
        return True

    def _pages_key(self, document: Document) -> dict[str, Any]:
        return {
            "phase": "pages",
            "code": str(code_digest("policyproof_assets.corpus.reading")),
            "document": document.id,
            "source": document.sha256,
            "rules": self._jobs[document.id].rules["extract"],
            "libraries": libraries(),
        }

    def _read(self, documents: Sequence[Document]) -> None:
        """Read the pages of ``documents``, shared out by ranges of pages."""
        with tempfile.TemporaryDirectory(prefix="policyproof-") as folder:
            tasks, owners = self._page_tasks(documents, Path(folder))
            missing, found = Counter(owners), defaultdict[str, list[Any]](list)
            by_id = {document.id: document for document in documents}
            for index, result in self._each("pages", read_pages, tasks):
                owner = owners[index]
                found[owner].append(result)
                missing[owner] -= 1
                if not missing[owner]:
                    self._keep_pages(by_id[owner], found.pop(owner))

    def _page_tasks(
        self, documents: Sequence[Document], folder: Path
    ) -> tuple[list[tuple[str, tuple[Any, ...]]], list[str]]:
        tasks: list[tuple[str, tuple[Any, ...]]] = []
        owners = []
        for document in documents:
            rules = self._jobs[document.id].profile.extract
            try:
                path = self.project.source(self.corpus, document, self.store, folder)
                ranges = page_ranges(path, document, rules, PAGES_PER_TASK)
            except (SourceError, ExtractError) as error:
                self._leave_out(document.id, error)
                continue
            for pages in ranges:
                tasks.append((document.id, (path, document, rules, pages)))
                owners.append(document.id)
        return tasks, owners

    def _keep_pages(self, document: Document, results: Sequence[Any]) -> None:
        try:
            for result in results:
                if isinstance(result, ExtractError):
                    raise result
            part = self.store.put_part(document.id, join_pages(results))
        except ExtractError as error:
            self._leave_out(document.id, error)
            return
        self.store.memo.put(self._pages_key(document), part)
        self._parts[document.id] = {"pages": part}
        self.work.made += 1

    def _make_phases(self, names: Sequence[str]) -> None:
        waiting = []
        for document in self.documents:
            parts = self._parts[document.id]
            known = known_parts(self._jobs[document.id], parts, names)
            self.work.known += len(known) - len(parts)
            self._parts[document.id] = known
            if any(name not in known for name in names):
                waiting.append(document.id)
        tasks = [(name, (self._jobs[name], self._parts[name], names)) for name in waiting]
        for index, result in self._each("passages", run_phases, tasks) if tasks else ():
            if isinstance(result, PolicyProofError):
                self._leave_out(waiting[index], result)
            else:
                self.work.made += len(result) - len(self._parts[waiting[index]])
                self._parts[waiting[index]] = result
        self._raise_faults()

    def _each(
        self, what: str, fn: Callable[..., Any], tasks: Sequence[tuple[str, tuple[Any, ...]]]
    ) -> Iterator[tuple[int, Any]]:
        for done, (index, result) in enumerate(run_each(self._executor, fn, tasks), 1):
            self._progress(f"{what} of {tasks[index][0]}", done, len(tasks))
            yield index, result

    def _leave_out(self, document_id: str, error: PolicyProofError) -> None:
        # A reader knows a file by its name in the store, and people know the document's.
        document = self.corpus.document(document_id)
        error.message = error.message.replace(document.sha256, document.path or document_id)
        self.work.left_out.setdefault(document_id, error)

    def _raise_faults(self) -> None:
        faults = self.work.left_out
        if faults and (not self._keep_going or len(faults) == len(self.corpus.documents)):
            raise next(iter(faults.values()))


def _up_to(name: str) -> list[str]:
    """Return the phases that ``name`` needs, itself last."""
    needed = {name}
    for phase in reversed(PHASES):
        if phase.name in needed:
            needed.update(phase.inputs)
    return [phase.name for phase in PHASES if phase.name in needed]


@cache
def libraries() -> Mapping[str, str]:
    """Return the installed versions of the libraries that shape bytes."""
    return {name: version(name) for name in LIBRARIES}


@contextmanager
def open_build(project: Project, corpus: Corpus, store: Store, **options: Any) -> Iterator[Build]:
    """Open a build and end its workers afterwards, whatever happens."""
    build = Build(project, corpus, store, **options)
    try:
        yield build
    finally:
        build.close()
