"""Reviewed exceptions: what people decided about one document, tied to the words of the source."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, StringConstraints, model_validator

from policyproof_assets.corpus.lines import Lines
from policyproof_assets.errors import ReviewError
from policyproof_assets.manifests import read_toml, validate

Words = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class _Row(BaseModel):
    """A decision about the line (``page``, ``line``), why it was taken and what the line says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    page: PositiveInt
    line: PositiveInt
    #: What the source must say there: how much of the line, each kind says.
    text: Words
    reason: Words

    @property
    def coordinates(self) -> list[tuple[int, int]]:
        """The (page, line) of every line the row speaks of, its own first."""
        return [(self.page, self.line)]

    def holds(self, line: str) -> bool:
        """Tell whether the source reads so; one argument for each coordinate, not normalised."""
        return _collapse(line) == self.text


class _Boundary(_Row):
    """A place between two lines: ``text`` ends the first, ``next_text`` opens the second."""

    next_page: PositiveInt | None = None  # default: the same page
    next_line: PositiveInt | None = None  # default: the line below
    next_text: Words

    @property
    def coordinates(self) -> list[tuple[int, int]]:
        """The (page, line) before and after the boundary."""
        following = self.next_page or self.page, self.next_line or self.line + 1
        return [(self.page, self.line), following]

    def holds(self, line: str, after: str) -> bool:
        """Tell whether both lines read so."""
        return _collapse(line).endswith(self.text) and _collapse(after).startswith(self.next_text)


class Heading(_Row):
    """The whole line is a heading of ``type`` although no pattern says so."""

    kind: Literal["heading"]
    type: Words


class NotHeading(_Row):
    """The whole line is no heading although a pattern says so."""

    kind: Literal["not_heading"]


class KeepHyphen(_Boundary):
    """The hyphen at the end of a heading's line belongs to the word."""

    kind: Literal["keep_hyphen"]


class CorrectText(_Row):
    """``text``, once in the line, reads ``replacement`` in the normalised heading."""

    kind: Literal["correct_text"]
    replacement: Words

    def holds(self, line: str) -> bool:
        """Tell whether the line has the text once."""
        return _collapse(line).count(self.text) == 1


class RejectBoundary(_Boundary):
    """The place looks safe to end a unit and is not."""

    kind: Literal["reject_boundary"]


class CutInLine(_Row):
    """A passage may end inside the line, before character ``char`` (from 0, of the raw line)."""

    kind: Literal["cut_in_line"]
    char: PositiveInt
    next_text: Words

    def holds(self, line: str) -> bool:
        """Tell whether the line reads so on both sides of ``char``."""
        before, after = line[: self.char].rstrip(), line[self.char :].lstrip()
        return before.endswith(self.text) and after.startswith(self.next_text)


class LongSource(_Row):
    """The logical source that opens with ``text`` may hold up to ``limit`` words in one unit."""

    kind: Literal["long_source"]
    limit: PositiveInt

    def holds(self, line: str) -> bool:
        """Tell whether the line opens so."""
        return _collapse(line).startswith(self.text)


Row = Annotated[
    Heading | NotHeading | KeepHyphen | CorrectText | RejectBoundary | CutInLine | LongSource,
    Field(discriminator="kind"),
]


class Review(BaseModel):
    """The reviewed exceptions of one document, in the order of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    document_id: str
    rows: tuple[Row, ...] = ()

    @model_validator(mode="after")
    def _rows_differ(self) -> Self:
        places = Counter((row.kind, row.page, row.line) for row in self.rows)
        twice = [f"{k} page {p} line {n}" for (k, p, n), count in places.items() if count > 1]
        if twice:
            raise ValueError(f"rows of one kind and place: {', '.join(twice)}")
        return self

    def of(self, lines: Lines, *kinds: str) -> Rows:
        """Return the rows of ``kinds``, checked against ``lines``.

        Raises ReviewError that names the first row whose text the source does not have.
        """
        texts = {lines.coordinate(i): text for i, text in enumerate(lines.text)}
        chosen = [row for row in self.rows if row.kind in kinds]
        for row in chosen:
            found = [texts.get(coordinate) for coordinate in row.coordinates]
            if None in found or not row.holds(*found):
                expected = row.model_dump(include={"text", "next_text"})
                raise self.error(row, "does not match its source", expected, found)
        return Rows(self, chosen)

    def error(self, row: Row, what: str, expected: object, found: object) -> ReviewError:
        """Return the error that names ``row``."""
        number = self.rows.index(row) + 1
        return ReviewError(
            f"{self.document_id}: review row {number} ({row.kind}, page {row.page}, "
            f"line {row.line}) {what}",
            expected=expected,
            found=found,
            action="look at the page again; correct or remove the row",
        )


class Rows:
    """Rows that hold for their source, each of which somebody must use."""

    def __init__(self, review: Review, rows: list[Row]) -> None:
        self._review = review
        self._rows = {(str(row.kind), row.page, row.line): row for row in rows}
        self._used: set[tuple[str, int, int]] = set()

    def take(self, kind: str, page: int, line: int) -> Any:
        """Return the row of ``kind`` at (``page``, ``line``) as used; None if there is none."""
        self._used.add((kind, page, line))
        return self._rows.get((kind, page, line))

    def finish(self) -> None:
        """Raise ReviewError that names the first row nobody used."""
        for place, row in self._rows.items():
            if place not in self._used:
                raise self._review.error(row, "decides nothing", "a rule that asks for it", None)


def load_review(path: Path) -> Review:
    """Read the review at ``path``; a document without one has no exceptions.

    Raises ManifestError that names file and key.
    """
    data = read_toml(path) if path.exists() else {}
    return validate(Review, {**data, "document_id": path.stem}, path)


def _collapse(text: str) -> str:
    return " ".join(text.split())
