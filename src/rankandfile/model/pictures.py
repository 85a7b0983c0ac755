"""What is drawn of a diagnosis: the score, the graph of waits and the tree of stacks. Columns and numbers, no pixels.

Every list is bounded, so that a picture of 16k ranks is as small as one of 16: ranks that look alike share a row.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from .diagnosis import Struct

Role = Literal["culprit", "victim", ""]

#: A cell of a track: 0 where there is no call, else 1 + 4 * kind + state, the state as in `STATES`.
STATES_OF_CELLS = ("issued", "started", "completed", "ended")


class Frames(Struct):
    """Frames of the stacks, a column each."""

    function: list[str] = msgspec.field(default_factory=list)
    file: list[str] = msgspec.field(default_factory=list)
    line: list[int] = msgspec.field(default_factory=list)
    library: list[bool] = msgspec.field(default_factory=list)
    """Not the program's own: torch's, the interpreter's, or installed."""


class Kinds(Struct):
    """The different calls of the score, a column each: cells only number them."""

    op: list[str] = msgspec.field(default_factory=list)
    group: list[str] = msgspec.field(default_factory=list)
    detail: list[str] = msgspec.field(default_factory=list)
    """Sizes and dtypes, as one of these calls had them."""
    site: list[int | None] = msgspec.field(default_factory=list)
    """A row of `Frames`."""
    stack: list[list[int]] = msgspec.field(default_factory=list)
    """Rows of `Frames`, innermost first, as one of these calls had them; empty where none was recorded."""


class Track(Struct):
    """A row of the score: ranks whose calls look alike."""

    ranks: str
    count: int
    role: Role
    path: int
    """0 for those who went the normal way, else the number of their own."""
    cells: bytes
    """Two bytes a column, low byte first, from the sheet's first column on; what is missing at the end is 0."""
    seams: list[tuple[int, int]] = msgspec.field(default_factory=list)
    """Once calls that belong together are put below each other: from which column on it moves how far right."""
    alike: bool = True
    """False: these ranks end alike, but differ somewhere else in what is shown."""


class Sheet(Struct):
    """One way to lay out the calls: those of one group by their number, or all calls of each rank in order."""

    title: str
    numbered_by: Literal["seq", "call"]
    first: int
    """The number of the first column."""
    columns: int
    tracks: list[Track]
    diverged_at: int | None = msgspec.field(name="parted", default=None)
    """The number at which the ranks diverged."""
    focus: int | None = None
    """The number to look at first."""
    earlier: int = 0
    """Columns that are not shown because there are too many, before the first."""
    later: int = 0
    left_out: int = 0
    """Ranks that are not shown because there are too many different rows."""


class Score(Struct):
    kinds: Kinds
    frames: Frames
    sheets: list[Sheet]
    """The one that shows the divergence first."""


class WaitNode(Struct):
    """Ranks that wait alike, or a call that everyone has joined and that does not end."""

    ranks: str
    count: int
    role: Role
    says: list[str] = msgspec.field(default_factory=list)
    """The calls that these ranks wait in, or what is the matter with the call."""
    call: str = ""
    """Of a call: its name. Empty for ranks."""


class WaitEdge(Struct):
    """The nodes by number: `source` cannot go on until `target` does."""

    source: int
    target: int
    known: bool = True
    """False: nothing tells whether the target has joined."""
    cycle: bool = False


class WaitGraph(Struct):
    nodes: list[WaitNode] = msgspec.field(default_factory=list)
    edges: list[WaitEdge] = msgspec.field(default_factory=list)
    left_out: int = 0
    """Ranks that wait too and are not drawn."""


class StackNode(Struct):
    """A frame of the merged stacks, and who is in it."""

    function: str
    file: str
    line: int
    library: bool
    parent: int
    """-1 for a root; parents come before their children."""
    ranks: str
    count: int
    culprits: int


class StackGroup(Struct):
    """Ranks that stand in the same place, in words."""

    ranks: str
    says: str
    stack: list[tuple[str, str, int]]
    """Function, file and line, innermost first."""


class StackTree(Struct):
    taken_from: Literal["stacks", "watchdogs", "calls", "nothing"] = "nothing"
    """stacks: somebody looked at the processes. calls: where the calls were made that did not end."""
    nodes: list[StackNode] = msgspec.field(default_factory=list)
    groups: list[StackGroup] = msgspec.field(default_factory=list)
    left_out: int = 0
    """Frames that are not drawn because there are too many."""


class Pictures(Struct):
    score: Score
    waits: WaitGraph
    stacks: StackTree
