"""Fixtures shared by all tests."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of accepted records and sources; skips where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the accepted records and the four PDFs are not on this machine")
    return SHARED
