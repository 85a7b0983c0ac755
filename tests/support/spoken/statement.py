"""One statement of an output about ranks, as a reader understands it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "waits",
    "waits somewhere",
    "left the loop",
    "made",
    "never",
    "skipped",
    "done",
    "ended",
    "ended well",
    "raised",
    "stands",
    "logged",
    "took",
    "left out",
    "did",
    "nth",
    "size",
]


@dataclass(frozen=True, kw_only=True)
class Named:
    """A call as words name it; None is what they leave open."""

    op: str | None = None
    file: str | None = None
    line: int | None = None
    group: str | None = None
    members: frozenset[int] = frozenset()
    """Of the group, where the words list them."""
    seq: int | None = None


@dataclass(frozen=True, kw_only=True)
class Spoken:
    kind: Kind
    ranks: tuple[int, ...]
    call: Named | None = None
    what: str = ""
    """How a process ended, what was raised or logged, what a headline says that ranks did."""
    file: str = ""
    line: int = 0
    truth: bool | None = None
    """Of a test that was taken or not."""
    nth: int = 0
    """Of a call that was made: which one of its path it is said to be."""
    words: str = ""
    """The clause that says it."""
