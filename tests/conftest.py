"""Fixtures shared by all tests."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from policyproof_runtime.digest import Digest
from policyproof_runtime.models import Model, ModelFile

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of accepted records and sources; skips where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the accepted records and the four PDFs are not on this machine")
    return SHARED


SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = [*SPECIAL, "meals", "flights", "claim", "mileage", "model", "card"]


def tiny_graph(role: str) -> bytes:
    """An ONNX graph over WORDS, every number of it known.

    Dense: the state of a token is its row of the identity plus the mean of all rows. Reranker: a
    pair scores the sum of the ids of its second text's tokens.
    """
    numbers = np.eye(len(WORDS)) if role == "dense" else np.arange(len(WORDS))[:, np.newaxis]
    table = onnx.numpy_helper.from_array(numbers.astype(np.float32), "table")
    axis = onnx.numpy_helper.from_array(np.array([1]), "axis")
    names = ["input_ids", "attention_mask", "token_type_ids"]
    nodes = [("Gather", ["table", "input_ids"], "rows")]
    if role == "dense":
        nodes += [("ReduceMean", ["rows", "axis"], "mean"), ("Add", ["rows", "mean"], "out")]
    else:
        nodes += [("Cast", ["token_type_ids"], "kinds"), ("Squeeze", ["rows"], "flat")]
        nodes += [("Mul", ["flat", "kinds"], "second"), ("ReduceSum", ["second", "axis"], "out")]
    make = onnx.helper
    graph = make.make_graph(
        [make.make_node(op, i, [o], **({"to": 1} if op == "Cast" else {})) for op, i, o in nodes],
        "tiny",
        [make.make_tensor_value_info(n, onnx.TensorProto.INT64, ["b", "n"]) for n in names],
        [make.make_tensor_value_info("out", onnx.TensorProto.FLOAT, None)],
        [table, axis],
    )
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 18)], ir_version=10)
    return model.SerializeToString()


@pytest.fixture
def tiny_model(tmp_path, monkeypatch):
    """Make a model whose files lie in ``tmp_path / "files"``; the folder of models is empty."""
    monkeypatch.setenv("POLICYPROOF_MODELS", str(tmp_path / "models"))

    def make(role: str = "dense", max_tokens: int = 400, **changes) -> Model:
        folder = tmp_path / "files" / role
        folder.mkdir(parents=True, exist_ok=True)
        contents = {"model.onnx": tiny_graph(role), "vocab.txt": "\n".join(WORDS).encode()}
        for name, data in contents.items():
            (folder / name).write_bytes(data)
        files = tuple(ModelFile(n, len(d), Digest.of(d)) for n, d in contents.items())
        kind = {"pooling": "mean", "dimensions": len(WORDS)} if role == "dense" else {}
        return Model(
            **{"id": f"tiny-{role}", "name": "Tiny", "revision": "1", "role": role}
            | {"licence": "MIT", "graph": "onnx/model.onnx", "vocabulary": "vocab.txt"}
            | {
                "max_tokens": max_tokens,
                "files": (replace(files[0], name="onnx/model.onnx"), files[1]),
            }
            | kind
            | changes
        )

    return make
