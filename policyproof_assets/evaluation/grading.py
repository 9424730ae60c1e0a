"""The gate of a corpus that has cases: trained and measured on what its release serves."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import polars as pl

from policyproof_assets.evaluation.benchmarks import Question
from policyproof_assets.evaluation.cases import CaseBuilder, CasesManifest, Split, split_three_ways
from policyproof_assets.evaluation.endtoend import answer_questions, endtoend_scores
from policyproof_assets.evaluation.gate import assess_cases, case_scores, surface_score, train_gate
from policyproof_runtime.corpus import Corpus
from policyproof_runtime.parts import asked_parts
from policyproof_runtime.sufficiency import Gate, compiled_cues

#: Ranks the distractors of cases: a method that no part of the gate is made of.
CASES_METHOD = "bm25"


def grade(
    corpus: Corpus,
    manifest: CasesManifest,
    questions: Sequence[Question],
    halves: Mapping[str, str],
    cues: Mapping[str, list[str]],
) -> dict[str, pl.DataFrame]:
    """Train the gate and measure it; returns the frames ``gate``, ``cases`` and ``end_to_end``.

    ``halves`` is the split of the benchmark. ``gate`` has one row: its parameters and its scores as
    JSON. Raises GateError if the surface of the cases gives their labels away.
    """
    columns = (corpus.passages.column(name) for name in ("passage_id", "source_key"))
    source_of, rules = dict(zip(*columns, strict=True)), manifest.construction
    split_of = split_three_ways(questions, source_of, halves, rules.validation)

    def rank(text: str, k: int) -> list[str]:
        return [hit.passage_id for hit in corpus.retrieve(text, k, CASES_METHOD)]

    cases = CaseBuilder(manifest, questions, split_of, source_of, rank).build()
    surface = surface_score(cases, corpus.passages, rules.surface_bound)
    reader = corpus.reader(compiled_cues(cues))
    split_of |= {q.id: "test" for q in manifest.held_out}
    everything = (*questions, *manifest.questions, *manifest.held_out)
    corpus.prepare(text for q in everything for text in (q.question, *asked_parts(q.question)))
    seen = [q for q in everything if split_of.get(q.id) != "test"]
    params = train_gate(reader, seen, cases, cues, rules.cost_by_rates)
    gate = Gate.from_params(params)
    assessed = assess_cases(reader, gate, cases)
    ask = corpus.answerer(reader, gate).ask
    ended = answer_questions(ask, everything, split_of, source_of)
    scores: dict[str, Any] = {
        "surface_balanced_accuracy": surface,
        "given_evidence": {
            split: case_scores(assessed.filter(split=split)) for split in get_args(Split)
        },
        "end_to_end": endtoend_scores(ended),
    }
    numbers = pl.DataFrame({"params": [json.dumps(params)], "scores": [json.dumps(scores)]})
    return {"gate": numbers, "cases": assessed, "end_to_end": ended}
