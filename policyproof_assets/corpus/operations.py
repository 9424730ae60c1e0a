"""pypdf's text of a page, with the content stream read faster."""

from __future__ import annotations

import io
import re
from functools import cache
from typing import Any

from pypdf import PageObject
from pypdf.generic import ContentStream, NameObject, read_object

from policyproof_assets.corpus.content import PlainReader

_ENCODING = "bytes"  # strings stay bytes, as in pypdf's own extract_text
_SKIPPED = re.compile(rb"(?:[\x00\t\n\f\r ]|%[^\r\n]*)*")  # what pypdf passes over between objects
_WORD = re.compile(rb"[A-Za-z'\"]")


class _Operator(bytes):
    """An operator, told from a string operand."""

    __slots__ = ()


def page_text(page: PageObject) -> str:
    """Return ``page.extract_text()``; whatever pypdf raises for the page is passed on.

    The page's content stream is replaced, in memory, by one whose operations are already read.
    """
    try:
        content = ContentStream(page["/Contents"], page.pdf, _ENCODING)
    except (AttributeError, KeyError):  # no content: pypdf returns an empty text
        return page.extract_text()
    content.operations = read_operations(content.get_data())
    page[NameObject("/Contents")] = content
    return page.extract_text()


def read_operations(data: bytes) -> list[tuple[Any, bytes]]:
    """Return the (operands, operator) pairs of a content stream, in order."""
    reader = PlainReader(cache(lambda raw: f"/{raw.decode('ascii')}"), cache(_Operator))
    found: list[tuple[Any, bytes]] = []
    operands: list[Any] = []
    position = statement = 0
    while True:
        for item in reader.objects(data, position):
            if isinstance(item, _Operator):
                found.append((operands, item))
                operands, statement = [], reader.position
            else:
                operands.append(item)
        position = _SKIPPED.match(data, reader.position).end()  # type: ignore[union-attr]
        if position == len(data):
            return found
        if _WORD.match(data, position):  # an inline image, or a word that does not end plainly
            rest = ContentStream(None, None, _ENCODING)
            rest.set_data(data[statement:])
            return found + rest.operations
        stream = io.BytesIO(data)
        stream.seek(position)
        operands.append(read_object(stream, None, _ENCODING))
        position = stream.tell()
