"""What a release is served from: parameters, models, embeddings and frozen indexes."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import polars as pl
import pyarrow as pa

from policyproof_assets.build import Build, Make
from policyproof_assets.embeddings import embed_asks, embed_passages
from policyproof_assets.finding_aids import load_finding_aids
from policyproof_assets.indexes import (
    ask_tables,
    fields_table,
    references_table,
    thesaurus_table,
)
from policyproof_assets.manifests import read_toml
from policyproof_runtime.bm25 import freeze
from policyproof_runtime.dense import Neural
from policyproof_runtime.digest import Digest
from policyproof_runtime.models import ROLES, Model, load_model, read_model
from policyproof_runtime.objects import Part, Snapshot
from policyproof_runtime.passages import Passages
from policyproof_runtime.records import to_json
from policyproof_runtime.retrieve import Method, make_methods

_INDEXES = "policyproof_assets.indexes"


class Serving:
    """Everything that retrieval over the passages of one build runs on."""

    def __init__(self, build: Build, passages: Snapshot) -> None:
        self._build = build
        self._passages = passages

    @cached_property
    def rules(self) -> dict[str, Any]:
        """The parameters of retrieval, each model they name described under its role."""
        manifests = self._build.project.manifests
        rules = read_toml(manifests / "policy" / "retrieval.toml")
        named = {role: rules[f"{role}_model"] for role in ROLES if f"{role}_model" in rules}
        if self._build.corpus.dense_model:
            named["dense"] = self._build.corpus.dense_model
        if "dense" in named:
            rules["method"] = rules["dense_method"]
        models = {role: load_model(name, manifests / "models") for role, name in named.items()}
        return rules | {role: to_json(model) for role, model in models.items()}

    @cached_property
    def models(self) -> dict[str, Model]:
        """The models that retrieval runs, by role."""
        return {role: read_model(self.rules[role]) for role in ROLES if role in self.rules}

    @cached_property
    def embeddings(self) -> dict[str, Snapshot]:
        """The phase of embeddings, under its name; empty if the corpus names no dense model.

        Raises ModelError if that model is not installed.
        """
        model = self.models.get("dense")
        if model is None:
            return {}
        snapshot, new = embed_passages(self._build.store, self._passages, model)
        self._build.work.made += new
        self._build.work.known += len(snapshot.parts) - new
        return {"embeddings": snapshot}

    @cached_property
    def indexes(self) -> dict[str, Part]:
        """Everything frozen for retrieval, by the name it has in a release."""
        parts = {
            name: self._part(name, module, inputs, make)
            for name, module, inputs, make in [*self._words(), *self._aids()]
        }
        model = self.models.get("dense")
        if model and "asks" in parts:
            asks = parts["asks"].object
            parts["ask_vectors"] = self._build.part(
                "ask_vectors",
                "policyproof_assets.embeddings",
                {"asks": asks, "model": model.digest},
                lambda: embed_asks(self._build.store.table(asks), model),
            )
        return parts

    def methods(self) -> dict[str, Method]:
        """Return every method of retrieval the release will have, by name."""
        store, rules = self._build.store, self.rules
        served = Passages(store.phase(self._passages.digest), {})
        tables = {name: store.table(part.object) for name, part in self.indexes.items()}
        methods = make_methods(tables, served, rules, self._build.documents)
        asks = tables.get("ask_vectors")
        neural = Neural(
            rules,
            lambda: store.phase(self.embeddings["embeddings"].digest),
            served.retrieval_text,
            methods["bm25"],
            None if asks is None else lambda: asks,
        )
        if "dense" in rules:
            methods |= make_methods(tables, served, rules, self._build.documents, neural.similarity)
            methods |= {"dense": neural.dense, "hybrid": neural.hybrid}
        if {*ROLES} <= {*rules}:
            methods["rerank"] = neural.rerank
        return methods

    def _part(self, name: str, module: str, inputs: Any, make: Make) -> Part:
        given = {"passages": self._passages.digest, "rules": Digest.of_json(inputs)}
        return self._build.part(name, module, given, make)

    def _frame(self) -> pl.DataFrame:
        return self._build.frame(self._passages)

    def _words(self) -> list[tuple[str, str, Any, Make]]:
        """Return the indexes of words and of names: (name, module, inputs, maker)."""
        rules, documents = self.rules, self._build.documents
        titles = {document.id: document.title for document in documents}
        groups = read_toml(self._build.project.manifests / "thesaurus.toml")["groups"]
        named = [(d.id, d.title, d.version, d.family, d.names) for d in documents]
        fields = [rules["fields"], rules["kinds"], rules["k1"], titles, self._aid_digests]
        return [
            (
                "bm25",
                "policyproof_runtime.bm25",
                None,
                lambda: freeze(self._frame()["retrieval_text"]),
            ),
            (
                "fields",
                _INDEXES,
                fields,
                lambda: fields_table(self._frame(), titles, self._aid_texts, rules),
            ),
            ("references", _INDEXES, named, lambda: references_table(self._frame(), documents)),
            ("thesaurus", _INDEXES, groups, lambda: thesaurus_table(groups, self._frame())),
        ]

    def _aids(self) -> list[tuple[str, str, Any, Make]]:
        """Return the indexes of the finding aid, where the corpus has one."""

        def table(name: str) -> Callable[[], pa.Table]:
            return lambda: ask_tables(self._aid_texts)[name]

        digests = self._aid_digests
        return [(name, _INDEXES, digests, table(name)) for name in ("asks", "ask_terms") if digests]

    @cached_property
    def _aid_digests(self) -> list[Digest]:
        files = self._build.project.finding_aids(self._build.corpus)
        return [Digest.of(path.read_bytes()) for path in files]

    @cached_property
    def _aid_texts(self) -> list[Any]:
        files = self._build.project.finding_aids(self._build.corpus)
        return load_finding_aids(files, self._frame())
