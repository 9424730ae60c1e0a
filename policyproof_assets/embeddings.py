"""Embeddings: one vector per passage, made by a pinned model and bound to its passages."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from policyproof_assets.code import code_digest
from policyproof_assets.store import Store
from policyproof_runtime.dense import embedding_schema
from policyproof_runtime.encoder import Encoder
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


def _embed(passages: pa.Table, encoder: Encoder) -> pa.Table:
    vectors = encoder.passages(passages["retrieval_text"].to_pylist())
    width = vectors.shape[1]
    embeddings = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), width)
    return pa.table([passages["passage_id"], embeddings], embedding_schema(width))


def _key(part: Part, model: Model) -> Mapping[str, Any]:
    return {
        "phase": "embeddings",
        "code": str(code_digest("policyproof_assets.embeddings")),
        "passages": str(part.object),
        "model": str(model.digest),
        "libraries": {name: version(name) for name in ("onnxruntime", "numpy")},
    }
