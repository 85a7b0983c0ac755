"""``raf attach``: a job that is stuck already."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from rankandfile.cli.console import Unicode, out, shows_symbols
from rankandfile.cli.errors import NO_HANG, UNDETERMINED, VERDICT, UserError
from rankandfile.cli.panels import LIVE
from rankandfile.cli.watching import CaseFolder, processes, say

if TYPE_CHECKING:
    from rankandfile.capture.watch.rings import Seen

PANEL = LIVE
ORDER = 30
EXAMPLES = (
    "raf attach 4711",
    "raf attach $(pgrep -f train.py) --src train/ --out hang/",
    "raf attach --debug-server http://node-0:25999",
)


def attach(
    pids: Annotated[
        list[str] | None,
        Argument(help="The launcher, or the ranks: processes of this node.", metavar="[PID...]"),
    ] = None,
    debug_server: Annotated[
        list[str] | None,
        Option(
            "--debug-server",
            metavar="URL|SOCKET",
            help="Instead of processes: torch's debug server (http://host:25999), or a rank's worker server, by URL or "
            "UNIX socket; once for each, in the order of the ranks.",
        ),
    ] = None,
    output: CaseFolder = None,
    src: Annotated[
        Path | None,
        Option(
            "--src",
            metavar="DIR",
            help="The program's source. Default: the recorder's own copies, or where the program lies.",
        ),
    ] = None,
    hung: Annotated[bool, Option("--hung", help="The job does hang: you have seen it stand.")] = False,
    unicode: Unicode = True,
) -> None:
    """Why is this job stuck? Where every rank stands, at once; then, from stacks twice and rings, the verdict.

    Needs root, or the permission to trace the processes, and says which is lacking. The job goes on as it was.
    Exit status: 0 no hang found, 1 a verdict, 2 usage or unreadable input, 3 undetermined.
    """
    if not pids and not debug_server:
        raise UserError(
            "which job? its launcher or its ranks, such as $(pgrep -f train.py), or --debug-server URL"
        )
    if pids and debug_server:
        raise UserError("give either processes or --debug-server")
    numbers = processes(pids, "raf attach") if pids else []
    if src is not None and not src.exists():
        raise UserError(f"{src}: no such file or directory")
    from rankandfile.capture.attach import attach as attach_to
    from rankandfile.capture.attach import attach_to_servers
    from rankandfile.capture.case import Wishes

    try:
        unicode = shows_symbols(out, unicode)
        wishes = Wishes(output, src, unicode, min(out.width, 100), _show, hung=hung, on_look=_where)
        found = (
            attach_to_servers(debug_server, wishes, say) if debug_server else attach_to(numbers, wishes, say)
        )
    except OSError as error:
        raise UserError(str(error) if debug_server else f"cannot write the case: {error}") from error
    raise Exit(UNDETERMINED if found is None else VERDICT if found else NO_HANG)


def _where(seen: Sequence[Seen], stacks: Path) -> None:
    from rankandfile.capture.live.rows import rows
    from rankandfile.cli.live_table import live_table

    out.print(live_table(rows(seen, stacks), most=32))
    out.print()
    out.file.flush()


def _show(card: str) -> None:
    out.file.write(card)
    out.file.flush()
