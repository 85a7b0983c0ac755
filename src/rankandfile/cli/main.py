"""The command `raf`: the commands of a folder, and the one place that turns errors into a line and a status."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from rankandfile import __version__, listing

from .console import complain
from .errors import USAGE, UserError

app = typer.Typer(
    name="raf",
    help="Find the rank, the line and the condition that hung a distributed PyTorch job.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _add(package: str, to: typer.Typer) -> None:
    """Every command of a folder, under the name of its file. A folder in it is a group of commands."""
    for module in listing.modules(package):
        name = module.__name__.rpartition(".")[2]
        word = name.replace("_", "-")
        if hasattr(module, "__path__"):
            group = typer.Typer(help=" ".join((module.__doc__ or "").split()), no_args_is_help=True)
            _add(module.__name__, group)
            to.add_typer(group, name=word)
            continue
        function = getattr(module, name, None) or getattr(module, f"{name}_")
        epilog, context = getattr(module, "EXAMPLES", None), getattr(module, "CONTEXT", None)
        to.command(word, epilog=epilog, context_settings=context)(function)


_add("rankandfile.cli.commands", app)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"raf {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Find the rank, the line and the condition that hung a distributed PyTorch job.

    Exit status: 0 no hang found, 1 a verdict, 2 usage or unreadable input, 3 undetermined.
    """


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A name that the terminal cannot write is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except UserError as error:
        complain(str(error))
        sys.exit(USAGE)
    except KeyboardInterrupt:
        complain("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        # The reader (`head`, a pager) has seen enough. Python would complain again while closing stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


if __name__ == "__main__":
    main()
