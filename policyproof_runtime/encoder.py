"""Running BERT models: texts in, vectors or scores out, the same whatever else is run beside them.

Every text is a run of its own, so there is no padding, which costs time and, in some exported
graphs, changes the result. Runs are shared out to threads, the longest first; a run has one thread,
so no sum depends on how many there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from policyproof_runtime.errors import ModelError, PolicyProofError, QueryError
from policyproof_runtime.models import Model, installed_model
from policyproof_runtime.tokenize import TokenCounter, read_vocabulary

Vectors = npt.NDArray[np.float32]
Inputs = dict[str, npt.NDArray[np.int64]]
_START, _END = "[CLS]", "[SEP]"


class BertGraph:
    """An ONNX graph and its vocabulary; safe to share between threads."""

    def __init__(self, model: Model) -> None:
        """Load the verified files of ``model``; raises ModelError if they or the runtime lack."""
        folder = installed_model(model)
        vocabulary = read_vocabulary(folder / model.vocabulary)
        self._model = model
        self._tokens = TokenCounter(vocabulary)
        self._start, self._end = vocabulary.index(_START), vocabulary.index(_END)
        self._session = _session(folder / model.graph)
        self._names = {node.name for node in self._session.get_inputs()}

    def inputs(self, *texts: str, error: type[PolicyProofError] = ModelError) -> Inputs:
        """Return the input of a text, or of a pair of texts, each array of shape (1, tokens).

        Raises ``error`` if they have more tokens, special ones included, than the model takes.
        """
        parts = [[*self._tokens.ids(text), self._end] for text in texts]
        parts[0].insert(0, self._start)
        ids = [token for part in parts for token in part]
        if len(ids) > self._model.max_tokens:
            raise error(
                f"a text is too long for the model {self._model.id}, which would not see its end",
                expected=f"at most {self._model.max_tokens} tokens",
                found=f"{len(ids)} tokens: {texts[-1][:60]!r}…",
            )
        kinds = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        named = {"input_ids": ids, "attention_mask": np.ones(len(ids)), "token_type_ids": kinds}
        return {name: np.array([named[name]], np.int64) for name in self._names}

    def run(self, inputs: Sequence[Inputs], reduce: Callable[[Vectors], Vectors]) -> Vectors:
        """Return ``reduce`` of the first output of every input, stacked in the order of inputs."""

        def one(index: int) -> Vectors:
            output: Vectors = self._session.run(None, inputs[index])[0]
            return reduce(output[0])

        longest_first = sorted(range(len(inputs)), key=lambda i: -inputs[i]["input_ids"].size)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = dict(zip(longest_first, pool.map(one, longest_first), strict=True))
        return np.array([found[i] for i in range(len(inputs))], np.float32)


class Encoder:
    """A dense model: a text as a vector."""

    def __init__(self, model: Model) -> None:
        """Load ``model``; raises ModelError if it is not to be had or of another role."""
        _expect_role(model, "dense")
        self.model = model
        self._graph = BertGraph(model)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; raises ModelError if one is over-long."""
        prefix = self.model.passage_prefix or ""
        vectors = self._graph.run([self._graph.inputs(prefix + t) for t in texts], self._pool)
        return vectors.reshape(len(texts), self.model.dimensions or -1)

    def questions(self, texts: Sequence[str]) -> Vectors:
        """Return one row per question; raises QueryError if one is over-long."""
        prefix = self.model.query_prefix or ""
        inputs = [self._graph.inputs(prefix + text, error=QueryError) for text in texts]
        vectors = self._graph.run(inputs, self._pool)
        return vectors.reshape(len(texts), self.model.dimensions or -1)

    def _pool(self, states: Vectors) -> Vectors:
        """Reduce states of shape (tokens, width) to one vector."""
        exact = states.astype(np.float64)
        vector = exact.mean(axis=0) if self.model.pooling == "mean" else exact[0]
        norm = np.linalg.norm(vector) if self.model.normalise else 1.0
        pooled: Vectors = (vector / norm).astype(np.float32)
        return pooled


class Reranker:
    """A cross-encoder, which reads a question and a passage together."""

    def __init__(self, model: Model) -> None:
        """Load ``model``; raises ModelError if it is not to be had or of another role."""
        _expect_role(model, "reranker")
        self._graph = BertGraph(model)

    def scores(self, question: str, texts: Sequence[str]) -> Vectors:
        """Return one raw logit per text; raises QueryError if a pair is over-long."""
        pairs = [self._graph.inputs(question, text, error=QueryError) for text in texts]
        return self._graph.run(pairs, lambda logits: logits[0])


def _expect_role(model: Model, role: str) -> None:
    if model.role != role:
        raise ModelError(f"the model {model.id} has another role", expected=role, found=model.role)


def _session(path: Path) -> Any:
    try:
        import onnxruntime
    except ModuleNotFoundError as error:
        raise ModelError(
            "running a model needs onnxruntime, which is not installed",
            action="pip install 'policyproof[dense]'",
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.use_deterministic_compute = True
    # A memory plan is kept per length of input, and here nearly every input has its own.
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
