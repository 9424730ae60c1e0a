"""Questions from a file or stdin, results to a file or stdout, one at a time.

The format goes by the file's extension: ``.csv`` is CSV with a header, anything else JSON lines.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from policyproof_runtime.errors import PolicyProofError, QueryError
from policyproof_runtime.storage import durable

STREAM = "-"
Result = dict[str, Any]
# Turns a result into the rows of a CSV file.
ToRows = Callable[[Result], list[Result]]


@dataclass(frozen=True, slots=True)
class Question:
    """One line of a batch; ``id`` is the line number where the line has none, ``values`` all it has."""

    line: int
    id: str | int
    text: str
    values: dict[str, Any]


# Turns a question into the fields of its result.
Answering = Callable[[Question], Result]


def run(source: str, target: str | None, answer: Answering, to_rows: ToRows) -> int:
    """Answer every question of ``source`` into ``target``; return how many there were.

    The target appears when all is done; after an error there is nothing of it. Raises QueryError
    that names the line.
    """
    with _input(source) as lines, _output(target) as file:
        questions = read_csv(lines, source) if _is_csv(source) else read_jsonl(lines, source)
        results = (_answered(question, source, answer) for question in questions)
        return (_write_csv if _is_csv(target) else _write_jsonl)(results, file, to_rows)


def read_jsonl(lines: Iterable[bytes], source: str) -> Iterator[Question]:
    """Yield the questions of JSON lines ``{"id", "question"}``; blank lines are skipped."""
    for number, raw in enumerate(lines, start=1):
        if raw.strip():
            yield _question(_object(raw, source, number), source, number)


def read_csv(lines: Iterable[bytes], source: str) -> Iterator[Question]:
    """Yield the questions of a CSV file with the columns ``question`` and, if it likes, ``id``.

    A question over several lines goes by the number of its last.
    """
    text = _Text(lines, source)
    reader = csv.DictReader(text, strict=True)
    try:
        if "question" not in (reader.fieldnames or []):
            raise _fault(source, 1, "there is no column 'question'", found=reader.fieldnames)
        for row in reader:
            if None in row:
                raise _fault(source, text.number, "more cells than the header has")
            yield _question({k: v for k, v in row.items() if v}, source, text.number)
    except csv.Error as error:
        raise _fault(source, text.number, f"not valid CSV: {error}") from error


class _Text:
    """Decodes lines and counts them; the reader's own count lags behind at an error."""

    def __init__(self, lines: Iterable[bytes], source: str) -> None:
        self._lines = iter(lines)
        self._source = source
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        raw = next(self._lines)
        self.number += 1
        return _text(raw, self._source, self.number)


def _text(raw: bytes, source: str, number: int) -> str:
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise _fault(
            source, number, "not valid UTF-8", found=raw[error.start : error.end]
        ) from error


def _object(raw: bytes, source: str, number: int) -> dict[str, Any]:
    try:
        value = json.loads(_text(raw, source, number))
    except (ValueError, RecursionError) as error:
        raise _fault(source, number, f"not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise _fault(source, number, "a JSON object is expected", found=type(value).__name__)
    return value


def _question(value: dict[str, Any], source: str, number: int) -> Question:
    text, name = value.get("question", ""), value.get("id", number)
    if not isinstance(text, str):
        raise _fault(source, number, "'question' must be text", found=type(text).__name__)
    if not isinstance(name, str | int) or isinstance(name, bool):
        raise _fault(source, number, "'id' must be text or a number", found=type(name).__name__)
    return Question(number, name, text, value)


def _answered(question: Question, source: str, answer: Answering) -> Result:
    try:
        return {"id": question.id, **answer(question)}
    except QueryError as error:
        error.message = f"{_place(source, question.line)}: {error.message}"
        raise


def _write_jsonl(results: Iterable[Result], file: BinaryIO, _: ToRows) -> int:
    count = 0
    for count, result in enumerate(results, start=1):  # noqa: B007 the last count is the result
        file.write(json.dumps(result, ensure_ascii=False).encode() + b"\n")
    return count


def _write_csv(results: Iterable[Result], file: BinaryIO, to_rows: ToRows) -> int:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer, count = None, 0
    for count, result in enumerate(results, start=1):  # noqa: B007 the last count is the result
        for row in to_rows(result):
            if writer is None:
                writer = csv.DictWriter(text, list(row))
                writer.writeheader()
            writer.writerow(row)
    text.detach()
    return count


def _is_csv(name: str | None) -> bool:
    return name is not None and name.lower().endswith(".csv")


@contextmanager
def _input(source: str) -> Iterator[BinaryIO]:
    if source == STREAM:
        yield sys.stdin.buffer
        return
    try:
        with Path(source).open("rb") as file:
            yield file
    except OSError as error:
        raise QueryError(f"cannot read {source}: {error.strerror or error}") from error


@contextmanager
def _output(target: str | None) -> Iterator[BinaryIO]:
    if target is not None and target != STREAM:
        path = Path(target)
        if not path.absolute().parent.is_dir():
            raise QueryError(f"cannot write {target}: there is no folder {path.parent}")
        with durable(path.absolute()) as file:
            yield file
        return
    with tempfile.TemporaryFile() as file:
        yield file
        file.seek(0)
        shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.flush()


def _place(source: str, line: int) -> str:
    return f"{'stdin' if source == STREAM else source}, line {line}"


def _fault(source: str, line: int, what: str, *, found: object = None) -> PolicyProofError:
    return QueryError(f"{_place(source, line)}: {what}", found=found)
