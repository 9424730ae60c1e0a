"""Broken and malicious documents, made from sound ones by a seeded generator."""

import random
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from reportlab import rl_config
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

rl_config.invariant = 1

Mutator = Callable[[bytes, random.Random], bytes]


def sound_pdf(path: Path) -> bytes:
    """Write a PDF with headings, bookmarks, two columns and a table; return its bytes."""
    canvas = Canvas(str(path), pagesize=A4, pageCompression=0)
    for page in range(1, 4):
        canvas.setFont("Helvetica-Bold", 16)
        canvas.bookmarkPage(f"p{page}")
        canvas.addOutlineEntry(f"Rules of part {page}", f"p{page}", 0)
        canvas.drawString(72, 770, f"{page} Rules of part {page}")
        canvas.setFont("Helvetica", 10)
        for line in range(20):
            canvas.drawString(72, 740 - 14 * line, "Every reading is kept for a year and more.")
            canvas.drawString(310, 740 - 14 * line, "Nobody may delete one before that time.")
        canvas.grid([72, 200, 400], [300, 320, 340, 360])
        for row in range(3):
            canvas.drawString(80, 306 + 20 * row, f"Class {row}")
            canvas.drawString(210, 306 + 20 * row, f"{row + 2} years")
        canvas.drawString(72, 40, f"Page {page} of 3")
        canvas.showPage()
    canvas.save()
    return path.read_bytes()


def _truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def _flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 200)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    return data[:start] + data[start + rng.randrange(1, 2000) :]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    start, stop = sorted(rng.randrange(len(data)) for _ in range(2))
    return data[:stop] + data[start:stop] * rng.randrange(1, 5) + data[stop:]


def _numbers(data: bytes, rng: random.Random) -> bytes:
    """Replace some numbers by absurd ones."""
    absurd = [b"0", b"-1", b"999999999", b"2147483647", b"-99999999999999999999", b"1e308", b"nan"]

    def change(match: re.Match[bytes]) -> bytes:
        return rng.choice(absurd) if rng.random() < 0.03 else match[0]

    return re.sub(rb"\d+(?:\.\d+)?", change, data)


def _swap_references(data: bytes, rng: random.Random) -> bytes:
    """Point references elsewhere, which makes loops of pages, outlines and resources."""

    def change(match: re.Match[bytes]) -> bytes:
        return b"%d 0 R" % rng.randrange(1, 12) if rng.random() < 0.3 else match[0]

    return re.sub(rb"\d+ 0 R", change, data)


def _fonts(data: bytes, rng: random.Random) -> bytes:
    size = rng.choice([b"0", b"-12", b"0.0001", b"1000000", b"99999999999999999999"])
    return re.sub(rb"\d+ Tf", size + b" Tf", data)


def _boxes(data: bytes, rng: random.Random) -> bytes:
    box = rng.choice(
        [b"[ 0 0 0 0 ]", b"[ 0 0 -5 -5 ]", b"[ 0 0 1e30 1e30 ]", b"[ 1 ]", b"[ 9 9 9 9 9 9 ]"]
    )
    return re.sub(rb"/MediaBox \[[^]]*\]", b"/MediaBox " + box, data)


def _content(data: bytes, stream: bytes) -> bytes:
    """Return a PDF whose pages draw ``stream``."""
    packed = zlib.compress(stream)
    head = b"<< /Filter /FlateDecode /Length %d >>\nstream\n" % len(packed)
    body = head + packed + b"\nendstream"
    return re.sub(
        rb"<<\s*/Length \d+[^>]*>>\s*stream.*?endstream", lambda _: body, data, flags=re.S
    )


def _nesting(data: bytes, rng: random.Random) -> bytes:
    depth = rng.choice([100, 10_000, 500_000])
    return _content(data, rng.choice([b"[" * depth, b"q " * depth, b"<<" * depth, b"(" * depth]))


def _bomb(data: bytes, rng: random.Random) -> bytes:
    count = rng.choice([1000, 100_000])
    return _content(data, b"BT /F1 10 Tf 72 700 Td " + b"(A flood of words) Tj 0 -1 Td " * count)


def _lines(data: bytes, rng: random.Random) -> bytes:
    """Draw a grid of very many lines."""
    count = rng.choice([100, 20_000])
    strokes = b"".join(
        b"%d %d m %d %d l S\n" % (rng.randrange(600), i % 800, rng.randrange(600), i % 800)
        for i in range(count)
    )
    return _content(data, b"BT /F1 10 Tf 72 700 Td (Words) Tj ET\n" + strokes)


def _deep_dictionary(data: bytes, rng: random.Random) -> bytes:
    depth = rng.choice([50, 5000, 200_000])
    return data.replace(b"/Type /Catalog", b"/Type /Catalog /X " + b"[" * depth + b"]" * depth)


def _garbage(data: bytes, rng: random.Random) -> bytes:
    assert data
    return rng.choice([b"", b"%PDF-1.7\n", b"\x00" * 5000, b"%PDF-1.4\n" + rng.randbytes(4000)])


PDF_MUTATORS: tuple[Mutator, ...] = (
    _truncate,
    _flip,
    _cut,
    _repeat,
    _numbers,
    _swap_references,
    _fonts,
    _boxes,
    _nesting,
    _bomb,
    _lines,
    _deep_dictionary,
    _garbage,
)

MARKDOWN = """---
doc_id: {name}
title: A policy
classification: internal
acl: [staff]
version: 1
---
# A policy

Readings are kept for a year.

- One
  - Two
    1. Three

| Class | Years |
|---|---|
| A | 2 |

```
# not a heading
```

Retention
---------

> Nobody may delete one.
"""


def _encoding(data: bytes, rng: random.Random) -> bytes:
    text = data.decode()
    return rng.choice([text.encode("utf-16"), text.encode("utf-8") + b"\xff\xfe", b"\xc3" + data])


def _signs(data: bytes, rng: random.Random) -> bytes:
    """Strew characters that are not seen, turn the direction or end lines elsewhere."""
    strange = "\u202e\u2066\u200b\ufeff\U000e0041\x00\x0b\x0c\x1c\x85\u2028\r\ufffe"
    return "".join(
        c + (rng.choice(strange) if rng.random() < 0.1 else "") for c in data.decode()
    ).encode()


def _marks(data: bytes, rng: random.Random) -> bytes:
    count = rng.choice([100, 5000, 50_000])
    mark = rng.choice(["[", "> ", "- ", "*a **a ", "`" * 3 + "\n", "| a ", "<a ", "![](", "# "])
    return data + b"\n" + (mark * count).encode() + b"\nEnd.\n"


def _indented(data: bytes, rng: random.Random) -> bytes:
    depth = rng.choice([30, 400])
    return data + b"\n" + b"".join(b"  " * i + b"- deeper\n" for i in range(depth))


def _header(data: bytes, rng: random.Random) -> bytes:
    lines = [
        b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
        b"acl: []",
        b"acl: [staff]\nacl: [all]",
        b"x: !!python/object/apply:os.system [ls]",
        b"x: " + b"[" * 20_000,
        b"x: {a: {b: {c: [",
        b"\tx: 1",
        b"doc_id: ../../etc/passwd",
        b"version: [1, 2]",
        b"effective_date: 2026-13-45",
    ]
    return data.replace(b"version: 1", rng.choice(lines), 1)


MARKDOWN_MUTATORS: tuple[Mutator, ...] = (
    _truncate,
    _flip,
    _cut,
    _repeat,
    _encoding,
    _signs,
    _marks,
    _indented,
    _header,
)


def mutations(
    data: bytes, mutators: tuple[Mutator, ...], count: int, seed: int
) -> Iterator[tuple[str, bytes]]:
    """Yield ``count`` named variants of a document, every mutator in turn, some twice over."""
    for index in range(count):
        rng = random.Random(f"{seed}/{index}")  # noqa: S311 -- the same variants in every run
        mutator = mutators[index % len(mutators)]
        changed = mutator(data, rng)
        if changed and rng.random() < 0.25:
            changed = rng.choice(mutators[:4])(changed, rng)
        yield f"{index:03d}{mutator.__name__.replace('_', '-')}", changed
