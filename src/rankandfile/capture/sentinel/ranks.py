"""The ranks of this node, by their rings: read again and again, each keeps what it called in each group."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rankandfile.capture.sentinel.history import Call, History
from rankandfile.capture.sentinel.tail import Tail
from rankandfile.capture.sentinel.transfers import (
    ANYBODY,
    MOST_THREADS,
    RECEIVE_ANY,
    SEND,
    Lane,
    Transfer,
    Transfers,
    size_of,
)
from rankandfile.capture.sentinel.words import Reading, number_of
from rankandfile.capture.watch.processes import environment
from rankandfile.capture.watch.rings import NO_RING, Seen
from rankandfile.model.digest import Group
from rankandfile.model.ranks import brief_ranks, format_ranks
from rankandfile.wire import layout
from rankandfile.wire.layout import Record

#: What all ranks of a program were told alike, and those of another one beside it were not.
_TOLD = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "WORLD_SIZE")
#: So many groups the recorder remembers.
MOST_GROUPS = 10_000
#: What a report has room for, of the members of a group.
_MEMBERS = 3_900


@dataclass
class Rank:
    """One process."""

    rank: int
    tail: Tail
    reading: Reading
    seen: Seen
    program: str
    groups: dict[str, History] = field(default_factory=dict)
    """By the id of the group."""
    told: dict[str, Group] = field(default_factory=dict)
    members: dict[str, tuple[int, ...]] = field(default_factory=dict)
    newest: Record | None = None
    """Its newest call."""
    pulse: Record | None = None
    moved: float = 0.0
    calls: int = 0
    step: int = 0
    count: int | None = None
    """The number of the step, where the program tells one."""
    phase: tuple[int, str] | None = None
    """What the program says it does, and with which record it said so."""
    transfers: Transfers = field(default_factory=Transfers)
    lanes: dict[int, tuple[Lane, int]] = field(default_factory=dict)
    """Of open sends and receives: by number in the ring, the lane, and their number there."""
    made: dict[str, int] = field(default_factory=dict)
    """How often a group was made anew."""
    threads: dict[int, int] = field(default_factory=dict)
    """Who made the newest collective, by number of the group."""
    _transfers_seen: dict[int, int] = field(default_factory=dict)
    _ids: dict[int, tuple[str, int]] = field(default_factory=dict)
    """By number in the ring: the group, and how many calls were made on those of its name before."""

    def look(self, now: float) -> None:
        """Raises OSError where the ring is gone."""
        new = self.tail.read()
        self.transfers.blind |= self.tail.lost
        if self.tail.over:
            self.moved = now
        for record in new:
            if record.kind == layout.PULSE:
                self.pulse = record
                continue
            self.moved, self.step = now, record.step
            if record.kind == layout.STEP:
                self.count = record.out_elements - 1 if record.out_elements else None
            elif record.kind == layout.DECISION and 0 < record.out_elements <= len(layout.PHASES):
                self.phase = (record.number, layout.PHASES[record.out_elements - 1])
            if record.kind == layout.CALL:
                self.calls += 1
                self.newest = record
                self._add(record)
        for record, raised in self.tail.over:
            if record.flags & layout.P2P:
                place = self.lanes.pop(record.number, None)
                self.transfers.blind |= raised
                if place is not None:
                    self.transfers.end(record.op, *place, now)
            elif record.group in self._ids:
                group, before = self._ids[record.group]
                self.groups[group].end(before + record.seq)
        if len(self.lanes) > len(self.tail.open):  # some are not in the ring any more
            self.lanes = {number: self.lanes[number] for number in self.lanes.keys() & self.tail.open.keys()}

    def _add(self, record: Record) -> None:
        if record.flags & layout.P2P:
            self._transfer(record)
            return
        self.threads[record.group] = record.thread
        if not self._known(record.group):
            return
        group, before = self._ids[record.group]
        asked, came = self.reading.asked(record), self.reading.came(record.stack)
        self.groups[group].add(
            before + record.seq,
            Call(
                asked.number, came.number, record.stack, record.wall_ns, record.thread, asked.words,
                bool(record.flags & layout.CAPTURED),
            ),
        )  # fmt: skip

    def _transfer(self, record: Record) -> None:
        expected, self._transfers_seen[record.group] = (
            self._transfers_seen.get(record.group, 0) + 1,
            record.p2p_seq,
        )
        if len(self.transfers.threads) < MOST_THREADS:
            self.transfers.threads.add(record.thread)
        peer = self._peer(record)
        if record.p2p_seq != expected or peer is None or record.flags & layout.CAPTURED:
            self.transfers.blind = True
            return
        group, device = self._ids[record.group][0], bool(record.flags & layout.ON_DEVICE)
        ends = (self.rank, peer) if record.op == SEND else (peer, self.rank)
        # Transfers of a device have no tags: what a program gives is not looked at.
        lane = Lane(group, self.made[group], *ends, 0 if device else record.splits, device)
        asked = self.reading.asked(record)
        size = size_of(self.tail.table.get(layout.SHAPE, {}).get(record.shape))
        number = self.transfers.add(
            record.op, lane, Transfer(0, size, asked.words, record.stack, record.wall_ns)
        )
        if number:
            self.lanes[record.number] = lane, number

    def _peer(self, record: Record) -> int | None:
        """The rank with which a transfer is; None where nothing tells."""
        # Of ever more groups, those in use are told anew, and counted anew, on each rank at another time.
        if not self._known(record.group) or record.group > MOST_GROUPS:
            return None
        if record.op == RECEIVE_ANY:
            return ANYBODY
        members = self.members[self._ids[record.group][0]]
        return members[record.peer] if 0 <= record.peer < len(members) else None

    def _known(self, number: int) -> bool:
        """Not a group whose members are not told: it could be any of its name."""
        if number not in self._ids:
            row = self.tail.table.get(layout.GROUP, {}).get(number)
            if row is None or len(row) < 6 or not isinstance(row[2], list) or not row[2]:
                return False
            name, description, members = str(row[0]), str(row[1]), tuple(map(int, row[2]))
            group = f"{number_of((name, members)):014x}"
            # A group that is destroyed and made anew can get the same name, and is counted from the start.
            before = self.groups.setdefault(group, History()).last
            self._ids[number] = group, before
            self.made[group] = self.made.get(group, -1) + 1
            self.members[group] = members
            # Members are told in order; where a group has another one, peers are others than they seem.
            self.transfers.blind |= (row[4], self.rank) not in enumerate(members)
            self.told[group] = Group(
                id=group, name=name, description=description, size=len(members),
                members=brief_ranks(format_ranks(members), _MEMBERS),
            )  # fmt: skip
        return True

    def place(self, record: Record) -> tuple[str, int] | None:
        """The group of a call, and its number there."""
        if record.group not in self._ids:
            return None
        group, before = self._ids[record.group]
        return group, before + record.seq


@dataclass
class Ranks:
    """All that record on this node."""

    known: dict[Path, Rank] = field(default_factory=dict)
    """By ring."""

    def look(self, seen: Iterable[Seen], now: float) -> None:
        there = {one.path: one for one in seen if one.rank >= 0 and one.path != NO_RING}
        for path in self.known.keys() - there.keys():
            del self.known[path]
        for path, one in there.items():
            rank = self.known.get(path)
            if rank is None or rank.rank != one.rank:
                tail = Tail(path)
                rank = self.known[path] = Rank(one.rank, tail, Reading(tail.table), one, _program(one.pid))
            rank.seen = one
            with contextlib.suppress(OSError):
                rank.look(now)

    def programs(self) -> dict[str, dict[int, Rank]]:
        """Ranks that belong together, by rank. A node can run several programs, beside or after each other."""
        found: dict[str, list[Rank]] = {}
        for rank in self.known.values():
            if rank.tail.header is not None:
                found.setdefault(rank.program or f"parent {rank.tail.header.parent}", []).append(rank)
        return {name: one for name, those in found.items() if (one := _at_once(those))}


def _program(pid: int) -> str:
    """Empty where nothing tells."""
    told = environment(pid)
    return "\0".join(told.get(name, "") for name in _TOLD) if told.get("MASTER_PORT") else ""


def _at_once(ranks: Sequence[Rank]) -> dict[int, Rank]:
    """Without those that had ended before others began: they are of a run before this one."""
    heads = {id(rank): rank.tail.header for rank in ranks}
    begun = max((head.wall_ns for head in heads.values() if head is not None), default=0)
    there = [
        rank
        for rank in ranks
        if (head := heads[id(rank)]) is not None and (rank.seen.lives or head.beat_ns >= begun)
    ]
    by_rank: dict[int, Rank] = {}
    for rank in there:
        if rank.rank in by_rank:
            return {}  # two processes say that they are the same rank: who is compared with whom?
        by_rank[rank.rank] = rank
    return by_rank
