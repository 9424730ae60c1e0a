"""What a release is served from: parameters, models, embeddings and frozen indexes."""

from functools import cached_property
from typing import Any

from policyproof_assets import embeddings, indexes
from policyproof_assets.build import Build
from policyproof_assets.manifests import read_toml
from policyproof_runtime.models import ROLES, Model, load_model, read_model
from policyproof_runtime.objects import Part, Snapshot
from policyproof_runtime.records import to_json


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

    @property
    def methods(self) -> list[str]:
        """The methods of retrieval that the release will have."""
        dense = ["fused", "dense", "hybrid"] if "dense" in self.models else []
        rerank = ["rerank"] if self.models.keys() >= {*ROLES} else []
        return ["bm25", "structured", *dense, *rerank]

    @cached_property
    def embeddings(self) -> dict[str, Snapshot]:
        """The phase of embeddings, under its name; empty if the corpus names no dense model.

        Raises ModelError if that model is not installed.
        """
        if "dense" not in self.models:
            return {}
        build, model = self._build, self.models["dense"]
        parts = embeddings.embed_passages(build.part, self._passages, model)
        return {"embeddings": build.store.put_snapshot(parts)}

    @cached_property
    def indexes(self) -> dict[str, Part]:
        """Everything frozen for retrieval, by the name it has in a release."""
        build, passages = self._build, self._passages
        titles = {d.id: d.title for d in build.documents}
        names = {d.id: indexes.document_names(d) for d in build.documents}
        groups = read_toml(build.project.manifests / "thesaurus.toml")["groups"]
        aids = build.project.finding_aids(build.corpus)
        weights = {name: self.rules[name] for name in ("fields", "kinds", "k1")}
        parts = {
            "bm25": build.part("bm25", indexes.bm25_table, passages),
            "fields": build.part("fields", indexes.aided_fields, passages, titles, aids, weights),
            "references": build.part("references", indexes.references_table, passages, names),
            "thesaurus": build.part("thesaurus", indexes.thesaurus_table, passages, groups),
        }
        if aids:
            parts |= build.parts(("asks", "ask_terms"), indexes.ask_tables, passages, aids)
        if aids and "dense" in self.models:
            vectors = (embeddings.embed_asks, parts["asks"], self.models["dense"])
            parts["ask_vectors"] = build.part("ask_vectors", *vectors)
        return parts
