"""Headings and their parents found without a profile, against accepted ones, and by pymupdf4llm.

    python benchmarks/structure.py SOURCES ACCEPTED [--profile auto] [--list]

SOURCES is a folder of PDFs, ACCEPTED one with heading-hierarchy.jsonl.gz; a PDF's name is its
document id. The comparison needs `pip install pymupdf4llm==1.28.2`, which brings PyMuPDF and a
layout model, and so is no part of a development install; without it the comparison is left out.

A found heading is matched to an accepted one on the same page if their texts, letters and digits
only, agree over the whole of the shorter or over 30 characters, or if it is the title that follows
an accepted marker. A further piece of a matched heading counts neither for nor against. What is not
accepted counts against `strict` precision; `precision` counts as right what the accepted tree knows
as a container of its own, and what the PDF's bookmarks name (the accepted list leaves both out on
purpose). `titles` is the recall of accepted headings that are no full sentences, since an extractor
may well take numbered statements in the cells of a table for text. A parent is right if the nearest
found ancestor that is accepted is the accepted parent; accepted containers that no page prints are
skipped. Seconds are of processor time.
"""

import argparse
import gzip
import json
import re
import sys
import time
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pypdfium2

from policyproof_assets.corpus.auto import find_layout_headings
from policyproof_assets.corpus.layout import read_layout
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.pieces import read_outline
from policyproof_assets.corpus.profiles import load_profile

MANIFESTS = Path(__file__).resolve().parents[1] / "manifests"
#: Characters over which two texts must agree.
AGREE = 30


@dataclass
class Heading:
    """A found heading; ``level`` from 1."""

    page: int
    level: int
    text: str


@dataclass
class Accepted:
    """An accepted heading, with the id of the nearest accepted heading above it."""

    id: str
    page: int
    text: str
    title: str
    parent: str | None
    is_title: bool


@dataclass
class Truth:
    """What is accepted for one document."""

    headings: list[Accepted] = field(default_factory=list)
    containers: set[str] = field(default_factory=set)
    outline: set[str] = field(default_factory=set)


@dataclass
class Score:
    """Counts over one document or several."""

    accepted: int = 0
    found: int = 0
    right: int = 0
    known: int = 0
    parents: int = 0
    titles: int = 0
    titles_right: int = 0
    seconds: float = 0.0

    def __iadd__(self, other: "Score") -> "Score":
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self


def plain(text: str) -> str:
    """Return letters and digits in lower case; points stay between digits."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"(?<!\d)\.|\.(?!\d)|[^\w.]|_", "", text)


def agree(found: str, accepted: str) -> bool:
    """Say whether one plain text opens the other, and no number goes on where it ends."""
    length = min(len(found), len(accepted), AGREE)
    if not length or found[:length] != accepted[:length]:
        return False
    rest = (found[length:] or accepted[length:])[:1]
    return length == AGREE or not (found[length - 1].isdigit() and (rest.isdigit() or rest == "."))


def read_truth(folder: Path, sources: Path) -> dict[str, Truth]:
    """Read the accepted headings of every document that has a PDF in ``sources``."""
    with gzip.open(folder / "heading-hierarchy.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    nodes = {row["node_id"]: row for row in rows}
    truths: dict[str, Truth] = defaultdict(Truth)
    for row in rows:
        truth = truths[row["document_id"]]
        if row["node_kind"] == "synthetic":
            truth.containers.add(plain(row["full_heading"] or row["marker_text"]))
            continue
        above = [a for a in row["ancestor_node_ids"] if nodes[a]["node_kind"] == "source"]
        title = row["full_heading"].partition(" — ")[2]
        truth.headings.append(
            Accepted(
                row["node_id"],
                row["page_number"],
                plain(row["full_heading"]),
                plain(title),
                above[-1] if above else None,
                not row["full_heading"].rstrip().endswith("."),
            )
        )
    for name, truth in truths.items():
        document = pypdfium2.PdfDocument(sources / f"{name}.pdf")
        truth.outline = {plain(mark.title) for mark in read_outline(document)} - {""}
        document.close()
    return truths


def compare(found: list[Heading], truth: Truth, listing: list[str]) -> Score:
    """Count what of ``found`` is accepted; appends what is not, and what lacks, to ``listing``."""
    titles = sum(accepted.is_title for accepted in truth.headings)
    score = Score(accepted=len(truth.headings), titles=titles)
    open_: list[tuple[int, str | None]] = []
    taken: set[str] = set()
    for heading in found:
        match, part = _match(heading, truth, taken)
        while open_ and open_[-1][0] >= heading.level:
            open_.pop()
        if part:
            continue
        parent = next((name for _, name in reversed(open_) if name), None)
        open_.append((heading.level, match.id if match else None))
        score.found += 1
        if match:
            taken.add(match.id)
            score.right += 1
            score.titles_right += match.is_title
            score.parents += parent == match.parent
            if parent != match.parent:
                listing.append(f"parent  p. {heading.page}: {heading.text[:70]} (below {parent})")
        elif _is_known(plain(heading.text), truth):
            score.known += 1
        else:
            listing.append(f"extra   p. {heading.page}: {heading.text[:90]}")
    lacking = [a for a in truth.headings if a.id not in taken]
    listing += [f"lacking p. {a.page}: {a.text[:90]}" for a in lacking]
    return score


def _match(heading: Heading, truth: Truth, taken: set[str]) -> tuple[Accepted | None, bool]:
    """Return the accepted heading, or whether the text is a further piece of a taken one."""
    text = plain(heading.text)
    here = [a for a in truth.headings if a.page == heading.page]
    for accepted in here:
        if accepted.id not in taken and (agree(text, accepted.text) or text == accepted.title):
            return accepted, False
    return None, any(text and a.id in taken and text in a.text for a in here)


def _is_known(text: str, truth: Truth) -> bool:
    if any(text.startswith(c) and not text[len(c) :][:1].isdigit() for c in truth.containers):
        return True
    return any(text == mark or (len(mark) > 8 and text.endswith(mark)) for mark in truth.outline)


def by_auto(path: Path) -> list[Heading]:
    """Return the headings PolicyProof finds by layout alone."""
    profile = load_profile(MANIFESTS / "profiles" / "auto.toml")
    lines = Lines.from_pages(read_layout(path, path.stem, profile.extract))
    rows = find_layout_headings(lines, profile.headings).select("page", "type", "text").iter_rows()
    return [Heading(page, int(kind.removeprefix("level-")), text) for page, kind, text in rows]


def _by_pymupdf4llm(path: Path, **options: object) -> list[Heading]:
    import pymupdf4llm

    chunks = pymupdf4llm.to_markdown(str(path), page_chunks=True, show_progress=False, **options)
    return [
        Heading(number, level, text)
        for number, chunk in enumerate(chunks, 1)
        for level, text in _markdown_headings(chunk["text"])
    ]


def _markdown_headings(text: str) -> Iterator[tuple[int, str]]:
    for line in text.splitlines():
        match = re.match(r"(#{1,6})\s+(.*)", line)
        if match:
            yield len(match[1]), re.sub(r"[*_`]|<[^>]*>", "", match[2])


def with_layout_model(path: Path) -> list[Heading]:
    """Return the headings pymupdf4llm finds with its layout model, its default."""
    import pymupdf4llm

    pymupdf4llm.use_layout(yes=True)
    return _by_pymupdf4llm(path, use_ocr=False)


def by_font_size(path: Path) -> list[Heading]:
    """Return the headings pymupdf4llm finds by font size, without its model."""
    import pymupdf4llm

    pymupdf4llm.use_layout(yes=False)
    return _by_pymupdf4llm(path)


def by_bookmarks(path: Path) -> list[Heading]:
    """Return the headings pymupdf4llm finds by the PDF's bookmarks, without its model."""
    import pymupdf
    import pymupdf4llm

    pymupdf4llm.use_layout(yes=False)
    from pymupdf4llm.helpers.pymupdf_rag import TocHeaders

    with pymupdf.open(path) as document:
        return _by_pymupdf4llm(path, hdr_info=TocHeaders(document))


METHODS: dict[str, Callable[[Path], list[Heading]]] = {
    "PolicyProof auto": by_auto,
    "pymupdf4llm, layout model": with_layout_model,
    "pymupdf4llm, font sizes": by_font_size,
    "pymupdf4llm, bookmarks": by_bookmarks,
}
COLUMNS = ("found", "right", "strict", "precision", "recall", "titles", "parents", "seconds")


def line(name: str, score: Score) -> str:
    """Return one line of the table."""
    shares = (
        (score.right, score.found),
        (score.right + score.known, score.found),
        (score.right, score.accepted),
        (score.titles_right, score.titles),
        (score.parents, score.accepted),
    )
    cells = [f"{part / whole if whole else 0:>10.3f}" for part, whole in shares]
    return f"  {name:<38}{score.found:>10}{score.right:>10}{''.join(cells)}{score.seconds:>10.1f}"


def main() -> None:
    """Print the table; with --list also every disagreement."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("sources", type=Path, help="folder of PDFs, named by document id")
    parser.add_argument("accepted", type=Path, help="folder with heading-hierarchy.jsonl.gz")
    parser.add_argument("--list", action="store_true", help="print every disagreement")
    parser.add_argument("--only", help="the methods whose name holds this text")
    arguments = parser.parse_args()
    truths = read_truth(arguments.accepted, arguments.sources)
    print(" " * 40 + "".join(f"{name:>10}" for name in COLUMNS))
    for method, find in METHODS.items():
        if arguments.only and arguments.only not in method:
            continue
        total, lines, listing = Score(), [], []
        for name, truth in truths.items():
            start = time.process_time()
            try:
                found = find(arguments.sources / f"{name}.pdf")
            except ImportError as error:
                print(f"{method}: left out ({error})", file=sys.stderr)
                break
            listing.append(name)
            score = compare(found, truth, listing)
            score.seconds = time.process_time() - start
            lines.append(line(name, score))
            total += score
        else:
            print(f"{method} ({total.accepted} accepted headings)", *lines, sep="\n")
            print(line("together", total))
            if arguments.list:
                print(*listing, sep="\n")


if __name__ == "__main__":
    main()
