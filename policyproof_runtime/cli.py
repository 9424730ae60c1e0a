"""The command ``policyproof``: results on stdout, everything else on stderr.

Exit codes: 0 done (an abstention is a result), 1 failed with a message, 2 wrong usage.
"""

from __future__ import annotations

import io
import sys
from importlib import import_module

import click

from policyproof_runtime.errors import PolicyProofError

# A command's module is imported when the command runs, so that a question waits for nothing else.
_MODULES = {
    "ask": "cli_ask",
    "retrieve": "cli_ask",
    "sufficiency": "cli_annotate",
    "annotate": "cli_annotate",
    "build": "cli_store",
    "new": "cli_store",
    "export": "cli_store",
    "diff": "cli_diff",
    "verify": "cli_store",
    "pack": "cli_store",
    "unpack": "cli_store",
    "gc": "cli_store",
    "models": "cli_models",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 click's signature
        return list(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _MODULES:
            return None
        module = import_module(f"policyproof_runtime.{_MODULES[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except PolicyProofError as error:
            raise click.ClickException(str(error)) from error
        except BrokenPipeError:  # click ends without a word, as the reader wants no more
            raise
        except OSError as error:
            where = error.filename or "cannot read or write"
            raise click.ClickException(f"{where}: {error.strerror or error}") from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="policyproof", prog_name="policyproof")
def cli() -> None:
    """Answers from policy documents in the exact words of the source, or an honest abstention."""


def main() -> None:
    """Run the command with the arguments of the process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a character of the source shows its code instead of failing.
            stream.reconfigure(errors="backslashreplace")
    cli(prog_name="policyproof")


if __name__ == "__main__":
    main()
