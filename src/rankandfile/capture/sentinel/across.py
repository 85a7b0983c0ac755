"""The sentinels of a job's nodes among themselves, where the nodes meet anyway.

Once a second each node leaves its rows. The one that speaks for all compares them; where two rows of a group differ, it
asks for the calls of both between the numbers at which they agree and differ, and finds the first one among them. Of
many nodes some dozens are a block, and the one that speaks for all reads what the first of each block says for it.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from rankandfile.capture.meet.nodes import Nodes
from rankandfile.capture.meet.where_to_meet import MeetingPlace
from rankandfile.capture.sentinel.blocks import WIDTH, block, blocks_of, combined, word_name
from rankandfile.capture.sentinel.clocks import Clocks
from rankandfile.capture.sentinel.digests import digest
from rankandfile.capture.sentinel.divergence import CallDivergence, differing
from rankandfile.capture.sentinel.history import Call, History
from rankandfile.capture.sentinel.ranks import Rank
from rankandfile.capture.sentinel.telling import group_name
from rankandfile.capture.sentinel.tree import merged, row_divergences, rows_of
from rankandfile.capture.sentinel.words_of_nodes import Excerpt, Handed, Word, understood
from rankandfile.model.digest import Finding

#: Between two rounds; how often it is asked who is there, of many more seldom: no more than `WIDTH` names a second; how
#: long a word stands.
EVERY_S, MEMBERS_S, FRESH_S = 1.0, 5.0, 10.0
#: Calls that are handed over of one group: what leads to the first difference, and its past.
BEFORE, MOST = 64, 1024


class Found(NamedTuple):
    group: str
    name: str
    divergence: CallDivergence
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
        self._near: list[str] = []
        """The other nodes of the block."""
        self._members, self._blocks, self._number = 1, 1, 0
        self._heard_last: dict[str, tuple[bytes, float]] = {}
        self._looked, self.rounds = -MEMBERS_S, 0
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
        if now - self._looked > max(MEMBERS_S, self._members / WIDTH):
            self._looked = now
            members = {*place.members(), self._nodes.own}
            self._members, self._blocks = len(members), blocks_of(len(members))
            self._number = block(self._nodes.own, self._blocks)
            near = [name for name in sorted(members) if block(name, self._blocks) == self._number]
            self._near = [name for name in near if name != self._nodes.own]
        fresh = self._all_heard(place, {name: f"{name}/watch" for name in self._near}, now)
        first = min(fresh, key=lambda name: fresh[name].first, default=None)
        if first is None or mine.first < fresh[first].first:
            self._speak_for_all(place, mine, fresh, now)
        else:
            self.asks = fresh[first].asks
        self.ended = self.ended or next((word.ends for word in fresh.values() if word.ends), "")
        self.rounds += 1
        place.put(f"{self._nodes.own}/watch", msgspec.msgpack.encode(self._said(mine)))

    def _said(self, word: Word) -> Word:
        return msgspec.structs.replace(word, asks=self.asks, count=self.rounds, time=time.time())

    def _speak_for_all(self, place: MeetingPlace, mine: Word, fresh: Mapping[str, Word], now: float) -> None:
        """For those of the block; and for all, where no block has a lower rank."""
        words, heard = [mine, *fresh.values()], dict(fresh)
        if self._blocks > 1:
            ours = combined(words)
            others = (number for number in range(self._blocks) if number != self._number)
            heads = self._all_heard(place, {n: n for n in (word_name(k, self._blocks) for k in others)}, now)
            self.ended = self.ended or next((word.ends for word in heads.values() if word.ends), "")
            lowest = min(heads.values(), key=lambda word: word.first, default=ours)
            words = [ours, *heads.values()] if ours.first <= lowest.first else []
            heard |= heads
            self.asks = self._compare(words) if words else lowest.asks
            place.put(word_name(self._number, self._blocks), msgspec.msgpack.encode(self._said(ours)))
        else:
            self.asks = self._compare(words)
        hosts = {name: word.host for name, word in heard.items() if word.host != mine.host}
        if words and (apart := self._clocks.apart(hosts, mine.host, time.time())) is not None:
            self.clocks.append(apart)

    def _all_heard(self, place: MeetingPlace, names: Mapping[str, str], now: float) -> dict[str, Word]:
        """Who of these -> what each says under that name."""
        left = place.get_all(list(names.values()))
        heard = {who: self._heard(who, data or b"", now) for who, data in zip(names, left, strict=True)}
        return {who: word for who, word in heard.items() if word is not None}

    def _heard(self, name: str, data: bytes, now: float) -> Word | None:
        """What another says, if it has said something new lately: an earlier attempt leaves its last words."""
        before = self._heard_last.get(name)
        if before is None or before[0] != data:
            # What is there when we come may be old.
            self._heard_last[name] = before = (data, now if before is not None else -FRESH_S)
        word = understood(data) if now - before[1] < FRESH_S else None
        if word is not None and before[1] == now and word.time:
            self._clocks.hear(name, word.time, time.time())
        return word

    def _compare(self, words: Sequence[Word]) -> dict[str, tuple[int, int]]:
        """Which calls are wanted."""
        self._told.update(group for word in words for group in word.told)
        differ = [
            one
            for one in row_divergences(merged(row for word in words for row in word.rows))
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
            divergence = differing({rank: histories[id(told)] for rank, told in excerpts.items()}, {}, {})
            if divergence is not None:
                self._told.add(one.group)
                name = next((word.names[one.group] for word in words if one.group in word.names), one.group)
                self.found.append(Found(one.group, name, divergence, excerpts))
        return {one.group: (one.after, one.by) for one in differ}


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
