"""``policyproof models``: which models there are, and adding one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from policyproof_runtime.cli_options import pipeline
from policyproof_runtime.models import Model, how_to_get, load_model, load_models, whereabouts

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.group("models", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per model.")
@click.pass_context
def models_command(context: click.Context, as_json: bool) -> None:  # noqa: FBT001 -- click
    """List the models that manifests describe, and where they are installed."""
    if context.invoked_subcommand is not None:
        return
    rows = [_row(model) for model in load_models().values()]
    if as_json:
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    else:
        head = ("MODEL", "ROLE", "LICENCE", "SIZE", "INSTALLED")
        table = [head, *map(_cells, rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(map(str.ljust, cells, widths)).rstrip() for cells in table]
    click.echo("\n".join(lines))


@models_command.command("add")
@click.argument("model_id", metavar="ID")
@click.option(
    "--from",
    "folder",
    metavar="PATH",
    type=_FOLDER,
    help="Folder with the files of the model; without it they are downloaded.",
)
def add_command(model_id: str, folder: Path | None) -> None:
    """Install a model after verifying the size and digest of every file."""
    click.echo(pipeline("models").add_model(load_model(model_id), folder))


def _row(model: Model) -> dict[str, Any]:
    found = whereabouts(model)
    return {
        "id": model.id,
        "role": model.role,
        "licence": model.licence,
        "bytes": sum(file.size for file in model.files),
        "installed": found is not None,
        "from": found,
        "get": None if found else how_to_get(model),
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    state = row["from"] or f"no: {row['get']}"
    return row["id"], row["role"], row["licence"], f"{row['bytes'] / 1e6:.0f} MB", state
