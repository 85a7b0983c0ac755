"""The command `raf`: the commands of a folder, and the one place that turns errors into a line and a status."""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Annotated

import typer
from rich.markup import escape
from typer import Exit, Option
from typer.main import get_command

from rankandfile import __version__, listing

from .console import complain
from .ending import Ended, tidily
from .errors import USAGE, UserError
from .plain_values import lighten

_COMMANDS = "rankandfile.cli.commands"


def application(word: str = "") -> typer.Typer:
    """The command `raf` with all its commands; with the one of `word` alone, where there is one of that word.

    The others need not be loaded to run it.
    """
    app = typer.Typer(
        name="raf",
        help="Find the rank, the line and the condition that hung a distributed PyTorch job.",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(root)
    name = word.replace("-", "_")
    alone = word and name in listing.names(_COMMANDS)
    _add([import_module(f"{_COMMANDS}.{name}")] if alone else listing.modules(_COMMANDS), app)
    return app


def _add(modules: Sequence[ModuleType], to: typer.Typer) -> None:
    """Commands, each under the name of its file. A folder is a group of commands."""
    for module in modules:
        name = module.__name__.rpartition(".")[2]
        word = name.replace("_", "-")
        if hasattr(module, "__path__"):
            group = typer.Typer(help=" ".join((module.__doc__ or "").split()), no_args_is_help=True)
            _add(listing.modules(module.__name__), group)
            to.add_typer(group, name=word)
            continue
        function = getattr(module, name, None) or getattr(module, f"{name}_")
        to.command(word, epilog=_epilog(module), context_settings=getattr(module, "CONTEXT", None))(function)


def _epilog(module: ModuleType) -> str | None:
    """The examples of a command, one a line. Typer joins lines but keeps paragraphs, and reads markup."""
    lines = getattr(module, "EXAMPLES", ())
    return "\n\n".join(["Examples:", *(f"  {escape(line)}" for line in lines)]) if lines else None


def _version(value: bool) -> None:
    if value:
        typer.echo(f"raf {__version__}")
        raise Exit


def root(
    version: Annotated[
        bool, Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Find the rank, the line and the condition that hung a distributed PyTorch job.

    Exit status: 0 no hang found, 1 a verdict, 2 usage or unreadable input, 3 undetermined.
    """


_OBJECTS_TO_SWEEP = 500_000
"""New objects after which Python looks for garbage that refers to itself: more than modules are made of. A run of
seconds, whose modules and tables stay until its end, leaves little of it."""


def main() -> None:
    gc.set_threshold(_OBJECTS_TO_SWEEP, 20, 20)
    # What is there at the end goes with the process: nobody need look through it once more.
    atexit.register(gc.freeze)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A name that the terminal cannot write is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    try:
        with tidily():
            command = get_command(application(sys.argv[1] if len(sys.argv) > 1 else ""))
            lighten(command)
            command()
    except UserError as error:
        complain(str(error))
        sys.exit(USAGE)
    except KeyboardInterrupt:
        complain("interrupted")
        sys.exit(130)
    except Ended as ended:
        complain("ended")
        sys.exit(ended.status)
    except BrokenPipeError:
        # The reader (`head`, a pager) has seen enough. Python would complain again while closing stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


if __name__ == "__main__":
    main()
