"""Loads a frozen release and serves it: ``load("ai-governance").ask("…")``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from policyproof_runtime.corpus import Corpus
    from policyproof_runtime.objects import ObjectStore

__all__ = ["load"]


def load(corpus: str, store: str | Path | ObjectStore | None = None) -> Corpus:
    """Load the newest accepted release of ``corpus`` and verify every digest of it.

    ``store`` is the root of the store, a path or URI; by default the environment variable
    POLICYPROOF_STORE decides, else ``./artifacts``. Raises ReleaseError for a corpus or release
    this runtime cannot serve, StoreError for an object that is missing or corrupt.
    """
    # Imported here so that importing the package costs nothing to those who only need a part.
    from policyproof_runtime.corpus import open_corpus

    return open_corpus(corpus, store)
