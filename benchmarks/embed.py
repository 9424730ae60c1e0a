"""How long embedding a corpus takes, against a plain loop over batches of 32 in the same run.

    python benchmarks/embed.py [--corpus ai-governance] [--store ROOT] [--repeat 3] [--share 1]

The loop is what most code does: onnxruntime as it comes, batches in reading order, padded to the
longest of each. Both must give the same vectors. The corpus has to be built; share 4 takes every
fourth passage.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
from rich.console import Console
from rich.table import Table

from policyproof_runtime.encoder import BertGraph, Encoder, Vectors
from policyproof_runtime.models import Model, installed_model, load_model
from policyproof_runtime.objects import ObjectStore
from policyproof_runtime.release import load_release

BATCH = 32


def main() -> None:
    """Time both ways in turn and print their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="ai-governance")
    parser.add_argument("--store")
    parser.add_argument("--model", default="all-minilm-l6-v2")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--share", type=int, default=1)
    options = parser.parse_args()
    store = ObjectStore(options.store)
    passages = load_release(store, options.corpus).phase("passages")
    texts = store.phase(passages.snapshot)["retrieval_text"].to_pylist()[:: options.share]
    model = load_model(options.model)
    ours, plain = Encoder(model), _Plain(model)
    runs = [
        (_timed(plain.passages, texts), _timed(ours.passages, texts)) for _ in range(options.repeat)
    ]
    table = Table(title=f"{len(texts)} passages, {model.id}, median of {options.repeat}")
    for column in ("plain loop, s", "ours, s", "ours / plain", "largest difference"):
        table.add_column(column, justify="right")
    seconds = [statistics.median(run[side][0] for run in runs) for side in (0, 1)]
    ratio = statistics.median(run[1][0] / run[0][0] for run in runs)
    difference = np.abs(runs[0][0][1] - runs[0][1][1]).max()
    table.add_row(*(f"{s:.2f}" for s in seconds), f"{ratio:.3f}", f"{difference:.1e}")
    Console().print(table)


class _Plain:
    """Padded batches in reading order."""

    def __init__(self, model: Model) -> None:
        path: Path = installed_model(model) / model.graph
        self._session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        self._graph = BertGraph(model)
        self._mean = model.pooling == "mean"

    def passages(self, texts: list[str]) -> Vectors:
        batches = [texts[i : i + BATCH] for i in range(0, len(texts), BATCH)]
        return np.concatenate([self._batch(batch) for batch in batches])

    def _batch(self, texts: list[str]) -> Vectors:
        inputs = [self._graph.inputs(text) for text in texts]
        width = max(one["input_ids"].size for one in inputs)
        feed = {
            name: np.concatenate([_padded(one[name], width) for one in inputs])
            for name in inputs[0]
        }
        states, mask = self._session.run(None, feed)[0], feed["attention_mask"][..., np.newaxis]
        pooled = (states * mask).sum(1) / mask.sum(1) if self._mean else states[:, 0]
        vectors: Vectors = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return vectors


def _padded(row: np.ndarray, width: int) -> np.ndarray:
    return np.pad(row, ((0, 0), (0, width - row.shape[1])))


def _timed(embed: Callable[[list[str]], Vectors], texts: list[str]) -> tuple[float, Vectors]:
    start = time.perf_counter()
    vectors = embed(texts)
    return time.perf_counter() - start, vectors


if __name__ == "__main__":
    main()
