"""What a recorded call asked for and where from, as numbers that are the same on all ranks, and in words."""

from __future__ import annotations

import hashlib
from pathlib import PurePath
from typing import Any, NamedTuple

from rankandfile.evidence.tables.frames import is_torch_frame
from rankandfile.model.digest import MODULUS, Frame
from rankandfile.reason.calls.contracts import contract_of, terms
from rankandfile.reason.ranks.activity import CodePlace, is_library
from rankandfile.wire import layout
from rankandfile.wire.flight import name
from rankandfile.wire.layout import Record

Table = dict[bytes, dict[int, list[Any]]]

#: Functions of the program, of its framework or of torch that tell which part of a step makes a call.
_PHASES = {
    "backward": "backward",
    "_engine_run_backward": "backward",
    "save_checkpoint": "save",
    "save_state": "save",
    "save_model": "save",
    "save": "save",
    "evaluate": "evaluate",
    "evaluation": "evaluate",
    "validate": "evaluate",
    "validation_step": "evaluate",
    "forward": "forward",
}

#: Functions of torch that make a transfer, and wait for it; and where they are.
_BLOCKING, _THEIR_FILE = ("send", "recv"), "distributed_c10d.py"


class Asked(NamedTuple):
    """What a call must agree on with its peers. `number` is 0 where that was not recorded."""

    number: int
    words: str


class Came(NamedTuple):
    """The path of a call; `number` is 0 where none was recorded."""

    number: int
    frames: tuple[Frame, ...]
    phase: str | None


def number_of(told: object) -> int:
    data = repr(told).encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little") % (MODULUS - 1) + 1


class Reading:
    """Of one ring's table; each kind of call and each stack is worked out once."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._asked: dict[tuple[int, int, int, int], Asked] = {}
        self._came: dict[int, Came] = {}
        self._paths: dict[int, tuple[Frame, ...]] = {}
        self._blocks: dict[int, bool] = {}

    def asked(self, record: Record) -> Asked:
        key = (record.op, record.shape, record.peer, record.reduce_op)
        if (known := self._asked.get(key)) is None:
            known = self._asked[key] = self._ask(record)
        return known

    def _ask(self, record: Record) -> Asked:
        op = name(record.op, -1, -1)
        if op is None:
            return Asked(0, "a call")
        row = self._table.get(layout.SHAPE, {}).get(record.shape)
        shape = dict(zip(("in_sizes", "in_dtypes", "out_sizes", "out_dtypes"), row or (), strict=False))
        reduction = layout.REDUCTIONS[record.reduce_op] if record.reduce_op < len(layout.REDUCTIONS) else "?"
        free = contract_of(op).agree == "nothing" and not record.flags & layout.P2P
        words = " ".join(filter(None, [op, reduction, *([] if free else _sizes(shape))]))
        if record.flags & layout.P2P:
            return Asked(0, words)
        if record.peer >= 0:
            words += f" (root: member {record.peer})"
        if not free and len(shape) < 4:
            return Asked(0, words)
        try:
            agreed = terms(op, shape or None)
        except (TypeError, KeyError):
            return Asked(0, words)
        return Asked(number_of((tuple(agreed), record.peer, reduction)), words)

    def came(self, stack: int) -> Came:
        if (known := self._came.get(stack)) is None:
            known = self._came[stack] = self._come(stack)
            self._paths[known.number] = known.frames
        return known

    def blocks(self, stack: int) -> bool:
        """Whether a send or receive with this stack is one that returns only when it is over."""
        if (known := self._blocks.get(stack)) is None:
            known = self._blocks[stack] = self._has_blocking(stack)
        return known

    def _has_blocking(self, stack: int) -> bool:
        """Among torch's own frames, the innermost ones: `send` may call `isend`, each in a wrapper that logs."""
        for number in self._table.get(layout.STACK, {}).get(stack, [])[1:]:
            row = self._table.get(layout.FRAME, {}).get(number)
            if row is None or len(row) != 3 or not is_torch_frame(str(row[1])):
                return False
            if row[0] in _BLOCKING and str(row[1]).endswith(_THEIR_FILE):
                return True
        return False

    def path(self, number: int) -> tuple[Frame, ...]:
        """The program's frames of a path that was worked out before."""
        return self._paths.get(number, ())

    def _come(self, stack: int) -> Came:
        numbers = self._table.get(layout.STACK, {}).get(stack, [])[1:]
        rows = [self._table.get(layout.FRAME, {}).get(number) for number in numbers]
        if not rows or not all(row is not None and len(row) == 3 for row in rows):
            return Came(0, (), None)
        frames = [Frame(str(row[1]), int(row[2]), str(row[0])[:200]) for row in rows if row is not None]
        own = [one for one in frames if not is_library(CodePlace(one.function, one.file, one.line))]
        phase = next((_PHASES[one.function] for one in frames if one.function in _PHASES), None)
        # Torch's own frames follow from the program's; and nodes keep the program in different folders.
        told = [
            ("/".join(PurePath(one.file).parts[-2:]), one.line, one.function)
            for one in frames
            if not is_torch_frame(one.file)
        ]
        return Came(number_of(told), tuple(own)[:16], phase)


def _sizes(shape: dict[str, Any]) -> list[str]:
    sizes, dtypes = shape.get("in_sizes") or shape.get("out_sizes"), shape.get("in_dtypes")
    if not sizes:
        return []
    told = [str(one).replace(" ", "") for one in sizes[:2]] + [f"and {len(sizes) - 2} more"] * (
        len(sizes) > 2
    )
    kinds = sorted({str(one) for one in dtypes or shape.get("out_dtypes") or ()})
    return ["/".join(kinds), ",".join(told)]


def place(path: tuple[Frame, ...]) -> str:
    """`save.py:33 in save() < train.py:80 in main()`: the innermost lines of the program, as one reads a call."""
    told = [
        f"{one.file.rpartition('/')[2]}:{one.line}"
        + (f" in {one.function.rpartition('.')[2]}()" if one.function != "<module>" else "")
        for one in path[:3]
    ]
    return " < ".join(told) or "a place that was not recorded"
