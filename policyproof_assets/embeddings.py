"""Embeddings: one vector per passage, made by a pinned model and bound to its passages."""

from collections.abc import Callable
from functools import cache

import polars as pl

from policyproof_runtime.encoder import Encoder, Vectors
from policyproof_runtime.models import Model
from policyproof_runtime.objects import Part, Snapshot


def embed_passages(part: Callable[..., Part], passages: Snapshot, model: Model) -> list[Part]:
    """Return the embeddings of the passages, a part per document.

    ``part`` is `policyproof_assets.build.Build.part`. The model is loaded only if one is not known.
    Raises ModelError if it is not installed or a passage is over-long.
    """
    encoder = cache(Encoder)

    def embed(rows: pl.DataFrame, model: Model) -> pl.DataFrame:
        vectors = encoder(model).passages(rows["retrieval_text"].to_list())
        return rows.select("passage_id", _column(vectors))

    return [part("embeddings", embed, p, model, owner=p.document_id) for p in passages.parts]


def embed_asks(asks: pl.DataFrame, model: Model) -> pl.DataFrame:
    """Return a vector for each question of finding aids, in order."""
    return pl.DataFrame(_column(Encoder(model).questions(asks["text"].to_list())))


def _column(vectors: Vectors) -> pl.Series:
    return pl.Series("embedding", vectors, pl.Array(pl.Float32, vectors.shape[1]))
