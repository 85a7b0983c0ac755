"""``raf top``: where every rank of a running job stands, live."""

from __future__ import annotations

import os
import select
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from rankandfile.cli.console import err, out
from rankandfile.cli.errors import UserError
from rankandfile.cli.live_table import SORTS, live_table
from rankandfile.cli.panels import LIVE
from rankandfile.cli.watching import processes

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rankandfile.capture.live.jobs import Job
    from rankandfile.capture.live.standing import Stands

PANEL = LIVE
ORDER = 35
EXAMPLES = (
    "raf top",
    "raf top 4711 --every 5",
    "raf top --once",
    "raf top --sort behind --metrics /var/lib/node_exporter/textfile/raf.prom",
)


class Sort(str, Enum):
    rank = "rank"
    since = "since"
    behind = "behind"


#: Lines of the screen that are no rank.
_FRAME = 5


def top(
    pids: Annotated[
        list[str] | None,
        Argument(
            help="The launcher, or the ranks: processes of this node. Default: every rank.",
            metavar="[PID...]",
        ),
    ] = None,
    every: Annotated[float, Option("--every", min=0.5, metavar="SECONDS", help="How often to look.")] = 2.0,
    once: Annotated[bool, Option("--once", help="Look once, print, and end: for scripts and pipes.")] = False,
    sort: Annotated[Sort, Option("--sort", help="What to sort by.")] = Sort.rank,
    metrics: Annotated[
        Path | None,
        Option(
            "--metrics", metavar="FILE", help="Write each look as a textfile for Prometheus' node exporter."
        ),
    ] = None,
) -> None:
    """Where does every rank stand? Its state, its line, since when, and how many calls it is behind.

    From the recorder's rings where the job records; else py-spy looks, which stops a process for milliseconds. Keys: s
    sorts by the next column, d writes a case with a verdict, q ends.
    """
    numbers = processes(pids, "raf top")
    terminal = sys.stdin.isatty() and out.is_terminal
    if not (once or terminal or metrics):
        raise UserError(
            "raf top draws on a terminal, and this is none: --once prints where every rank stands now"
        )
    from rankandfile.capture.live.jobs import Job
    from rankandfile.capture.live.rows import Looks

    job = Job(numbers)
    with tempfile.TemporaryDirectory(prefix="raf-top-") as folder:
        looks = Looks(Path(folder))

        def look() -> list[Stands]:
            rows = looks.again(job.ranks())
            if metrics is not None:
                _write(rows, metrics)
            return rows

        if once:
            _print_once(look(), looks.note)
        elif terminal:
            _Screen(job, sort.value, every).show(look)
        else:
            while look():
                time.sleep(every)


def _print_once(rows: Sequence[Stands], note: str) -> None:
    if not rows:
        raise UserError("no rank runs here: raf top PID looks at any process")
    out.print(live_table(rows, most=64))
    ranks = [row.rank for row in rows if row.rank >= 0 and row.state != "gone"]
    several = "several jobs run here: raf top PID, with the launcher of one" * (len(ranks) > len(set(ranks)))
    for line in filter(None, (note, several)):
        err.print(f"raf: {line}", soft_wrap=True)


def _write(rows: Sequence[Stands], path: Path) -> None:
    from rankandfile.capture.metrics import of_rows, write

    try:
        write(path, of_rows(rows))
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from error


class _Screen:
    """The whole terminal, until q."""

    def __init__(self, job: Job, sort: str, every: float) -> None:
        self._job, self._sort, self._every = job, sort, every
        self._said = ""

    def show(self, look: Callable[[], list[Stands]]) -> None:
        from rich.live import Live

        rows = look()
        with _keys() as keys, Live(self._page(rows), console=out, screen=True, auto_refresh=False) as live:
            due = time.monotonic() + self._every
            while True:
                live.update(self._page(rows), refresh=True)
                key = keys(max(due - time.monotonic(), 0.0))
                if key in ("q", "\x03", "\x04"):
                    return
                if key == "s":
                    self._sort = SORTS[(SORTS.index(self._sort) + 1) % len(SORTS)]
                elif key == "d":
                    self._said = "looking at every rank twice: some seconds"
                    live.update(self._page(rows), refresh=True)
                    self._said = _case(self._job)
                elif not key:
                    rows, due = look(), time.monotonic() + self._every

    def _page(self, rows: Sequence[Stands]) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        states = [row.state for row in rows]
        counts = ", ".join(f"{states.count(one)} {one}" for one in dict.fromkeys(sorted(states)))
        head = f"{time.strftime('%H:%M:%S')}  {len(rows)} ranks: {counts}" if rows else "no rank runs here"
        table = live_table(rows, self._sort, max(out.height - _FRAME, 1))
        keys = f"s sort ({self._sort})  d dump and diagnose  q quit"
        return Group(Text(head, style="bold"), table, Text(self._said), Text(keys, style="reverse"))


def _case(job: Job) -> str:
    """A case of now, as `raf attach` makes it; what became of it, in a line."""
    from rankandfile.capture.attach import of_ranks
    from rankandfile.capture.case import Wishes

    said: list[str] = []
    try:
        of_ranks(
            job.ranks(), Wishes(width=100, show=lambda card: said.append(card.splitlines()[0])), said.append
        )
    except OSError as error:
        return f"cannot write the case: {error}"
    return "; ".join(said[-3:])


@contextmanager
def _keys() -> Iterator[Callable[[float], str]]:
    """One key at a time, waited for so many seconds; empty where none came."""
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)

    def key(seconds: float) -> str:
        ready, _, _ = select.select([fd], [], [], seconds)
        return os.read(fd, 1).decode("ascii", "replace") if ready else ""

    try:
        tty.setcbreak(fd)
        yield key
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
