"""Finding aids: questions a passage answers, written by people in the words of those who ask."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import polars as pl
from pydantic import Field

from policyproof_assets.errors import ManifestError
from policyproof_assets.manifests import Record, load_yaml


class Entry(Record):
    """What leads to one passage; ``text`` opens the SHA-256 of the text it was written for."""

    text: str = Field(pattern=r"^[0-9a-f]{16}$")
    asks: tuple[str, ...] = Field(min_length=1)


def load_finding_aids(paths: Iterable[Path], passages: pl.DataFrame) -> list[str]:
    """Return the finding aid of every passage in order, one question a line; "" without one.

    Raises ManifestError for a file that is not valid, an entry of a passage that does not exist,
    and one whose passage reads otherwise than when the entry was written.
    """
    entries: dict[str, Entry] = {}
    for path in paths:
        entries |= load_yaml(path, dict[str, Entry])
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
