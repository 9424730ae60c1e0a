"""``policyproof ask`` and ``policyproof retrieve``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from policyproof_runtime import cli_batch
from policyproof_runtime.cli_batch import Result
from policyproof_runtime.cli_options import corpus_option, named_corpus, note, store_option
from policyproof_runtime.corpus import Corpus, open_corpus
from policyproof_runtime.objects import ObjectStore
from policyproof_runtime.questions import check_question
from policyproof_runtime.types import Citation

_OPTIONS = (
    click.argument("question", required=False),
    corpus_option,
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.option("--batch", help="Questions from a .jsonl or .csv file, or - for stdin."),
    click.option("--out", help="A .jsonl or .csv file. [default: JSON lines on stdout]"),
    store_option,
)


def _options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command("ask")
@_options
def ask_command(**options: Any) -> None:
    """Answer QUESTION with cited excerpts, or abstain with reasons.

    With --batch, answers a questionnaire: lines {"id", "question"} or a CSV with these columns.
    """

    def show(corpus: Corpus, question: str) -> None:
        from policyproof_runtime.output import show_answer  # rich is slow to import

        show_answer(corpus.ask(question))

    _serve(lambda corpus, text: corpus.ask(text).as_json(), show, _answer_rows, **options)


@click.command("retrieve")
@click.option("--method", metavar="NAME", help="Retrieval method. [default: the release's]")
@click.option("--top-k", type=int, default=10, show_default=True, help="Number of passages.")
@_options
def retrieve_command(method: str | None, top_k: int, **options: Any) -> None:
    """Print the passages that match QUESTION best, best first."""

    def ranked(corpus: Corpus, text: str) -> Result:
        hits = [hit.as_json() for hit in corpus.retrieve(text, top_k, method)]
        return {"question": text, "hits": hits}

    def show(corpus: Corpus, question: str) -> None:
        from policyproof_runtime.output import show_hits  # rich is slow to import

        show_hits(corpus.retrieve(question, top_k, method), corpus.passages)

    _serve(ranked, show, _hit_rows, **options)


def _serve(  # noqa: PLR0913 click passes options by name
    answer: Callable[[Corpus, str], Result],
    show: Callable[[Corpus, str], None],
    rows: cli_batch.ToRows,
    *,
    question: str | None,
    corpus: str | None,
    as_json: bool,
    batch: str | None,
    out: str | None,
    store: str | None,
) -> None:
    """Answer one question as JSON or for people, or a batch of them."""
    if (question is None) == (batch is None):
        raise click.UsageError("give either a QUESTION or --batch IN")
    if out is not None and batch is None:
        raise click.UsageError("--out belongs to --batch")
    if question is not None:
        check_question(question)  # before a release is loaded for nothing
    objects = ObjectStore(store)
    loaded = open_corpus(named_corpus(objects, corpus), objects)
    if batch is not None:
        count = cli_batch.run(
            batch, out, lambda q: {**answer(loaded, q.text), "question": q.text}, rows
        )
        note(f"{count} question{'' if count == 1 else 's'} done" + (f": {out}" if out else ""))
    elif question is not None and as_json:
        value = answer(loaded, question)
        click.echo(json.dumps(value, ensure_ascii=False, indent=2).encode())
    elif question is not None:
        show(loaded, question)


def _answer_rows(result: Result) -> list[Result]:
    """Return an answer as one row that reads well in a spreadsheet and loses nothing."""
    citations = [Citation(**citation) for citation in result["citations"]]
    row = {
        "id": result["id"],
        "question": result["question"],
        "decision": result["decision"],
        "answer": "\n\n".join(citation.excerpt for citation in citations),
        "sources": "\n".join(f"{c.title} · {c.label} · {c.place}" for c in citations),
        "probability": result["probability"],
        "threshold": result["threshold"],
        "reason_codes": "; ".join(result["reason_codes"]),
        "missing": "; ".join(result["missing"]),
        "citations": json.dumps(result["citations"], ensure_ascii=False),
        "corpus": result["corpus"],
        "release": result["release"],
    }
    return [row]


def _hit_rows(result: Result) -> list[Result]:
    """Return one row per hit."""
    shared = {"id": result["id"], "question": result["question"]}
    return [
        shared | hit | {"heading_path": " > ".join(hit["heading_path"])} for hit in result["hits"]
    ]
