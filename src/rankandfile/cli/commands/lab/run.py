"""``raf lab run``: one hang before your eyes."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from rankandfile.cli.console import err, out
from rankandfile.cli.errors import UserError
from rankandfile.cli.lab_incidents import kind_of, make, say
from rankandfile.cli.names import scenario_names

ORDER = 20
EXAMPLES = (
    "raf lab run early_stop_local --keep incident/ --watch",
    "raf lab run early_stop_local --twin",
    "raf lab run peers-tp-dp-cascade --ranks 64",
)


def run(
    name: Annotated[str, Argument(help="A scenario of `raf lab list`.", autocompletion=scenario_names)],
    keep: Annotated[
        Path | None, Option("--keep", help="Folder for what it leaves. Default: a new temporary one.")
    ] = None,
    twin: Annotated[bool, Option("--twin", help="Run the healthy twin: the same program, fixed.")] = False,
    ranks: Annotated[int | None, Option("--ranks", min=2, help="Ranks of a simulated job.")] = None,
    at: Annotated[
        Path | None,
        Option(
            "--at",
            help="Where the source tree lies while it runs (shows in stacks), such as /workspace/train.",
        ),
    ] = None,
    watch: Annotated[bool, Option("--watch", help="Show what the ranks print, as it comes.")] = False,
) -> None:
    """Make a hang: start the ranks, wait until they are stuck, collect what a real incident leaves."""
    kind = kind_of(name)
    folder = keep or Path(tempfile.mkdtemp(prefix=f"raf-lab-{name}-"))
    into = folder / (f"{name}.twin" if twin else name)
    if watch and kind == "simulated":
        say("a simulated job prints nothing while it is played; its logs are in the evidence")
    try:
        incident = make(name, into, twin=twin, ranks=ranks, at=at, on_line=_show if watch else None)
    except UserError:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    _report(incident)


def _show(rank: int, line: str) -> None:
    err.print(f"{rank:>3} | {line}", soft_wrap=True)


def _report(incident: Path) -> None:
    """Where everything lies and what to type next; nothing of it gives the answer away."""
    from rankandfile.lab import truth

    known = truth.read(incident)
    lines = [
        ("job", f"{known.world_size:,} ranks, {'hung' if known.hang else 'no hang'}"),
        ("evidence", str(incident / "evidence")),
        ("source", str(incident / "src") if (incident / "src").is_dir() else ""),
        ("truth", f"{incident / truth.FILE}  (do not peek)"),
        ("next", f"raf diagnose {shlex.quote(str(incident / 'evidence'))}"),
        ("then", f"raf lab score -a raf --worst --set {shlex.quote(str(incident))}"),
    ]
    for label, value in lines:
        if value:
            out.print(f"{label:<10} {value}", soft_wrap=True)
