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
from typing import Any, Self

import polars as pl
import pyarrow as pa
from pydantic import BaseModel

from policyproof_assets.code import code_digest
from policyproof_assets.corpus.profiles import load_profile, load_review
from policyproof_assets.corpus.reading import join_pages, page_ranges, read_pages
from policyproof_assets.errors import ExtractError, SourceError
from policyproof_assets.manifests import Corpus, Document
from policyproof_assets.pipeline import PHASES, Job, known_parts, rules_of, run_phases
from policyproof_assets.project import Project
from policyproof_assets.store import Store
from policyproof_assets.workers import BoundedProcesses, run_each
from policyproof_runtime.corpus import Corpus as ServedCorpus
from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import PolicyProofError, StoreError
from policyproof_runtime.models import Model
from policyproof_runtime.objects import Part, Snapshot
from policyproof_runtime.release import Release
from policyproof_runtime.storage import Storage

#: Libraries whose version may change what a page says or how an object is written.
LIBRARIES = ("pdfminer.six", "pdfplumber", "polars", "pyarrow", "pypdf", "pypdfium2", "tokenizers")
#: Pages that one worker reads at a time: small enough to share the longest document out.
PAGES_PER_TASK = 16

Progress = Callable[[str, int, int], None]
Task = tuple[str, tuple[Any, ...]]
Rows = pl.DataFrame | pa.Table


def no_progress(item: str, done: int, total: int) -> None:
    """Show nothing."""


@dataclass
class Work:
    """How much of a build was done anew and how much was known; what was left out, and why."""

    made: int = 0
    known: int = 0
    left_out: dict[str, PolicyProofError] = field(default_factory=dict)


class Build:
    """One build of a corpus in a store; as a context it ends its workers, whatever happens.

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
        # Reading every part of a phase is what costs, and a corpus is verified when it is loaded.
        self.frame = cache(store.phase_frame)
        self._serve = cache(lambda data: ServedCorpus(store, Release.from_json(data)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if "_executor" in self.__dict__:
            self._executor.shutdown()

    def phase(self, name: str) -> Snapshot:
        """Return the snapshot of one phase, making it and the phases before it where needed."""
        return self.phases(name)[name]

    def phases(self, last: str = PHASES[-1].name) -> dict[str, Snapshot]:
        """Return the snapshots of the phases made per document as far as ``last``."""
        names = ["pages", *(phase.name for phase in PHASES)]
        names = names[: names.index(last) + 1]
        self._make_pages()
        self._make_phases(names[1:])
        return {name: self._snapshot(name) for name in names}

    def part(self, name: str, make: Callable[..., Rows], *inputs: Any, owner: str = "") -> Part:
        """Return the one table that ``make(*inputs)`` returns, as `parts` does."""
        return self.parts([name], make, *inputs, owner=owner)[name]

    def parts(
        self, names: Sequence[str], make: Callable[..., Any], *inputs: Any, owner: str = ""
    ) -> dict[str, Part]:
        """Return the tables that ``make(*inputs)`` returns by name, from the memo where known.

        ``make`` is given the rows of snapshots and parts and the loaded corpus of a release; all
        else is a path, a model, a record or JSON values. What the tables depend on is all among
        the inputs and the code that the module of ``make`` runs. ``owner`` is a document, or else
        the corpus.
        """
        key = {"code": code_digest(make.__module__), "inputs": _identity(inputs)}
        found = {name: self.store.memo.get({"phase": name, **key}) for name in names}
        parts = {name: part for name, part in found.items() if part is not None}
        self.work.known += len(parts)
        if len(parts) < len(names):
            made = make(*map(self._rows, inputs))
            tables = made if isinstance(made, dict) else dict.fromkeys(names, made)
            for name in set(names) - parts.keys():
                parts[name] = self.store.put_part(owner or self.corpus.id, tables[name])
                self.store.memo.put({"phase": name, **key}, parts[name])
                self.work.made += 1
        return parts

    def _rows(self, value: Any) -> Any:
        if isinstance(value, Snapshot):
            return self.frame(value.digest)
        if isinstance(value, Part):
            return self.store.frame(value.object)
        if isinstance(value, Release):
            return self._serve(value.to_json())
        return value

    @property
    def documents(self) -> list[Document]:
        """The documents of the corpus that could be read so far, in order."""
        return [d for d in self.corpus.documents if d.id not in self.work.left_out]

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
            reviewed = Digest.of_json(review.model_dump(mode="json"))
            jobs[document.id] = Job(
                store=self.store,
                document=document,
                namespace=self.corpus.namespace,
                profile=profiles[document.profile],
                review=review,
                vocabulary=vocabulary,
                rules={**rules[document.profile], "review": reviewed},
            )
        return jobs

    def _snapshot(self, name: str) -> Snapshot:
        snapshot = self.store.put_snapshot(self._parts[d.id][name] for d in self.documents)
        self.store.set_ref(self.corpus.id, name, snapshot.digest)
        return snapshot

    def _make_pages(self) -> None:
        waiting = []
        for document in self.documents:
            if document.id in self._parts:
                continue
            part = self.store.memo.get(self._pages_key(document))
            if part is None:
                waiting.append(document)
                continue
            with self._or_left_out(document):
                self.project.check_source(self.corpus, document)
                self._parts[document.id] = {"pages": part}
                self.work.known += 1
        if waiting:
            self._read(waiting)
        self._raise_faults()

    def _pages_key(self, document: Document) -> dict[str, Any]:
        return {
            "phase": "pages",
            "code": code_digest("policyproof_assets.corpus.reading"),
            "document": document.id,
            "source": document.sha256,
            "rules": self._jobs[document.id].rules["extract"],
            "libraries": libraries(),
        }

    def _read(self, documents: Sequence[Document]) -> None:
        """Read the pages of ``documents``, shared out by ranges of pages."""
        with _scratch(self.store.storage) as folder:
            tasks = [task for d in documents for task in self._page_tasks(d, folder)]
            counts = Counter(name for name, _ in tasks)
            found: dict[str, list[Any]] = defaultdict(list)
            for (name, (_, document, *_)), result in self._each("pages", read_pages, tasks):
                found[name].append(result)
                if len(found[name]) == counts[name]:
                    self._keep_pages(document, found.pop(name))

    def _page_tasks(self, document: Document, folder: Path | None) -> list[Task]:
        rules = self._jobs[document.id].profile.extract
        with self._or_left_out(document):
            path = self.project.source(self.corpus, document, self.store, folder)
            ranges = page_ranges(path, rules, PAGES_PER_TASK)
            return [(document.id, (path, document, rules, pages)) for pages in ranges]
        return []

    def _keep_pages(self, document: Document, results: Sequence[Any]) -> None:
        with self._or_left_out(document):
            for result in results:
                if isinstance(result, ExtractError):
                    raise result
            part = self.store.put_part(document.id, join_pages(results))
            self.store.memo.put(self._pages_key(document), part)
            self._parts[document.id] = {"pages": part}
            self.work.made += 1

    def _make_phases(self, names: Sequence[str]) -> None:
        tasks: list[Task] = []
        for document in self.documents:
            job, parts = self._jobs[document.id], self._parts[document.id]
            known = self._parts[document.id] = known_parts(job, parts, names)
            self.work.known += len(known) - len(parts)
            if any(name not in known for name in names):
                tasks.append((document.id, (job, known, names)))
        for (name, (job, known, _)), result in self._each("passages", run_phases, tasks):
            with self._or_left_out(job.document):
                if isinstance(result, ExtractError):
                    raise result
                self.work.made += len(result) - len(known)
                self._parts[name] = result
        self._raise_faults()

    def _each(
        self, what: str, fn: Callable[..., Any], tasks: Sequence[Task]
    ) -> Iterator[tuple[Task, Any]]:
        results = run_each(self._executor, fn, tasks) if tasks else ()
        for done, (index, result) in enumerate(results, 1):
            self._progress(f"{what} of {tasks[index][0]}", done, len(tasks))
            yield tasks[index], result

    @contextmanager
    def _or_left_out(self, document: Document) -> Iterator[None]:
        try:
            yield
        except (SourceError, ExtractError) as error:
            # A reader knows a file by its name in the store, and people know the document's.
            name = document.path or document.id
            error.message = error.message.replace(document.sha256, name)
            self.work.left_out.setdefault(document.id, error)

    def _raise_faults(self) -> None:
        faults = self.work.left_out
        if faults and (not self._keep_going or len(faults) == len(self.corpus.documents)):
            raise next(iter(faults.values()))


@contextmanager
def _scratch(storage: Storage) -> Iterator[Path | None]:
    """Yield a folder for the source documents of a store in a bucket; None where it is local."""
    if storage.local:
        yield None
        return
    try:
        folder = tempfile.TemporaryDirectory(prefix="policyproof-")
    except OSError as error:
        raise StoreError(
            f"no folder for the source documents: {error.strerror or error}",
            action="free space, or name a folder that can be written in the variable TMPDIR",
        ) from error
    with folder as name:
        yield Path(name)


def _identity(value: Any) -> Any:
    """Return the JSON values that tell an input of a part from any other."""
    if isinstance(value, Snapshot | Release):
        return value.digest
    if isinstance(value, Part):
        return value.object
    if isinstance(value, Model):
        # The libraries that run a model shape its vectors as much as its files do.
        return [value.digest, *(version(name) for name in ("onnxruntime", "numpy"))]
    if isinstance(value, Path):
        return Digest.of(value.read_bytes())
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return [_identity(item) for item in value] if isinstance(value, list | tuple) else value


@cache
def libraries() -> Mapping[str, str]:
    """Return the installed versions of the libraries that shape bytes."""
    return {name: version(name) for name in LIBRARIES}
