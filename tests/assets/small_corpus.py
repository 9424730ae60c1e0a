"""A corpus of two small PDFs with a profile of its own, written into a folder."""

import hashlib
from pathlib import Path

from reportlab import rl_config
from reportlab.pdfgen.canvas import Canvas

rl_config.invariant = 1

PROFILE = r"""
[extract]
extractor = "pypdf"

[[headings.patterns]]
type = "section"
pattern = '\d+ [A-Z].*'

[[hierarchy.nodes]]
type = "section"
scheme = "section"
number = '(?P<number>\d+)'

[units]
strict = false

[ledger]
front_matter = "before_first_heading"

[passages]
strict = false
"""
TEXTS = {
    "leave": [
        ["Leave policy", "1 Annual leave", "Every employee has thirty days of leave a year."],
        ["2 Sick leave", "A certificate is due on the fourth day of illness.", "Send it to HR."],
    ],
    "travel": [["1 Trains", "Second class is booked for journeys under four hours."]],
}
DOCUMENT = """
[[documents]]
id = "{id}"
title = "{id} policy"
publisher = "Test"
licence = "our own"
version = "1"
status = "active"
classification = "internal"
acl = ["staff"]
profile = "plain"
path = "{id}.pdf"
sha256 = "{sha256}"
"""


def write_pdf(path: Path, pages: list[list[str]]) -> str:
    """Write a PDF with one line of text per string; returns its SHA-256."""
    canvas = Canvas(str(path))
    for lines in pages:
        for row, line in enumerate(lines):
            canvas.drawString(72, 760 - 16 * row, line)
        canvas.showPage()
    canvas.save()
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_corpus(folder: Path, texts: dict[str, list[list[str]]] = TEXTS) -> Path:
    """Write PDFs, profile and manifest; returns the path of the manifest."""
    (folder / "profiles").mkdir(parents=True, exist_ok=True)
    (folder / "profiles" / "plain.toml").write_text(PROFILE)
    manifest = '[corpus]\nid = "small"\ntitle = "Small"\n'
    for name, pages in texts.items():
        digest = write_pdf(folder / f"{name}.pdf", pages)
        manifest += DOCUMENT.format(id=name, sha256=digest)
    path = folder / "small.toml"
    path.write_text(manifest)
    return path
