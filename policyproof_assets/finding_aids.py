"""Finding aids: questions a passage answers, written by people in the words of those who ask."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from policyproof_assets.errors import ManifestError


class Entry(BaseModel):
    """What leads to one passage; ``text`` opens the SHA-256 of the text it was written for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = Field(pattern=r"^[0-9a-f]{16}$")
    asks: tuple[str, ...] = Field(min_length=1)


_ENTRIES = TypeAdapter(dict[str, Entry])


def load_finding_aids(paths: Iterable[Path], passages: pl.DataFrame) -> list[str]:
    """Return the finding aid of every passage in order, one question a line; "" without one.

    Raises ManifestError for a file that is not valid, an entry of a passage that does not exist,
    and one whose passage reads otherwise than when the entry was written.
    """
    entries: dict[str, Entry] = {}
    for path in paths:
        entries |= _load(path)
    texts = dict(zip(passages["passage_id"], passages["citation_text"], strict=True))
    for name, entry in entries.items():
        found = hashlib.sha256(texts.get(name, "").encode()).hexdigest()[:16]
        if found != entry.text:
            raise ManifestError(
                f"the finding aid of {name} was written for another text",
                expected=entry.text,
                found=found if name in texts else "no such passage",
                action="read the passage, correct the entry and its text digest",
            )
    return ["\n".join(entries[name].asks) if name in entries else "" for name in texts]


def _load(path: Path) -> dict[str, Entry]:
    try:
        data: Any = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        return _ENTRIES.validate_python(data)
    except FileNotFoundError:
        raise ManifestError(f"no finding aid at {path}", action="check the path") from None
    except (yaml.YAMLError, ValidationError) as error:
        raise ManifestError(f"{path} is not a valid finding aid: {error}") from error
