"""Embeddings: one vector per passage, made by a pinned model and bound to its passages."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from policyproof_assets.code import code_digest
from policyproof_assets.store import Store
from policyproof_runtime.dense import embedding_schema
from policyproof_runtime.encoder import Encoder, Vectors
from policyproof_runtime.models import Model
from policyproof_runtime.objects import Part, Snapshot


def embed_passages(store: Store, passages: Snapshot, model: Model) -> tuple[Snapshot, int]:
    """Return the embeddings of the passages, a part per document, and how many parts are new.

    The model is loaded only if a part is not known. Raises ModelError if it is not installed or a
    passage is over-long.
    """
    parts = [store.memo.get(_key(part, model)) for part in passages.parts]
    new = parts.count(None)
    encoder = Encoder(model) if new else None
    for index, part in enumerate(passages.parts):
        if encoder is not None and parts[index] is None:
            made = store.put_part(part.document_id, _embed(store.table(part.object), encoder))
            store.memo.put(_key(part, model), made)
            parts[index] = made
    return store.put_snapshot(part for part in parts if part is not None), new


def embed_asks(asks: pa.Table, model: Model) -> pa.Table:
    """Return a vector for each question of finding aids, in order."""
    encoder = Encoder(model)
    return vectors_table({}, encoder.passages(asks["text"].to_pylist()))


def _embed(passages: pa.Table, encoder: Encoder) -> pa.Table:
    vectors = encoder.passages(passages["retrieval_text"].to_pylist())
    return vectors_table({"passage_id": passages["passage_id"]}, vectors)


def vectors_table(columns: Mapping[str, pa.ChunkedArray], vectors: Vectors) -> pa.Table:
    """Return ``columns`` and the rows of ``vectors`` as the column ``embedding``."""
    width = vectors.shape[1]
    embeddings = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), width)
    table = pa.table({**columns, "embedding": embeddings})
    fields = [field for field in embedding_schema(width) if field.name in table.column_names]
    return table.cast(pa.schema(fields))


def _key(part: Part, model: Model) -> Mapping[str, Any]:
    return {
        "phase": "embeddings",
        "code": str(code_digest("policyproof_assets.embeddings")),
        "passages": str(part.object),
        "model": str(model.digest),
        "libraries": {name: version(name) for name in ("onnxruntime", "numpy")},
    }
