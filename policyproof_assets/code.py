"""A digest of the code that a phase runs, so that a changed rule is never served from the memo."""

import ast
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from policyproof_runtime.digest import Digest

_OURS = ("policyproof_assets", "policyproof_runtime")


@cache
def code_digest(module: str) -> Digest:
    """Digest the source of ``module`` and of every module of ours that it imports, in turn."""
    seen: dict[str, str] = {}
    _collect(module, seen)
    return Digest.of_json(seen)


def _collect(module: str, seen: dict[str, str]) -> None:
    source = None if module in seen else _source(module)
    if source is None:
        return
    seen[module] = Digest.of(source).hex
    for name in _imports(source):
        _collect(name, seen)


@cache
def _source(module: str) -> bytes | None:
    """Return the source of a module; None if the name is of something inside a module."""
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:  # its parent is no package
        spec = None
    return Path(spec.origin).read_bytes() if spec and spec.origin else None


@cache
def _imports(source: bytes) -> tuple[str, ...]:
    """Return our own names that a source imports, modules and what is inside them alike."""
    names = set(_imported(ast.parse(source)))
    return tuple(sorted(name for name in names if name.split(".")[0] in _OURS))


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
