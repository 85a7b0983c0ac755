"""What repeats across the calls of a job, stored once: kinds, shapes, stacks and frames of all dumps together."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from rankandfile.evidence.flight.states import MEANING
from rankandfile.evidence.raw import Frame, Kind, RawDump, unpack_shape
from rankandfile.evidence.tables.frames import is_torch_frame, site_of
from rankandfile.evidence.tables.part import Part
from rankandfile.evidence.tables.room import Room, at_most, of_repeats
from rankandfile.model.known.frameworks import framework_of
from rankandfile.model.tables import STATES, schema

Numbers = npt.NDArray[np.uint32]

#: Bytes of packed shapes that are unpacked at a time.
_AT_ONCE = 1 << 19


class Repeated:
    """The small tables of a case, filled as dumps with new kinds, stacks and frames come by."""

    def __init__(self, room: Room | None = None) -> None:
        self._room = room or Room()
        self.frames: dict[Frame, int] = {}
        self.stacks: dict[tuple[int, ...], int] = {}
        self.shapes: dict[bytes, int] = {}
        """Packed, as they came."""
        self.kinds: dict[tuple[Any, ...], int] = {}
        self.threads: dict[str, int] = {}
        self._known: dict[bytes, tuple[Numbers, Numbers, Numbers]] = {}

    def has_room_for(self, part: Part) -> bool:
        """Whether this process may take what `part` adds to these tables."""
        packed = part.raw.repeats
        if packed in self._known or self._room.has(at_most(packed)):
            return True
        repeats = part.repeats
        frames = [self.frames.get(frame) for frame in repeats.frames]
        stacks = [tuple(frames[f] for f in stack) for stack in repeats.stacks]
        return self._room.has(
            of_repeats(
                repeats,
                frames.count(None),
                sum(stack not in self.stacks for stack in stacks),
                sum(shape not in self.shapes for shape in repeats.shapes),
                len(repeats.kinds),
            )
        )

    def leave_out(self, part: Part) -> None:
        """Let others have the room that was taken for it; whose it is stays told."""
        self._room.give_back(part.raw)
        part.raw = RawDump(part.raw.format, part.raw.version, rank=part.raw.rank)

    def kinds_of(self, part: Part) -> tuple[Numbers, Numbers, Numbers]:
        """Per kind of the part: its row in `kinds`, its group and its thread (both as the part numbers them)."""
        known = self._known.get(part.raw.repeats)
        if known is None:
            repeats, before = part.repeats, self._sizes()
            frames = [number(self.frames, frame) for frame in repeats.frames]
            stacks = [number(self.stacks, tuple(frames[f] for f in stack)) for stack in repeats.stacks]
            shapes = [number(self.shapes, shape) for shape in repeats.shapes]
            rows = [number(self.kinds, _kind(kind, shapes, stacks)) for kind in repeats.kinds]
            known = (
                np.array(rows, np.uint32),
                np.array([kind.group for kind in repeats.kinds], np.uint32),
                np.array([kind.thread for kind in repeats.kinds], np.uint32),
            )
            self._known[part.raw.repeats] = known
            self._room.taken += of_repeats(
                repeats, *(now - then for now, then in zip(self._sizes(), before, strict=True))
            )
        return known

    def _sizes(self) -> list[int]:
        return [len(self.frames), len(self.stacks), len(self.shapes), len(self.kinds)]


def number(numbers: dict[Any, int], value: Any) -> int:
    """The number of a value, the next free one where it is new."""
    return numbers.setdefault(value, len(numbers))


def _kind(kind: Kind, shapes: list[int], stacks: list[int]) -> tuple[Any, ...]:
    return (
        kind.name,
        kind.is_p2p,
        shapes[kind.shape],
        None if kind.stack is None else stacks[kind.stack],
        MEANING[kind.state, kind.retired],
        kind.retired,
        kind.timeout_ms,
    )


def operation(name: str) -> str:
    """What was asked for, without backend and peers: `nccl:send 0->1` is a `send`."""
    return name.partition(":")[2].split(" ", 1)[0] or name.partition(":")[0]


def kind_table(tables: Repeated) -> pl.DataFrame:
    names, is_p2p, shapes, stacks, states, retired, timeouts = zip(*tables.kinds, strict=True)
    stack = pl.Series("stack", stacks, dtype=pl.UInt32)
    sites = pl.Series([*stack_table(tables)["site"].to_list(), None], dtype=pl.UInt32)
    return pl.DataFrame(
        {
            "op": pl.Series([operation(name) for name in names], dtype=pl.Categorical),
            "name": pl.Series(names, dtype=pl.Categorical),
            "is_p2p": pl.Series(is_p2p, dtype=pl.Boolean),
            "shape": pl.Series(shapes, dtype=pl.UInt32),
            "state": pl.Series(states, dtype=STATES),
            "retired": pl.Series(retired, dtype=pl.Boolean),
            "timeout_ms": pl.Series(timeouts, dtype=pl.Int64),
            "stack": stack,
            "site": sites[stack.fill_null(len(sites) - 1)],
        }
    )


def shape_table(tables: Repeated) -> pl.DataFrame:
    """As columns a few at a time: a stranger's dump may have millions of sizes."""
    pieces = [pl.DataFrame(schema=schema("shapes"))]
    packed = list(tables.shapes)
    begin = size = 0
    for end, one in enumerate(packed, 1):
        size += len(one)
        if size > _AT_ONCE or end == len(packed):
            shapes = [unpack_shape(each) for each in packed[begin:end]]
            pieces.append(
                pl.DataFrame(
                    [
                        range(begin, end),
                        [shape.in_sizes for shape in shapes],
                        [shape.in_dtypes for shape in shapes],
                        [shape.out_sizes for shape in shapes],
                        [shape.out_dtypes for shape in shapes],
                    ],
                    schema=schema("shapes"),
                    orient="col",
                )
            )
            begin, size = end, 0
    return pl.concat(pieces)


def frame_table(tables: Repeated) -> pl.DataFrame:
    return pl.DataFrame(
        [
            range(len(tables.frames)),
            [frame.function for frame in tables.frames],
            [frame.file for frame in tables.frames],
            [frame.line for frame in tables.frames],
            [is_torch_frame(frame.file) for frame in tables.frames],
        ],
        schema=schema("frames"),
        orient="col",
    )


def stack_table(tables: Repeated) -> pl.DataFrame:
    torch_frame = [is_torch_frame(frame.file) for frame in tables.frames]
    framework = [framework_of(frame.file) is not None for frame in tables.frames]
    return pl.DataFrame(
        [
            range(len(tables.stacks)),
            [list(stack) for stack in tables.stacks],
            [site_of(stack, torch_frame, framework) for stack in tables.stacks],
        ],
        schema=schema("stacks"),
        orient="col",
    )
