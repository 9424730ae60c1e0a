"""PDFium, which counts pages, characters and bookmarks of a PDF without reading it all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import pypdfium2

#: PDFium serves one thread of a process at a time, and ends the process otherwise.
_ONE_AT_A_TIME = Lock()


@contextmanager
def open_pdf(path: Path) -> Iterator[pypdfium2.PdfDocument]:
    """Open a PDF for this thread alone; what is taken from it must be closed or dropped inside.

    Raises PdfiumError if it is not a PDF that opens without a password.
    """
    with _ONE_AT_A_TIME, pypdfium2.PdfDocument(path) as document:
        yield document
