"""The table of where every rank stands, for a terminal of any size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from rankandfile.model.ranks import format_ranks

if TYPE_CHECKING:
    from rankandfile.capture.live.standing import Stands

_COLUMNS = ("rank", "state", "where", "since", "behind", "what")
SORTS = ("rank", "since", "behind")
_COLOURS = {"waits": "yellow", "runs": "green", "sleeps": "red", "stopped": "bold red", "gone": "bold red"}


def live_table(rows: Sequence[Stands], sort: str = "rank", most: int = 0) -> Table:
    """One line per rank; where there are more than `most`, one for all ranks that stand alike."""
    from rankandfile.capture.live.standing import lags

    behind = lags(rows)
    alike: dict[object, list[Stands]] = {}
    for row in rows:
        one = (row.state, row.what, row.place, behind.get(row.rank))
        alike.setdefault(one if most and len(rows) > most else row.pid, []).append(row)
    found = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    # What nobody tells takes no room.
    told = {
        "since": any(row.since is not None for row in rows),
        "behind": any(behind.values()),
        "what": any(row.what for row in rows),
    }
    for name in (shown := [one for one in _COLUMNS if told.get(one, True)]):
        right = name in ("since", "behind")
        found.add_column(
            name, justify="right" if right else "left", no_wrap=name in ("rank", "state", "since")
        )
    for those in sorted(alike.values(), key=lambda those: _order(those, sort, behind)):
        row, late = those[0], behind.get(those[0].rank, 0)
        cells = {
            "rank": Text(_who(those)),
            "state": Text(row.state, style=_COLOURS.get(row.state, "dim")),
            "where": Text(str(row.place or "")),
            "since": Text(_since(those)),
            "behind": Text(str(late) if late else ""),
            "what": Text(row.what, style="dim"),
        }
        found.add_row(*(cells[name] for name in shown))
    return found


def _who(those: Sequence[Stands]) -> str:
    if all(row.rank < 0 for row in those):
        return ",".join(f"pid {row.pid}" for row in those)
    return format_ranks(row.rank for row in those)


def _order(those: Sequence[Stands], sort: str, behind: dict[int, int]) -> tuple[float, ...]:
    row = those[0]
    if sort == "since":
        return -(row.since or 0.0), row.rank
    if sort == "behind":
        return -behind.get(row.rank, 0), row.state == "waits", row.rank
    return row.rank, row.pid


def _since(those: Sequence[Stands]) -> str:
    known = [row for row in those if row.since is not None]
    if not known:
        return ""
    longest = max(known, key=lambda row: row.since or 0.0)
    return f"{'≥ ' * longest.at_least}{_seconds(longest.since or 0.0)}"


def _seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s"
