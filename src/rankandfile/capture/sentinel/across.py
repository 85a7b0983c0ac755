"""The sentinels of a job's nodes among themselves, where the nodes meet anyway.

Once a second each node leaves its rows. The one that speaks for all compares them; where two rows of a group differ, it
asks for the calls of both between the numbers at which they agree and differ, and finds the first one among them.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct

from rankandfile.capture.meet.nodes import Nodes
from rankandfile.capture.meet.where_to_meet import MeetingPlace
from rankandfile.capture.sentinel.clocks import Clocks
from rankandfile.capture.sentinel.digests import digest
from rankandfile.capture.sentinel.history import Call, History
from rankandfile.capture.sentinel.parting import Parted, differing
from rankandfile.capture.sentinel.ranks import Rank
from rankandfile.capture.sentinel.telling import group_name
from rankandfile.capture.sentinel.tree import Row, apart, merged, rows_of
from rankandfile.model.digest import Finding, Frame

#: Between two rounds; how often it is asked who is there; how long a word stands.
EVERY_S, MEMBERS_S, FRESH_S = 1.0, 5.0, 10.0
#: Calls that are handed over of one group: what leads to the first difference, and its past.
BEFORE, MOST = 64, 1024


class Handed(Struct, frozen=True, array_like=True):
    """A call, as another node is told of it; its path by its place in `Excerpt.paths`."""

    asked: int
    path: int
    wall_ns: int
    words: str
    place: int


class Excerpt(Struct, frozen=True):
    """Calls of one group, without gaps."""

    ranks: tuple[int, ...]
    """Those of the node that have made the same ones."""
    first: int
    calls: tuple[Handed, ...]
    paths: tuple[tuple[Frame, ...], ...]


class Word(Struct, frozen=True, omit_defaults=True):
    """What a node leaves."""

    first: int = 1 << 30
    """Its lowest rank: the node with the lowest of all compares."""
    count: int = 0
    """How often it has spoken."""
    rows: tuple[Row, ...] = ()
    names: dict[str, str] = {}
    """Id of a group -> how people call it."""
    asks: dict[str, tuple[int, int]] = {}
    """Of whoever speaks: group -> the numbers between which calls are wanted."""
    handed: dict[str, tuple[Excerpt, ...]] = {}
    told: tuple[str, ...] = ()
    """Groups of which the node has told by itself."""
    host: str = ""
    time: float = 0.0
    """When this was said, by the clock of its host."""
    ends: str = ""
    """It ends the job, and why: so do the others."""


class Found(NamedTuple):
    group: str
    name: str
    parted: Parted
    excerpts: Mapping[int, Excerpt]


class Across:
    """One node's end. A thread of its own speaks with the place, which may be slow, or go away; whoever watches sets
    `own` and takes from `found`."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self.own = Word()
        self.asks: dict[str, tuple[int, int]] = {}
        """Of which groups calls are wanted now."""
        self.found: deque[Found] = deque()
        self.clocks: deque[Finding] = deque()
        """Those that are apart."""
        self.ended: str = ""
        """Another node ends the job, and why."""
        self._clocks = Clocks()
        self._told: set[str] = set()
        self._members: list[str] = []
        self._heard_last: dict[str, tuple[bytes, float]] = {}
        self._looked, self._count = -MEMBERS_S, 0
        threading.Thread(target=self._run, name="raf-sentinel", daemon=True).start()

    def _run(self) -> None:
        try:
            place = self._nodes.meeting_place()
            while not self._nodes.lost:
                time.sleep(EVERY_S)
                self._round(place)
        except OSError:
            return  # `Nodes` says that the others are out of sight

    def _round(self, place: MeetingPlace) -> None:
        """Raises OSError where the place is gone."""
        mine, now = self.own, time.monotonic()
        if now - self._looked > MEMBERS_S:
            self._looked = now
            self._members = [name for name in place.members() if name != self._nodes.own]
        fresh = {name: word for name in self._members if (word := self._heard(place, name, now)) is not None}
        first = min(fresh, key=lambda name: fresh[name].first, default=None)
        if first is None or mine.first < fresh[first].first:
            self.asks = self._compare([mine, *fresh.values()])
            hosts = {name: word.host for name, word in fresh.items() if word.host != mine.host}
            if (apart := self._clocks.apart(hosts, mine.host, time.time())) is not None:
                self.clocks.append(apart)
        else:
            self.asks = fresh[first].asks
        self.ended = self.ended or next((word.ends for word in fresh.values() if word.ends), "")
        self._count += 1
        mine = msgspec.structs.replace(mine, asks=self.asks, count=self._count, time=time.time())
        place.put(f"{self._nodes.own}/watch", msgspec.msgpack.encode(mine))

    def _heard(self, place: MeetingPlace, name: str, now: float) -> Word | None:
        """What another says, if it has said something new lately: an earlier attempt leaves its last words."""
        data = place.get(f"{name}/watch") or b""
        before = self._heard_last.get(name)
        if before is None or before[0] != data:
            # What is there when we come may be old.
            self._heard_last[name] = before = (data, now if before is not None else -FRESH_S)
        word = _read(data) if now - before[1] < FRESH_S else None
        if word is not None and before[1] == now and word.time:
            self._clocks.hear(name, word.time, time.time())
        return word

    def _compare(self, words: Sequence[Word]) -> dict[str, tuple[int, int]]:
        """Which calls are wanted."""
        self._told.update(group for word in words for group in word.told)
        differ = [
            one
            for one in apart(merged(row for word in words for row in word.rows))
            if one.group not in self._told
        ]
        for one in differ:
            excerpts = {
                rank: excerpt
                for word in words
                for excerpt in word.handed.get(one.group, ())
                for rank in excerpt.ranks
            }
            histories = {id(excerpt): _history(excerpt) for excerpt in excerpts.values()}
            parted = differing({rank: histories[id(told)] for rank, told in excerpts.items()}, {}, {})
            if parted is not None:
                self._told.add(one.group)
                name = next((word.names[one.group] for word in words if one.group in word.names), one.group)
                self.found.append(Found(one.group, name, parted, excerpts))
        return {one.group: (one.after, one.by) for one in differ}


def _read(data: bytes) -> Word | None:
    """What another has left, which may be anything."""
    try:
        return msgspec.msgpack.decode(data, type=Word)
    except (msgspec.DecodeError, RecursionError):
        return None


def _history(excerpt: Excerpt) -> History:
    history = History(first=excerpt.first, base=excerpt.first - 1)
    for number, one in enumerate(excerpt.calls, excerpt.first):
        history.add(number, Call(one.asked, one.path, one.place, one.wall_ns, 0, one.words))
    return history


def word_of(ranks: Mapping[int, Rank], asks: Mapping[str, tuple[int, int]], told: Sequence[str]) -> Word:
    """What this node has now; of the groups that are asked for, the calls too."""
    now = time.time()
    digests = [digest(one, now) for one in ranks.values()]
    rows = merged(row for row in rows_of(digests) if not any(
        one.groups[row.group].unsure for one in ranks.values() if row.group in one.groups
    ))  # fmt: skip
    names = {group: group_name(one) for rank in ranks.values() for group, one in rank.told.items()}
    handed = {group: tuple(_excerpts(group, ranks, span)) for group, span in asks.items()}
    return Word(
        first=min(ranks, default=1 << 30), rows=tuple(rows), names=names, handed=handed, told=tuple(told),
        host=os.uname().nodename,
    )  # fmt: skip


def _excerpts(group: str, ranks: Mapping[int, Rank], span: tuple[int, int]) -> Iterator[Excerpt]:
    """One for those that have made the same calls up to there."""
    alike: dict[tuple[int, int], list[int]] = {}
    for number, rank in sorted(ranks.items()):
        history = rank.groups.get(group)
        if history is not None and history.calls:
            end = min(span[1], history.last)
            alike.setdefault((end, history.paths[max(end - history.first, 0)]), []).append(number)
    for numbers in alike.values():
        one = ranks[numbers[0]]
        if (found := _excerpt(tuple(numbers), one, one.groups[group], span)) is not None:
            yield found


def _excerpt(numbers: tuple[int, ...], rank: Rank, history: History, span: tuple[int, int]) -> Excerpt | None:
    """None where the calls are not kept any more."""
    after, by = span
    first = max(min(after, by) - BEFORE, by + BEFORE - MOST, history.first, 1)
    calls = history.from_on(first)[: by + BEFORE - first]
    if not calls or first > by:
        return None
    stacks = list(dict.fromkeys(call.stack for call in calls))
    handed = tuple(
        Handed(call.asked, call.path, call.wall_ns, call.words, stacks.index(call.stack)) for call in calls
    )
    return Excerpt(numbers, first, handed, tuple(rank.reading.came(stack).frames for stack in stacks))
