"""The gate of a release: trained where the corpus has cases, else the numbers that come along.

Training sees the corpus exactly as it will be served: the release without its gate.
"""

import json
from typing import Any

import polars as pl

from policyproof_assets.evaluation.benchmarks import Question
from policyproof_assets.evaluation.cases import CaseBuilder, CasesManifest, split_three_ways
from policyproof_assets.evaluation.endtoend import answer_questions, endtoend_scores
from policyproof_assets.evaluation.gate import (
    Asked,
    assess_cases,
    case_scores,
    surface_score,
    train_gate,
)
from policyproof_runtime.corpus import Corpus
from policyproof_runtime.sufficiency import Gate, compiled_cues

#: Ranks the distractors of cases: a method that no part of the gate is made of.
CASES_METHOD = "bm25"


def grade(
    corpus: Corpus,
    manifest: CasesManifest,
    questions: tuple[Question, ...],
    halves: dict[str, str],
    cues: dict[str, list[str]],
) -> dict[str, pl.DataFrame]:
    """Train the gate and measure it; returns the frames ``gate``, ``cases`` and ``end_to_end``.

    ``halves`` is the split of the benchmark. ``gate`` has one row: its parameters and its scores as
    JSON. Raises GateError if the surface of the cases gives their labels away.
    """
    ids = corpus.passages.column("passage_id")
    source_of = dict(zip(ids, corpus.passages.column("source_key"), strict=True))
    rules = manifest.construction
    split_of = split_three_ways(questions, source_of, halves, rules.validation)
    cases = CaseBuilder(
        manifest,
        questions,
        split_of,
        ids,
        source_of,
        lambda text, k: [hit.passage_id for hit in corpus.retrieve(text, k, CASES_METHOD)],
    ).build()
    surface = surface_score(cases, corpus.passages, rules.surface_bound)
    seen = [q for q in questions if split_of[q.id] != "test"]
    asked = [Asked(q.question, q.behaviour == "answer") for q in (*seen, *manifest.questions)]
    reader = corpus.reader(compiled_cues(cues))
    params = train_gate(reader, asked, cases, cues, rules.cost_of_false_answer)
    gate = Gate.from_params(params)
    assessed = assess_cases(reader, gate, cases)
    ask = corpus.answerer(reader, gate).ask
    ended = answer_questions(ask, questions, manifest.questions, split_of, source_of)
    scores: dict[str, Any] = {
        "surface_balanced_accuracy": surface,
        "given_evidence": {
            split: case_scores(assessed.filter(pl.col("split") == split))
            for split in ("development", "validation", "test")
        },
        "end_to_end": endtoend_scores(ended),
    }
    numbers = {"params": [json.dumps(params)], "scores": [json.dumps(scores)]}
    return {"gate": pl.DataFrame(numbers), "cases": assessed, "end_to_end": ended}
