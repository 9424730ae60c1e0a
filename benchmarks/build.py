"""How long a cold build takes, against plain extraction of the same pages in the same run.

    python benchmarks/build.py [--corpus ai-governance] [--repeat 3]

The baseline is what the accepted pipeline did first: one process reads every page with plain
pdfplumber or pypdf, as the document's profile says. Sources come from POLICYPROOF_SOURCES or the
official addresses.
"""

import argparse
import logging
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pdfplumber
import pypdf
from rich.console import Console
from rich.table import Table

from policyproof_assets.build import Build
from policyproof_assets.corpus.profiles import load_profile
from policyproof_assets.manifests import Corpus
from policyproof_assets.pipeline import PHASES
from policyproof_assets.project import Project
from policyproof_assets.publish import Publisher, build_corpus
from policyproof_assets.store import Store


def main() -> None:
    """Time the baseline and the builds in turn and print their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="ai-governance")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    logging.getLogger("pypdf").setLevel(logging.ERROR)
    project = Project()
    corpus = project.corpus(options.corpus)
    runs = [_run(project, corpus) for _ in range(options.repeat)]
    title = f"{corpus.id}: median of {options.repeat} runs, baseline = plain extraction"
    table = Table(title=title)
    for column, side in (("what", "left"), ("seconds", "right"), ("ratio to baseline", "right")):
        table.add_column(column, justify=side)
    for name in runs[0]:
        seconds = statistics.median(run[name] for run in runs)
        ratio = statistics.median(run[name] / run["plain extraction"] for run in runs)
        table.add_row(name, f"{seconds:.2f}", f"{ratio:.3f}")
    Console().print(table)


def _run(project: Project, corpus: Corpus) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        paths = _sources(project, corpus, Path(folder) / "sources")
        times = {"plain extraction": _seconds(lambda: _plain(project, corpus, paths))}
        root = str(Path(folder) / "cold")
        times["cold build, release frozen"] = _seconds(lambda: build_corpus(corpus.id, root))
        times["build without changes"] = _seconds(lambda: build_corpus(corpus.id, root))
        times.update(_phases(project, corpus, str(Path(folder) / "phases")))
    return times


def _sources(project: Project, corpus: Corpus, folder: Path) -> dict[str, Path]:
    store = Store(str(folder))
    return {d.id: project.source(corpus, d, store, folder) for d in corpus.documents}


def _plain(project: Project, corpus: Corpus, paths: dict[str, Path]) -> None:
    for document in corpus.documents:
        profile = load_profile(project.find(corpus, "profiles", document.profile))
        _READERS[profile.extract.extractor](paths[document.id])


def _read_pdfplumber(path: Path) -> list[str]:
    with pdfplumber.open(path) as pdf:
        return [page.extract_text() for page in pdf.pages]


def _read_pypdf(path: Path) -> list[str]:
    return [page.extract_text() for page in pypdf.PdfReader(path).pages]


_READERS = {"pdfplumber": _read_pdfplumber, "pypdf": _read_pypdf}


def _phases(project: Project, corpus: Corpus, root: str) -> dict[str, float]:
    """Time each phase of a second cold build, made one after the other."""
    with Build(project, corpus, Store(root)) as build:
        names = ["pages", *(phase.name for phase in PHASES)]
        times = {f"phase {name}": _seconds(lambda name=name: build.phase(name)) for name in names}

        serving = Publisher(build).serving
        times["phase index"] = _seconds(lambda: serving.indexes)
        times["phase embeddings"] = _seconds(lambda: serving.embeddings)
    return times


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
