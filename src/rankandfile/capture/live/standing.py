"""Where one rank of a running job stands, as a row of a table that is looked at once or every second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rankandfile.capture.watch.rings import Seen

#: A group, by its name and its members: a name alone is ambiguous.
Group = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Place:
    """A line of the program, or the innermost line where none of it is known."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        function = self.function.rpartition(".")[2]
        return f"{self.file.rpartition('/')[2]}:{self.line}{f' in {function}()' * (function != '<module>')}"


@dataclass(frozen=True)
class Stands:
    """One rank, at a moment."""

    rank: int
    pid: int
    state: str
    """`waits` for other ranks, `runs`, `sleeps` (in no call, and on no processor), `stopped`, `gone`, `unknown`."""
    what: str = ""
    """The call it waits in, or what its stack shows it doing."""
    place: Place | None = None
    since: float | None = None
    """Seconds, where something tells."""
    at_least: bool = False
    """`since` is for how long it has been seen like that."""
    calls: Mapping[Group, int] = field(default_factory=dict)
    """Newest number of a collective, by group."""


def lags(rows: Sequence[Stands]) -> dict[int, int]:
    """Rank -> how many collectives of a group it is behind the first of that group, at most of its groups."""
    first: dict[Group, int] = {}
    for row in rows:
        for group, number in row.calls.items():
            first[group] = max(first.get(group, 0), number)
    return {
        row.rank: max(first[group] - number for group, number in row.calls.items())
        for row in rows
        if row.calls
    }


def not_recorded(seen: Seen) -> Stands | None:
    """What the process itself tells: that it is gone, or that a signal has stopped it."""
    if not seen.lives:
        return Stands(
            seen.rank, seen.pid, "gone", "ended in order" if seen.closed else "its process has ended"
        )
    if seen.stopped:
        return Stands(seen.rank, seen.pid, "stopped", f"by a signal (kill -CONT {seen.pid} lets it go on)")
    return None
