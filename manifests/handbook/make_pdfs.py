"""Typeset the sources in pdf_sources/ as the PDFs of the handbook.

    python make_pdfs.py            write every PDF and the metadata beside it
    python make_pdfs.py --check    exit 1 if a committed file differs from what would be written

Needs reportlab, pyphen and pyyaml. Pages are not compressed: the bytes do not depend on zlib.
"""

import datetime
import io
import re
import sys
from collections import namedtuple
from functools import partial
from pathlib import Path
from xml.sax.saxutils import escape

import pyphen  # noqa: F401 -- reportlab hyphenates with it, and without it not at all
import yaml
from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import (
    BaseDocTemplate,
    CondPageBreak,
    Frame,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Preformatted,
    Table,
)
from reportlab.platypus.tableofcontents import TableOfContents

HERE = Path(__file__).parent
COMPANY = "Harrowfen Thermal Networks"
WIDTH, HEIGHT = A4
LEFT, TOP, BOTTOM = 22 * mm, 24 * mm, 20 * mm
TITLE_HEIGHT, NOTES_HEIGHT, GUTTER = 52 * mm, 17 * mm, 8 * mm
TEXT_WIDTH = WIDTH - 2 * LEFT
GREY, PALE = HexColor("#5f6670"), HexColor("#f2f3f5")
FACES = {"Helvetica": ("Helvetica", "Helvetica-Bold"), "Times": ("Times-Roman", "Times-Bold")}
ITEM = re.compile(r"^( *)(-|\d+\.) +(.*)$")
Source = namedtuple("Source", "name meta layout body notes")


def read_source(path):
    """Split a source file into metadata, layout, body and footnotes."""
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    meta = yaml.safe_load(front)
    notes = dict(re.findall(r"^\[\^(\d+)\]: (.*)$", body, flags=re.M))
    body = re.sub(r"^\[\^\d+\]: .*\n", "", body, flags=re.M)
    return Source(path.stem, meta, meta.pop("layout"), body, notes)


def toml(meta):
    """The metadata as TOML, in the order of the source."""

    def value(item):
        if isinstance(item, list):
            return "[" + ", ".join(map(value, item)) + "]"
        return str(item) if isinstance(item, (int, datetime.date)) else f'"{item}"'

    return "".join(f"{key} = {value(item)}\n" for key, item in meta.items())


def inline(text):
    """Inline Markdown as reportlab markup; a footnote mark reports its page when it is drawn."""
    text = escape(text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"\*(.+?)\*", r"<i>\1</i>", text)
    text = re.sub(r"`(.+?)`", r'<font face="Courier">\1</font>', text)
    return re.sub(r"\[\^(\d+)\]", r'<super>\1</super><onDraw name="note" label="\1"/>', text)


def styles(layout):
    """Paragraph styles by name."""
    regular, bold = FACES[layout["face"]]
    narrow = layout["columns"] == 2
    size = (9.8 if narrow else 10.6) + (0.6 if layout["face"] == "Times" else 0)
    base = ParagraphStyle(
        "body", fontName=regular, fontSize=size, leading=size * 1.42, spaceAfter=6
    )
    if layout["hyphenate"]:
        base.hyphenationLang, base.alignment = "en_GB", 4
    accent = HexColor(layout["accent"])
    make = partial(ParagraphStyle, parent=base)
    head = partial(make, fontName=bold, alignment=0)
    big = 13 if narrow else 16
    return {
        "body": base,
        "h1": head(
            "h1", fontSize=big, leading=big * 1.2, textColor=accent, spaceBefore=11, spaceAfter=5
        ),
        "h2": head("h2", fontSize=size + 1.2, leading=size * 1.4, spaceBefore=7, spaceAfter=3),
        "term": head("term", spaceAfter=1),
        "indent": make("indent", leftIndent=12),
        "cell": make("cell", fontSize=size - 1.2, leading=size * 1.15, alignment=0, spaceAfter=0),
        "code": make("code", fontName="Courier", fontSize=7.6, leading=9.6, leftIndent=8),
        "note": make("note", fontSize=7.8, leading=9.6, spaceAfter=0),
        "toc": make("toc", alignment=0, spaceAfter=2, rightIndent=24),
    }


def table(lines, style, layout, width):
    """A ruled table whose column widths follow the longest cell of each column."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    rows = [row for row in rows if not set("".join(row)) <= set("- ")]
    weights = [min(max(max(len(row[i]) for row in rows), 12), 38) for i in range(len(rows[0]))]
    cells = [
        [Paragraph(f"<b>{inline(c)}</b>" if n == 0 else inline(c), style) for c in row]
        for n, row in enumerate(rows)
    ]
    look = [
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("BACKGROUND", (0, 0), (-1, 0), PALE),
        ("LINEABOVE", (0, 0), (-1, 0), 1, HexColor(layout["accent"])),
        ("LINEBELOW", (0, 0), (-1, -1), 0.4, GREY),
    ]
    return Table(
        cells,
        colWidths=[width * w / sum(weights) for w in weights],
        style=look,
        spaceBefore=4,
        spaceAfter=9,
        repeatRows=int(layout.get("repeat_header", True)),
    )


def heading(line, numbers, style, numbered):
    """A heading that remembers its level and its text for the contents and the bookmarks."""
    level = len(line) - len(line.lstrip("#"))
    text = line.lstrip("# ")
    numbers[level - 1 :] = [numbers[level - 1] + 1] + [0] * (2 - level)
    if numbered:
        text = ".".join(str(n) for n in numbers[:level]) + f"  {text}"
    flowable = Paragraph(inline(text), style[f"h{level}"])
    flowable.entry = (level - 1, re.sub(r" +", " ", text))
    return flowable


def list_item(match, style):
    """A list item, indented by its depth, with a hanging bullet or number."""
    depth = 1 + (len(match[1]) >= 2)
    item = ParagraphStyle(
        "item",
        parent=style["body"],
        leftIndent=14 * depth,
        spaceAfter=2.5,
        bulletIndent=14 * depth - 12,
        bulletFontName=style["body"].fontName,
    )
    return Paragraph(inline(match[3]), item, bulletText="\u2022" if match[2] == "-" else match[2])


def flowables(source, style, width):
    """The body of a source, block by block."""
    numbers = [0, 0]
    for block in re.findall(r"```.*?```|[^\n].*?(?=\n\n|\Z)", source.body, flags=re.S):
        lines = block.strip("\n").split("\n")
        if block.startswith("```"):
            yield Preformatted("\n".join(lines[1:-1]), style["code"])
        elif block.startswith("#"):
            yield CondPageBreak((17 if block.startswith("##") else 26) * mm)
            yield heading(block.strip(), numbers, style, source.layout["numbered"])
        elif block.startswith("|"):
            yield table(lines, style["cell"], source.layout, width)
        elif ITEM.match(lines[0]):
            yield from (list_item(ITEM.match(line), style) for line in lines)
        elif lines[-1].startswith(": "):
            yield Paragraph(inline(lines[0]), style["term"])
            yield Paragraph(inline(lines[1][2:]), style["indent"])
        else:
            yield Paragraph(inline(" ".join(lines)), style["body"])


class Policy(BaseDocTemplate):
    """One policy: page furniture, footnotes, bookmarks and entries of the contents."""

    def __init__(self, file, source, style, total):
        super().__init__(
            file,
            pagesize=A4,
            title=source.meta["title"],
            author=COMPANY,
            subject=source.meta["doc_id"],
            pageCompression=0,
            invariant=1,
        )
        self.source, self.style, self.total, self.pending = source, style, total, []
        self.addPageTemplates(
            [
                PageTemplate(
                    "first", self._frames(HEIGHT - TOP - TITLE_HEIGHT), self._title, self._end
                ),
                PageTemplate("later", self._frames(HEIGHT - TOP), self._header, self._end),
            ]
        )

    def beforeDocument(self):
        self.canv.setNamedCB("note", lambda _canvas, _kind, label: self.pending.append(label))

    def _frames(self, top):
        columns = self.source.layout["columns"]
        bottom = BOTTOM + (NOTES_HEIGHT if self.source.notes else 0)
        width = (TEXT_WIDTH - GUTTER * (columns - 1)) / columns
        return [
            Frame(LEFT + n * (width + GUTTER), bottom, width, top - bottom, 0, 0, 0, 0)
            for n in range(columns)
        ]

    def _title(self, canvas, _doc):
        meta, accent, face = self.source.meta, self.style["h1"].textColor, self.style["h1"].fontName
        canvas.setFillColor(accent)
        canvas.rect(0, HEIGHT - 12 * mm, WIDTH, 12 * mm, stroke=0, fill=1)
        canvas.setFillColor(HexColor("#ffffff"))
        canvas.setFont("Helvetica-Bold", 10)
        canvas.drawString(LEFT, HEIGHT - 8 * mm, COMPANY)
        big = ParagraphStyle("title", fontName=face, fontSize=22, leading=26, textColor=accent)
        title = Paragraph(escape(meta["title"]), big)
        title.wrapOn(canvas, TEXT_WIDTH, 60 * mm)
        title.drawOn(canvas, LEFT, HEIGHT - TOP - TITLE_HEIGHT + 31 * mm)
        facts = [
            ["Document", meta["doc_id"], "Owner", meta["owner"]],
            ["Version", str(meta["version"]), "Effective", f"{meta['effective_date']:%d %B %Y}"],
            ["Status", meta["status"], "Classification", meta["classification"]],
        ]
        control = Table(
            facts,
            colWidths=[w * TEXT_WIDTH for w in (0.14, 0.26, 0.2, 0.4)],
            style=[
                ("FONT", (0, 0), (-1, -1), "Helvetica", 8.5),
                ("BACKGROUND", (0, 0), (-1, -1), PALE),
            ],
        )
        control.wrapOn(canvas, TEXT_WIDTH, 30 * mm)
        control.drawOn(canvas, LEFT, HEIGHT - TOP - TITLE_HEIGHT + 7 * mm)

    def _header(self, canvas, _doc):
        canvas.setFont("Helvetica", 8)
        canvas.setFillColor(GREY)
        canvas.drawString(LEFT, HEIGHT - 15 * mm, COMPANY)
        canvas.drawRightString(WIDTH - LEFT, HEIGHT - 15 * mm, self.source.meta["title"])
        canvas.line(LEFT, HEIGHT - 17 * mm, WIDTH - LEFT, HEIGHT - 17 * mm)

    def _end(self, canvas, doc):
        meta, bottom = self.source.meta, BOTTOM
        for label in reversed(self.pending):
            note = Paragraph(
                f"<super>{label}</super> {inline(self.source.notes[label])}", self.style["note"]
            )
            bottom += note.wrapOn(canvas, TEXT_WIDTH, NOTES_HEIGHT)[1] + 1
            note.drawOn(canvas, LEFT, bottom - note.height - 2)
        self.pending.clear()
        if bottom > BOTTOM:
            canvas.line(LEFT, bottom + 2, LEFT + 45 * mm, bottom + 2)
        canvas.setFont("Helvetica", 8)
        canvas.setFillColor(GREY)
        canvas.drawString(
            LEFT, 12 * mm, f"{meta['doc_id']}, version {meta['version']}, {meta['classification']}"
        )
        canvas.drawRightString(WIDTH - LEFT, 12 * mm, f"Page {doc.page} of {self.total}")

    def afterFlowable(self, flowable):
        if hasattr(flowable, "entry"):
            level, text = flowable.entry
            if self.source.layout["bookmarks"]:
                self.canv.bookmarkPage(text)
                self.canv.addOutlineEntry(text, text, level)
            self.notify("TOCEntry", (level, text, self.page))


def typeset(source, total=0):
    """Return (bytes, number of pages)."""
    style, file = styles(source.layout), io.BytesIO()
    doc = Policy(file, source, style, total)
    story = [NextPageTemplate("later")]
    if source.layout["contents"]:
        contents = TableOfContents(dotsMinLevel=0)
        contents.levelStyles = [
            style["toc"],
            ParagraphStyle("toc2", parent=style["toc"], leftIndent=16),
        ]
        story += [Paragraph("Contents", style["h1"]), contents, PageBreak()]
    story += flowables(source, style, doc.pageTemplates[0].frames[0]._width)
    doc.multiBuild(story)
    return file.getvalue(), doc.page


def main(check):
    """Write the files, or compare them with the ones on disk."""
    stale = []
    for path in sorted((HERE / "pdf_sources").glob("*.txt")):
        source = read_source(path)
        _, pages = typeset(source)
        data, _ = typeset(source, pages)
        target = HERE / source.meta["department"] / f"{source.name}.pdf"
        for file, new in (
            (target, data),
            (target.with_suffix(".toml"), toml(source.meta).encode()),
        ):
            if not check:
                file.write_bytes(new)
            elif not file.exists() or file.read_bytes() != new:
                stale.append(file.name)
        print(f"{target.relative_to(HERE)}: {pages} pages, {len(data)} bytes", file=sys.stderr)
    if stale:
        sys.exit("differs from its source: " + ", ".join(stale))


if __name__ == "__main__":
    main("--check" in sys.argv[1:])
