"""The command `raf`: the list of commands, and the one place that turns errors into a line and a status."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from rankandfile import __version__

from . import (
    attach,
    case,
    convert,
    diagnose,
    doctor,
    explore,
    fix,
    fr_trace,
    investigate,
    lab,
    mcp,
    report,
    run,
    show,
    skill,
)
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
app.command("diagnose", epilog=diagnose.EXAMPLES)(diagnose.diagnose)
app.command("run", epilog=run.EXAMPLES, context_settings=run.CONTEXT)(run.run)
app.command("investigate", epilog=investigate.EXAMPLES)(investigate.investigate)
app.command("mcp", epilog=mcp.EXAMPLES)(mcp.mcp)
app.command("attach", epilog=attach.EXAMPLES)(attach.attach)
app.command("report", epilog=report.EXAMPLES)(report.report)
app.command("fix", epilog=fix.EXAMPLES)(fix.fix)
app.add_typer(show.app, name="show")
app.command("explore", epilog=explore.EXAMPLES)(explore.explore)
app.add_typer(skill.app, name="skill")
app.add_typer(case.app, name="case")
app.add_typer(lab.app, name="lab")
app.command("fr-trace", context_settings=fr_trace.CONTEXT)(fr_trace.fr_trace)
app.command("convert", epilog=convert.EXAMPLES)(convert.convert)
app.command("doctor", epilog=doctor.EXAMPLES)(doctor.doctor)


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
