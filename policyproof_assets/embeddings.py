"""Embeddings: one vector per passage, made by a pinned model and bound to its passages."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import polars as pl
import pyarrow as pa

from policyproof_runtime.dense import embedding_schema
from policyproof_runtime.encoder import Encoder, Vectors
from policyproof_runtime.models import Model
from policyproof_runtime.objects import Part, Snapshot


def embed_passages(part: Callable[..., Part], passages: Snapshot, model: Model) -> list[Part]:
    """Return the embeddings of the passages, a part per document.

    ``part`` is `policyproof_assets.build.Build.part`. The model is loaded only if one is not known.
    Raises ModelError if it is not installed or a passage is over-long.
    """
    encoder = cache(Encoder)

    def embed(rows: pl.DataFrame, model: Model) -> pa.Table:
        vectors = encoder(model).passages(rows["retrieval_text"].to_list())
        return vectors_table({"passage_id": rows["passage_id"].to_arrow()}, vectors)

    return [part("embeddings", embed, p, model, owner=p.document_id) for p in passages.parts]


def embed_asks(asks: pl.DataFrame, model: Model) -> pa.Table:
    """Return a vector for each question of finding aids, in order."""
    return vectors_table({}, Encoder(model).passages(asks["text"].to_list()))


def vectors_table(columns: Mapping[str, Any], vectors: Vectors) -> pa.Table:
    """Return ``columns`` and the rows of ``vectors`` as the column ``embedding``."""
    width = vectors.shape[1]
    embeddings = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), width)
    table = pa.table({**columns, "embedding": embeddings})
    fields = [field for field in embedding_schema(width) if field.name in table.column_names]
    return table.cast(pa.schema(fields))
