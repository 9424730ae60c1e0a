"""The tokens of a PDF content stream that every reader agrees on, read by one regular expression.

pdfminer and pypdf read content streams a few bytes at a time, which takes most of their time.
Nearly all tokens of real documents are plain: read the same by both, whatever stands around them.
This module reads those; at the first other token it stops, and the caller lets the library's own
parser read that one. So the objects are always those the library alone would give.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterator
from typing import Any

_ENDS = rb"/%\[\]()<>{}\s"
# Each group is one kind of token. A token must be followed by a byte that ends it for every reader,
# so the last one of a stream is never plain: only the library knows whether it goes on in the next.
_TOKEN = re.compile(
    rb"[ \t\n\f\r]*(?:"
    rb"([+-]?\d{1,40})(?=[^0-9+,.-])"  # 1 integer
    rb"|([+-]?(?:\d{1,20}\.\d{0,20}|\.\d{1,20}))(?=[^0-9+,.-])"  # 2 real
    rb"|\(([^()\\]*)\)"  # 3 string without escapes
    rb"|([A-Za-z][^#" + _ENDS + rb"]{0,40}|['\"])(?=[" + _ENDS + rb"])"  # 4 operator
    rb"|\(([^()\\]*(?:\\[nrtbf()\\][^()\\]*)+)\)"  # 5 string with escapes
    rb"|<((?:[0-9A-Fa-f]{2})+)>(?=[^>])"  # 6 hexadecimal string
    rb"|/([^#\x80-\xff" + _ENDS + rb"]*)(?=[" + _ENDS + rb"])"  # 7 name
    rb"|(\[)|(\])"  # 8 array begins, 9 array ends
    rb")"
)
_OPERATOR, _OPEN, _CLOSE = 4, 8, 9
# Not operators to be executed as they stand: truth values and inline images, whose data follow.
_WORDS = frozenset({b"BI", b"ID", b"true", b"false"})
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
_ESCAPED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def _unescape(raw: bytes) -> bytes:
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), raw)


class PlainReader:
    """Reads plain objects; ``name`` and ``operator`` make a library's objects of raw bytes.

    ``position`` (bytes) is where the object last given ends: there a library's parser takes over.
    """

    def __init__(self, name: Callable[[bytes], Any], operator: Callable[[bytes], Any]) -> None:
        self.position = 0
        # By kind of token; none has kind 0.
        self._values: tuple[Callable[[bytes], Any], ...] = (
            bytes, int, float, bytes, operator, _unescape, binascii.unhexlify, name,
        )  # fmt: skip

    def objects(self, data: bytes, position: int) -> Iterator[Any]:
        """Yield operands, arrays (lists) and operators from ``position`` to the first not plain."""
        self.position = position
        array: list[Any] | None = None
        match_at, values = _TOKEN.match, self._values
        value: Any
        while match := match_at(data, position):
            kind, position = match.lastindex or 0, match.end()
            if kind == _OPEN:
                if array is not None:
                    return
                array = []
                continue
            if kind == _CLOSE:
                if array is None:
                    return
                value, array = array, None
            elif kind == _OPERATOR and (array is not None or match[kind] in _WORDS):
                return
            else:
                value = values[kind](match[kind])
                if array is not None:
                    array.append(value)
                    continue
            self.position = position
            yield value
