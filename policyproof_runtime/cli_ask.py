"""``policyproof ask`` and ``policyproof retrieve``."""

from __future__ import annotations

import json
from collections.abc import Callable

import click

from policyproof_runtime import cli_batch
from policyproof_runtime.cli_batch import Result
from policyproof_runtime.cli_options import corpus_option, named_corpus, note, store_option
from policyproof_runtime.corpus import Corpus, open_corpus
from policyproof_runtime.objects import ObjectStore
from policyproof_runtime.questions import check_question
from policyproof_runtime.types import Citation

_batch_option = click.option(
    "--batch", metavar="IN", help="Questions from a .jsonl or .csv file, or - for stdin."
)
_out_option = click.option(
    "--out", metavar="OUT", help="Results to a .jsonl or .csv file. [default: JSON lines on stdout]"
)
_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command("ask")
@click.argument("question", required=False)
@corpus_option
@_json_option
@_batch_option
@_out_option
@store_option
def ask_command(
    question: str | None,
    corpus: str | None,
    as_json: bool,  # noqa: FBT001 click passes flags by name
    batch: str | None,
    out: str | None,
    store: str | None,
) -> None:
    """Answer QUESTION with cited excerpts, or abstain with reasons.

    With --batch, answers a questionnaire: lines {"id", "question"} or a CSV with these columns.
    """
    loaded = _checked(question, batch, out, store, corpus)
    if question is None:
        _run_batch(batch, out, lambda text: loaded.ask(text).as_json(), _answer_rows)
        return
    answer = loaded.ask(question)
    if as_json:
        _echo_json(answer.as_json())
        return
    from policyproof_runtime.output import show_answer  # rich is slow to import

    show_answer(answer)


@click.command("retrieve")
@click.argument("question", required=False)
@corpus_option
@click.option("--method", metavar="NAME", help="Retrieval method. [default: the release's]")
@click.option("--top-k", type=int, default=10, show_default=True, help="Number of passages.")
@_json_option
@_batch_option
@_out_option
@store_option
def retrieve_command(
    question: str | None,
    corpus: str | None,
    method: str | None,
    top_k: int,
    as_json: bool,  # noqa: FBT001 click passes flags by name
    batch: str | None,
    out: str | None,
    store: str | None,
) -> None:
    """Print the passages that match QUESTION best, best first."""
    loaded = _checked(question, batch, out, store, corpus)

    def ranked(text: str) -> Result:
        hits = [hit.as_json() for hit in loaded.retrieve(text, top_k, method)]
        return {"question": text, "hits": hits}

    if question is None:
        _run_batch(batch, out, ranked, _hit_rows)
    elif as_json:
        _echo_json(ranked(question))
    else:
        from policyproof_runtime.output import show_hits  # rich is slow to import

        show_hits(loaded.retrieve(question, top_k, method), loaded.passages)


def _checked(
    question: str | None, batch: str | None, out: str | None, store: str | None, corpus: str | None
) -> Corpus:
    """Return the corpus to ask, after a look at whether the command line makes sense."""
    if (question is None) == (batch is None):
        raise click.UsageError("give either a QUESTION or --batch IN")
    if out is not None and batch is None:
        raise click.UsageError("--out belongs to --batch")
    if question is not None:
        check_question(question)
    objects = ObjectStore(store)
    return open_corpus(named_corpus(objects, corpus), objects)


def _run_batch(
    batch: str | None, out: str | None, answer: Callable[[str], Result], rows: cli_batch.ToRows
) -> None:
    def fields(question: cli_batch.Question) -> Result:
        return {**answer(question.text), "question": question.text}

    count = cli_batch.run(batch or cli_batch.STREAM, out, fields, rows)
    note(f"{count} question{'' if count == 1 else 's'} done" + (f": {out}" if out else ""))


def _echo_json(value: Result) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2).encode())


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
