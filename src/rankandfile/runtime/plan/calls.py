"""One call about to be issued, as ranks compare it: what it asks for, and by which way of the program it came."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import PurePath
from types import CodeType, FrameType
from typing import Any, NamedTuple

from rankandfile.runtime.recorder.operators import Operator
from rankandfile.runtime.recorder.stacks import DEPTH, MOST, Walked, inner, walked
from rankandfile.runtime.recorder.tables import digest, tensors

#: Who waits for all others in it; in the rest a member may be waited for by one rank only, or by nobody.
_ALL = ("allreduce", "allgather", "_allgather", "reduce_scatter", "_reduce_scatter", "alltoall", "barrier")
#: Frames that a message shows.
_SHOWN = 6


class Way(NamedTuple):
    """The frames of the program that lead to a call."""

    digest: int
    """The same on all ranks for the same lines."""
    site: str
    """The program's own line: `trainer.py:88`."""
    words: str


@dataclass(frozen=True)
class Call:
    group: str
    """Which one, the same on all its members."""
    number: int
    """Of the group's collectives, from 1."""
    op: str
    contract: int
    """What must be the same on all members: operation, sizes, root, reduction."""
    identity: int
    """What must be as it was in the plan: contract, or without the sizes where these are dynamic; and the way."""
    way: Way
    waits_for: tuple[int, ...]
    """Ranks without which it cannot end, where that is certain."""
    at: float
    """When this rank came to it, in seconds since 1970."""

    @property
    def words(self) -> str:
        return f"{self.op} from {self.way.words}"


class Ways:
    """Ways by their frames; each is described once."""

    def __init__(self) -> None:
        self._known: dict[Walked, Way] = {}
        self._kept: list[CodeType] = []
        self._lock = threading.Lock()

    def of(self, frame: FrameType | None) -> Way:
        key = walked(frame)
        return self._known.get(key) or self._learn(key, frame)

    def _learn(self, key: Walked, frame: FrameType | None) -> Way:
        lines: list[tuple[str, int, str]] = []
        codes: list[CodeType] = []
        while frame is not None and len(lines) < DEPTH:
            code = frame.f_code
            codes.append(code)
            if not inner(code.co_filename):
                lines.append((code.co_filename, frame.f_lineno or 0, code.co_name))
            frame = frame.f_back
        way = _described(lines)
        with self._lock:
            if len(self._known) < MOST:
                self._kept += codes  # an id stays true as long as its object lives
                self._known[key] = way
        return way


def _described(lines: list[tuple[str, int, str]]) -> Way:
    told = [f"{'/'.join(PurePath(file).parts[-2:])}:{line}:{name}" for file, line, name in lines]
    own = [one for one in lines if "site-packages" not in one[0]] or lines
    site = f"{PurePath(own[0][0]).name}:{own[0][1]}" if own else "?"
    shown = [f"{PurePath(file).name}:{line} in {name}" for file, line, name in own[:_SHOWN]]
    return Way(digest("|".join(told)), site, " < ".join(shown) or "no line of Python")


def contract_of(operator: Operator, arguments: tuple[Any, ...]) -> tuple[int, int]:
    """A digest of what members must agree on, and the same without sizes."""
    peer = arguments[operator.peer] if operator.peer >= 0 else -1
    reduction = int(arguments[operator.reduce_op].op()) if operator.reduce_op >= 0 else 0
    bare = hash((operator.number, peer, reduction))
    if operator.free_sizes:
        return bare, bare
    sizes = tuple([(tensor.numel(), str(tensor.dtype)) for tensor in tensors(arguments[operator.inputs])])
    known = _DIGESTS.get((bare, sizes))
    if known is None:
        if len(_DIGESTS) > MOST:
            _DIGESTS.clear()
        # Not `hash`: texts have another in each process.
        known = _DIGESTS[(bare, sizes)] = digest(repr((bare, sizes)))
    return known, bare


_DIGESTS: dict[Any, int] = {}


def is_sync(operator: Operator, arguments: tuple[Any, ...]) -> bool:
    """The caller waits for it at once, as far as the call tells."""
    return 0 <= operator.sync < len(arguments) and not arguments[operator.sync]


def pair(operator: Operator, arguments: tuple[Any, ...], ranks: tuple[int, ...], me: int) -> str:
    """Sender and receiver of a message."""
    peer = ranks[arguments[operator.peer]] if operator.peer >= 0 else -1
    return f"{me}>{peer}" if operator.name == "send" else f"{peer}>{me}"


def waits_for(
    operator: Operator, arguments: tuple[Any, ...], ranks: tuple[int, ...], me: int
) -> tuple[int, ...]:
    """Who must make it before it can end; empty where that is not certain, or may be nobody."""
    if operator.name.startswith(_ALL):
        return tuple(rank for rank in ranks if rank != me)
    if operator.name in ("broadcast_", "recv_") and ranks[arguments[operator.peer]] != me:
        return (ranks[arguments[operator.peer]],)
    return ()
