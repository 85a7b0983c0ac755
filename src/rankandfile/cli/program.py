"""The command `raf`: the commands of a folder, and the one place that turns errors into a line and a status."""

from __future__ import annotations

import atexit
import gc
import inspect
import io
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, NoReturn

import typer
from typer import Exit, Option

from rankandfile import __version__, listing

from .console import complain
from .ending import Ended, tidily
from .errors import INTERNAL, INTERRUPTED, PIPE_CLOSED, USAGE, UserError, refused_by_the_machine
from .help_pages.page import HelpOfCommand, HelpOfGroup
from .panels import ADVANCED, PANELS
from .typed.first_word import understood
from .typed.formats_as_options import meant_format
from .typed.plain_values import lighten
from .typed.unknown_words import in_our_words

_COMMANDS = "rankandfile.cli.commands"
_NAMES = ("raf", "rankandfile")
_TRACEBACK = "--traceback"

EXAMPLES = (
    "raf dumps/                        what hung, from whatever the job left",
    "raf dumps/ logs/ --src train/     with the source: the line and the condition",
    "kubectl logs POD | raf -          a log from standard input",
    "raf attach PID                    a job that is stuck now",
    "raf run -- torchrun train.py      a job that is still to be started",
    "raf explain early_exit            what a cause means, and what to do",
)


def application(word: str = "") -> typer.Typer:
    """The command `raf` with all its commands; with the one of `word` alone, where there is one of that word.

    The others need not be loaded to run it.
    """
    app = typer.Typer(
        name="raf",
        help="Find the rank, the line and the condition that hung a distributed PyTorch job.",
        no_args_is_help=True,
        cls=HelpOfGroup,
        pretty_exceptions_enable=False,
        epilog="\n".join(EXAMPLES),
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(root)
    name = word.replace("-", "_")
    alone = word and name in listing.names(_COMMANDS)
    modules = [import_module(f"{_COMMANDS}.{name}")] if alone else listing.modules(_COMMANDS)
    _add(sorted(modules, key=lambda module: PANELS.index(_panel(module))), app)
    return app


def _panel(module: ModuleType) -> str:
    return str(getattr(module, "PANEL", ADVANCED))


def _add(modules: Sequence[ModuleType], to: typer.Typer, inner: bool = False) -> None:
    """Commands, each under the name of its file. A folder is a group of commands."""
    for module in modules:
        name = module.__name__.rpartition(".")[2]
        word = name.replace("_", "-")
        panel = None if inner else _panel(module)
        if hasattr(module, "__path__"):
            group = typer.Typer(
                cls=HelpOfGroup, help=" ".join((module.__doc__ or "").split()), no_args_is_help=True
            )
            _add(listing.modules(module.__name__), group, inner=True)
            to.add_typer(group, name=word, rich_help_panel=panel)
            continue
        function = getattr(module, name, None) or getattr(module, f"{name}_")
        to.command(
            word,
            cls=HelpOfCommand,
            help=_told(function),
            epilog="\n".join(getattr(module, "EXAMPLES", ())),
            context_settings=getattr(module, "CONTEXT", None),
            rich_help_panel=panel,
        )(function)


def _told(function: Callable[..., object]) -> str:
    """What a command's docstring says, a paragraph a line."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(one.split()) for one in paragraphs)


def _version(value: bool) -> None:
    if value:
        from rankandfile.evidence.flight.native import native

        said = native().said
        typer.echo(f"raf {__version__}" + (f" ({said})" if said else ""))
        raise Exit


def root(
    version: Annotated[
        bool, Option("--version", "-V", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    traceback: Annotated[
        bool, Option(_TRACEBACK, help="Where raf itself fails: show where. Goes with every command.")
    ] = False,
) -> None:
    """Find the rank, the line and the condition that hung a distributed PyTorch job.

    `raf PATH...` is `raf diagnose PATH...`. Exit status: 0 no hang found, 1 a verdict, 2 usage or unreadable input, 3
    undetermined.
    """


_OBJECTS_TO_SWEEP = 500_000
"""New objects after which Python looks for garbage that refers to itself: more than modules are made of. A run of
seconds, whose modules and tables stay until its end, leaves little of it."""


def main() -> None:
    gc.set_threshold(_OBJECTS_TO_SWEEP, 20, 20)
    # What is there at the end goes with the process: nobody need look through it once more.
    atexit.register(gc.freeze)
    if not sys.warnoptions:
        # What a library warns its caller of is nothing that a person at the terminal could do something about.
        warnings.simplefilter("ignore")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A name that the terminal cannot write is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    name = Path(sys.argv[0]).name
    name = name if name in _NAMES else _NAMES[0]
    if f"_{name.upper()}_COMPLETE" in os.environ:
        application()(prog_name=name)
    words, traceback = _without_traceback(sys.argv[1:])
    try:
        with tidily():
            status = _run(name, understood(words, set(listing.names(_COMMANDS))))
            sys.stdout.flush()
    except Exit as exit:
        status = exit.exit_code
    except (UserError, typer.Abort) as error:
        complain(str(error) or "nothing more to read")
        status = USAGE
    except KeyboardInterrupt:
        complain("interrupted")
        status = INTERRUPTED
    except Ended as ended:
        complain("ended")
        status = ended.status
    except BrokenPipeError:
        _nobody_reads()
    except SystemExit as exit:
        # Rich ends the program itself where its reader has gone.
        if isinstance(exit.__context__, BrokenPipeError):
            _nobody_reads()
        raise
    except Exception as error:
        if traceback:
            import traceback as trace

            trace.print_exception(error)
        status = _refused(error)
    sys.exit(status)


def _run(name: str, words: Sequence[str]) -> int:
    command = typer.main.get_command(application(words[0] if words else ""))
    lighten(command)
    with command.make_context(name, list(words)) as context:
        command.invoke(context)
    return 0


def _without_traceback(words: list[str]) -> tuple[list[str], bool]:
    """It is understood at every place: one puts it behind the line that has failed. What follows `--` is another's."""
    ours = words[: words.index("--")] if "--" in words else words
    kept = [word for word in ours if word != _TRACEBACK]
    return [*kept, *words[len(ours) :]], len(kept) < len(ours)


def _refused(error: Exception) -> int:
    """A line for what the command line got wrong, or for what is wrong with raf itself; the status it ends with."""
    if (refused := refused_by_the_machine(error)) is not None:
        complain(refused)
        return USAGE
    said = getattr(error, "format_message", None)
    if said is None:
        place = _place(error)
        what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        complain(
            f"raf itself failed: {what}{place}; please report it{_address()} with what {_TRACEBACK} adds"
        )
        return INTERNAL
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(said())
        return USAGE
    hint = f" ({context.command_path} --help tells more)" if context else ""
    words = meant_format(error) or in_our_words(error) or said()
    complain(f"{words.strip().rstrip('.')}{hint}")
    return USAGE


def _address() -> str:
    """Where to, as the installed package says itself: `project.urls` of pyproject.toml is the one place for it."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        found = metadata(_NAMES[1]).get_all("Project-URL") or []
    except PackageNotFoundError:
        found = []
    known = dict(one.split(", ", 1) for one in found)
    return f" to {known['Issues']}" if "Issues" in known else ""


def _place(error: Exception) -> str:
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    return "" if step is None else f" ({Path(step.tb_frame.f_code.co_filename).name}:{step.tb_lineno})"


def _nobody_reads() -> NoReturn:
    """The reader (`head`, a pager) has seen enough. Python would complain again while closing stdout."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    sys.exit(PIPE_CLOSED)
