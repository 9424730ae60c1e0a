"""A digest of the code that a phase runs, so that a changed rule is never served from the memo."""

import ast
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import StoreError

_OURS = ("policyproof_assets", "policyproof_runtime")


@cache
def code_digest(module: str) -> Digest:
    """Digest the source of ``module`` and of every module of ours that it imports, in turn."""
    seen: dict[str, str] = {}
    _collect(module, seen)
    return Digest.of_json(seen)


def _collect(module: str, seen: dict[str, str]) -> None:
    if module in seen:
        return
    source = _source(module).read_bytes()
    seen[module] = Digest.of(source).hex
    for name in _imports(source):
        if name.split(".")[0] in _OURS:
            _collect(name, seen)


def _source(module: str) -> Path:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise StoreError(f"the source of {module} cannot be found, so its code has no digest")
    return Path(spec.origin)


@cache
def _imports(source: bytes) -> tuple[str, ...]:
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return tuple(sorted(names))
