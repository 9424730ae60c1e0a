"""Questions from a file or stdin, results to a file or stdout.

The format goes by the file's extension: ``.csv`` is CSV with a header, anything else JSON lines.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policyproof_runtime.errors import QueryError
from policyproof_runtime.storage import durable

STREAM = "-"
Result = dict[str, Any]
# Turns a result into the rows of a CSV file.
ToRows = Callable[[Result], list[Result]]


@dataclass(frozen=True, slots=True)
class Question:
    """One line of a batch; ``id`` is its number where the line has none, ``values`` all it has."""

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
    place = "stdin" if source == STREAM else source
    if target not in {None, STREAM}:
        check_target(Path(str(target)))
    questions = list(_questions(source, place))
    results = [_answered(question, place, answer) for question in questions]
    if _is_csv(target):
        data = _csv_of([row for result in results for row in to_rows(result)])
    else:
        data = "".join(json.dumps(result, ensure_ascii=False) + "\n" for result in results)
    if target in {None, STREAM}:
        _write_stdout(data.encode())
    else:
        write_file(Path(str(target)), data.encode())
    return len(results)


def check_target(path: Path) -> None:
    """Raise QueryError if ``path``, or what it links to, is a folder or lies in none."""
    folder = (_real(path) if path.is_symlink() else path).parent
    if path.is_dir():
        raise QueryError(f"cannot write {path}: it is a folder")
    if not path.exists() and not folder.is_dir():
        raise QueryError(f"cannot write {path}: there is no folder {folder}")


def write_file(path: Path, data: bytes) -> None:
    """Write a file in one step; through a link, and into a pipe or device rather than over it.

    Raises QueryError as `check_target`, or StoreError.
    """
    check_target(path)
    if path.exists() and not path.is_file():
        try:
            path.write_bytes(data)
        except OSError as error:
            raise QueryError(f"cannot write {path}: {error.strerror or error}") from error
        return
    with durable(_real(path)) as file:
        file.write(data)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _write_stdout(data: bytes) -> None:
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # the reader has had enough; click ends without a word
    except OSError as error:
        # Else Python would try to write what is left once more when it ends, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise QueryError(f"cannot write to stdout: {error.strerror or error}") from error


def _questions(source: str, place: str) -> Iterator[Question]:
    try:
        data = sys.stdin.buffer.read() if source == STREAM else Path(source).read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise QueryError(f"cannot read {source}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise QueryError(f"{place}, line {line}: not valid UTF-8") from error
    for line, value in (_read_csv if _is_csv(source) else _read_jsonl)(text, place):
        question, name = value.get("question", ""), value.get("id", line)
        if not isinstance(question, str):
            raise QueryError(f"{place}, line {line}: 'question' must be text", found=question)
        if not isinstance(name, str | int) or isinstance(name, bool):
            raise QueryError(f"{place}, line {line}: 'id' must be text or a number", found=name)
        if isinstance(name, str) and any("\ud800" <= character <= "\udfff" for character in name):
            raise QueryError(f"{place}, line {line}: 'id' is no valid text", found=ascii(name))
        yield Question(line, name, question, value)


def _read_jsonl(text: str, place: str) -> Iterator[tuple[int, Result]]:
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        try:
            value = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise QueryError(f"{place}, line {line}: not valid JSON: {error}") from error
        if not isinstance(value, dict):
            raise QueryError(f"{place}, line {line}: a JSON object is expected", found=value)
        yield line, value


def _read_csv(text: str, place: str) -> Iterator[tuple[int, Result]]:
    """Yield rows with the number of their last line; those of columns named in the first."""
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(rows, [])
        if "question" not in header:
            raise QueryError(f"{place}, line 1: there is no column 'question'", found=header)
        for cells in rows:
            if len(cells) > len(header):
                raise QueryError(f"{place}, line {rows.line_num}: more cells than the header has")
            if cells:
                values = zip(header, cells, strict=False)
                yield rows.line_num, {name: cell for name, cell in values if cell}
    except csv.Error as error:
        raise QueryError(f"{place}, line {rows.line_num}: not valid CSV: {error}") from error


def _answered(question: Question, place: str, answer: Answering) -> Result:
    try:
        return {"id": question.id, **answer(question)}
    except QueryError as error:
        error.message = f"{place}, line {question.line}: {error.message}"
        raise


def _csv_of(rows: Sequence[Result]) -> str:
    text = io.StringIO(newline="")
    if rows:
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()


def _is_csv(name: str | None) -> bool:
    return name is not None and name.lower().endswith(".csv")
