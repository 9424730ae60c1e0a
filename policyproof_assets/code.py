"""A digest of the code that a phase runs, so that a changed rule is never served from the memo."""

import ast
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from policyproof_runtime.digest import Digest

_OURS = ("policyproof_assets", "policyproof_runtime")


@cache
def code_digest(module: str) -> Digest:
    """Digest the source of ``module`` and of every module of ours that it imports, in turn."""
    seen: dict[str, Digest] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        source = None if name in seen else _source(name)
        if source is not None:
            seen[name] = Digest.of(source)
            waiting += _imports(source)
    return Digest.of_json(seen)


@cache
def _source(module: str) -> bytes | None:
    """Return the source of a module; None if the name is of something inside a module."""
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:  # its parent is no package
        spec = None
    return Path(spec.origin).read_bytes() if spec and spec.origin else None


@cache
def _imports(source: bytes) -> set[str]:
    """Return our own names that a source imports, modules and what is inside them alike."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name for name in names if name.split(".")[0] in _OURS}
