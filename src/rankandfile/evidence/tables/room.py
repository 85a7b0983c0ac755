"""How much memory what files held takes in the process that makes tables of it, and how much there is.

Decoding processes have limits that the system keeps. This process has none, and a stranger's files may be as many as
they like, each within its own bounds: so what they hold is weighed before it is kept, and what has no room is left out
and said. A weight is the most that a thing was seen to take, in all that is made of it up to the verdict.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.raw import RawDump, Repeats, Run

#: Bytes that tables and reasoning take, of each ...
_CALL = 400
_KIND = 900
_STACK = 200
_FRAME = 600
_IN_STACK = 64
_GROUP = 2200
_RUN, _MEMBER = 250, 48
_THREAD = 800
#: ... and for each byte of packed sizes, for each letter of frames and kinds, and for each byte of any other answer.
_SHAPE_BYTE, _LETTER, _BYTE = 10, 4, 9
#: The most that a byte of what repeats may take, whatever it is.
_REPEATED_BYTE = 48


class Room:
    """What this process may take for what it reads, and what of that is taken."""

    def __init__(self, most: float = float("inf")) -> None:
        self.most, self.taken = most, 0
        self._members: dict[tuple[Run, ...], list[Run]] = {}
        self._stacks: set[bytes] = set()

    def has(self, weight: int) -> bool:
        return self.taken + weight <= self.most

    def take(self, decoded: Decoded) -> bool:
        """Whether there is room for it, which it then has. What repeats in the calls of dumps is not in it: ranks
        behave alike, and only who puts them together sees what is new in each."""
        weight = decoded.bytes + _BYTE * max(0, decoded.bytes - _of_calls(decoded.dumps))
        weight += sum(_of_dump(dump) for dump in decoded.dumps)
        members = {
            tuple(config.runs): config.runs for dump in decoded.dumps for config in dump.config if config.runs
        }
        weight += sum(_of_members(runs) for runs in members if runs not in self._members)
        packed = decoded.stacks.repeats if decoded.stacks is not None else b""
        if packed not in self._stacks:
            weight += _REPEATED_BYTE * len(packed)
        if not self.has(weight):
            return False
        self.taken += weight
        self._members |= members
        self._stacks.add(packed)
        for dump in decoded.dumps:
            for config in dump.config:
                # The same list, and not one for each rank.
                config.runs = self._members[tuple(config.runs)] if config.runs else config.runs
        return True

    def give_back(self, dump: RawDump) -> None:
        """What was taken for its calls: it is not kept after all."""
        self.taken -= _of_calls([dump]) + _of_dump(dump)


def at_most(packed: bytes) -> int:
    """What a dump's calls may take for what repeats in them, without a look at it."""
    return _REPEATED_BYTE * len(packed)


def of_repeats(repeats: Repeats, frames: int, stacks: int, shapes: int, kinds: int) -> int:
    """What these take, of which so many are new."""
    letters = [len(one.function) + len(one.file) for one in repeats.frames]
    return (
        frames * _FRAME
        + _share(frames, letters, _LETTER)
        + stacks * _STACK
        + _share(stacks, list(map(len, repeats.stacks)), _IN_STACK)
        + shapes * _STACK
        + _share(shapes, list(map(len, repeats.shapes)), _SHAPE_BYTE)
        + kinds * _KIND
        + _share(kinds, [len(one.name) for one in repeats.kinds], _LETTER)
    )


def _share(new: int, lengths: Sequence[int], each: int) -> int:
    """What the new ones of these take, none of which is much longer than the others."""
    return each * sum(lengths) * new // len(lengths) if new else 0


def _of_calls(dumps: Sequence[RawDump]) -> int:
    """Bytes of an answer that are weighed as what they stand for."""
    return sum(
        len(dump.repeats) + len(dump.kinds) + len(dump.durations_ms) + sum(map(len, dump.integers))
        for dump in dumps
    )


def _of_dump(dump: RawDump) -> int:
    groups = len(dump.groups) + len(dump.config) + len(dump.status)
    return _CALL * dump.calls + _GROUP * groups + _THREAD * len(dump.threads)


def _of_members(runs: Sequence[Run]) -> int:
    return _RUN * len(runs) + _MEMBER * sum(count for _, count, _ in runs)
