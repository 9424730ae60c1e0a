"""``policyproof sufficiency``: the gate on given evidence."""

from __future__ import annotations

import click

from policyproof_runtime import cli_batch
from policyproof_runtime.cli_options import corpus_option, named_corpus, note, store_option
from policyproof_runtime.corpus import open_corpus
from policyproof_runtime.errors import QueryError
from policyproof_runtime.objects import ObjectStore


@click.command("sufficiency")
@corpus_option
@click.option(
    "--batch",
    metavar="IN",
    required=True,
    help='JSON lines {"id", "question", "passage_ids"}, or - for stdin.',
)
@click.option("--out", metavar="OUT", help="Results to a file. [default: JSON lines on stdout]")
@store_option
def sufficiency_command(corpus: str | None, batch: str, out: str | None, store: str | None) -> None:
    """Say whether given passages suffice to answer a question, and what is missing.

    Lines out: {"id", "probability", "sufficient", "reason_codes", "missing"}.
    """
    objects = ObjectStore(store)
    loaded = open_corpus(named_corpus(objects, corpus), objects)

    def assess(question: cli_batch.Question) -> cli_batch.Result:
        ids = question.values.get("passage_ids")
        if not isinstance(ids, list) or not all(isinstance(name, str) for name in ids):
            raise QueryError("'passage_ids' must be a list of passage ids", found=ids)
        return loaded.assess(question.text, ids)

    count = cli_batch.run(batch, out, assess, lambda result: [result])
    note(f"{count} case{'' if count == 1 else 's'} done" + (f": {out}" if out else ""))
