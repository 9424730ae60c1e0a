"""What a corpus costs as it grows: time of each kind of build, and memory of the main process.

    python benchmarks/corpus_growth.py [--sizes 10 100 1000] [--workers 2]

For every size: a cold build, the same build again, and the build after one document was added.
The last should cost what nothing costs at that size and what one document costs alone; the ratio
says how near it comes. Each build runs in a process of its own, whose peak memory is given without
its workers. The documents are generated, about 700 words of Markdown in eight sections each.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from policyproof_assets.publish import build_corpus
from policyproof_assets.workers import BoundedProcesses
from policyproof_runtime.digest import Digest

HEADER = '[corpus]\nid = "grown"\ntitle = "A corpus that grows"\n'
DOCUMENT = """
[[documents]]
id = "doc-{number:04}"
title = "Policy {number}"
publisher = "Generated"
licence = "none"
version = "1"
status = "active"
classification = "public"
acl = ["public"]
profile = "markdown"
format = "markdown"
path = "doc-{number:04}.md"
sha256 = "{sha256}"
"""
SYLLABLES = ["ba", "ke", "lo", "mi", "ru", "ta", "ven", "dor", "sil", "gra", "pon", "tis"]


def main() -> None:
    """Print the costs by size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        manifest, store, workers = options.one
        print(json.dumps(_build(manifest, store, int(workers))))
        return
    with tempfile.TemporaryDirectory() as folder:
        alone = _grow(Path(folder) / "alone", 0, options.workers)["one more"]["seconds"]
        rows = {n: _grow(Path(folder) / str(n), n, options.workers) for n in options.sizes}
    _show(rows, alone)


def _show(rows: dict[int, dict[str, dict[str, float]]], alone: float) -> None:
    table = Table(title=f"seconds (parts made, peak MB); one document alone: {alone:.2f} s")
    columns = ("documents", "cold", "no change", "one more", "one more : no change + one alone")
    for column in columns:
        table.add_column(column, justify="right")
    for size, runs in rows.items():
        cells = [f"{r['seconds']:.2f} ({r['made']}, {r['megabytes']:.0f})" for r in runs.values()]
        ratio = runs["one more"]["seconds"] / (runs["no change"]["seconds"] + alone)
        table.add_row(str(size), *cells, f"{ratio:.2f}")
    Console().print(table)


def _grow(folder: Path, size: int, workers: int) -> dict[str, dict[str, float]]:
    """Build ``size`` documents twice, and then one more; returns the figures by kind of build."""
    store = str(folder / "store")
    runs = {}
    if size:
        manifest = write_corpus(folder, size)
        runs = {name: _in_process(manifest, store, workers) for name in ("cold", "no change")}
    manifest = write_corpus(folder, size + 1)
    return {**runs, "one more": _in_process(manifest, store, workers)}


def _in_process(manifest: Path, store: str, workers: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", str(manifest), store, str(workers)]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


def _build(manifest: str, store: str, workers: int) -> dict[str, float]:
    start = time.perf_counter()
    _, work = build_corpus(manifest, store, executor=lambda: BoundedProcesses(workers))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "made": work.made, "megabytes": peak}


def write_corpus(folder: Path, count: int) -> Path:
    """Write ``count`` documents, the same ones every time, and their manifest; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = HEADER
    for number in range(count):
        data = _text(number).encode()
        (folder / f"doc-{number:04}.md").write_bytes(data)
        manifest += DOCUMENT.format(number=number, sha256=Digest.of(data).hex)
    path = folder / "grown.toml"
    path.write_text(manifest)
    return path


def _text(number: int) -> str:
    words = random.Random(number)  # noqa: S311 -- filler, no secret

    def sentence() -> str:
        return " ".join(_word(words) for _ in range(11)).capitalize() + "."

    sections = [
        f"## {part} {_word(words).capitalize()}\n\n" + "\n".join(sentence() for _ in range(8))
        for part in range(1, 9)
    ]
    return f"# Policy {number}\n\n" + "\n\n".join(sections) + "\n"


def _word(words: random.Random) -> str:
    return "".join(words.choice(SYLLABLES) for _ in range(words.randint(1, 3)))


if __name__ == "__main__":
    main()
