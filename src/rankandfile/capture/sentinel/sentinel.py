"""Compares the ranks of this node again and again: what their rings hold now goes in, new findings come out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rankandfile.capture.sentinel import telling, telling_slow, telling_waits
from rankandfile.capture.sentinel.divergence import CallDivergence, Pair, differing
from rankandfile.capture.sentinel.history import History
from rankandfile.capture.sentinel.late import Arrivals
from rankandfile.capture.sentinel.piling import Piles
from rankandfile.capture.sentinel.ranks import Rank, Ranks
from rankandfile.capture.sentinel.standing import waits_of
from rankandfile.capture.sentinel.transfers import unfit
from rankandfile.capture.sentinel.waits import Open, Waits, cycle, missing
from rankandfile.capture.watch.rings import Seen
from rankandfile.model.digest import Finding

#: How long the other members of a group have for coming to a call of which two are known to differ.
OTHERS_S = 1.0


@dataclass
class _Group:
    """What is remembered of one group from look to look."""

    agreed: dict[int, int] = field(default_factory=dict)
    pairs: dict[int, Pair] = field(default_factory=dict)
    looked: tuple[tuple[int, int], ...] = ()
    diverged_at: float = 0.0
    told: bool = False
    arrivals: Arrivals = field(default_factory=Arrivals)
    piles: Piles = field(default_factory=Piles)
    piled: bool = False


@dataclass
class _Program:
    """What is remembered of one program."""

    processes: dict[int, Path] = field(default_factory=dict)
    groups: dict[str, _Group] = field(default_factory=dict)
    circle: tuple[tuple[int, Open], ...] = ()
    told: set[str] = field(default_factory=set)


class Sentinel:
    """Fed with what the rings show; tells each incident once."""

    def __init__(self) -> None:
        self.ranks = Ranks()
        self._programs: dict[str, _Program] = {}

    def look(self, seen: Iterable[Seen], now: float | None = None) -> list[Finding]:
        now = time.time() if now is None else now
        self.ranks.look(seen, now)
        found: list[Finding] = []
        for name, ranks in self.ranks.programs().items():
            program = self._programs.setdefault(name, _Program())
            processes = {rank: one.seen.path for rank, one in ranks.items()}
            if any(processes.get(rank, path) != path for rank, path in program.processes.items()):
                program = self._programs[name] = _Program()  # ranks were started anew
            program.processes.update(processes)
            found += self._divergences(program, ranks, now)
            found += self._misfits(program, ranks, now)
            found += self._stuck(program, ranks, now)
            found += self._slow(program, ranks, now)
        return found

    def _divergences(self, program: _Program, ranks: Mapping[int, Rank], now: float) -> list[Finding]:
        found = []
        for group, histories in _by_group(ranks).items():
            state = program.groups.setdefault(group, _Group())
            looked = tuple((rank, one.last) for rank, one in histories.items())
            if state.told or (looked == state.looked and not state.diverged_at):
                continue
            state.looked = looked
            divergence = differing(histories, state.agreed, state.pairs)
            if divergence is None:
                continue
            state.diverged_at = state.diverged_at or now
            if not _all_there(divergence, group, ranks) and now - state.diverged_at < OTHERS_S:
                continue
            state.told = True
            found.append(telling.desync(divergence, group, ranks, now))
        return found

    def _misfits(self, program: _Program, ranks: Mapping[int, Rank], now: float) -> list[Finding]:
        """Sends and receives that meet, and cannot be one transfer."""
        found = []
        for lane in sorted({lane for one in ranks.values() for lane in one.transfers.new}):
            ends = [ranks[rank] for rank in (lane.source, lane.target) if rank in ranks]
            state = program.groups.setdefault(lane.group, _Group())
            if len(ends) < 2 or state.told or any(one.transfers.blind for one in ends):
                continue
            source, target = (one.transfers for one in ends)
            if lane not in source.sends or target.received(lane) is None or lane not in target.receives:
                continue
            if (misfit := unfit(lane, source.sends[lane], target.receives[lane])) is not None:
                state.told = True
                found.append(telling_waits.misfit(misfit, ranks, now))
        for one in ranks.values():
            one.transfers.new.clear()
        return found

    def _stuck(self, program: _Program, ranks: Mapping[int, Rank], now: float) -> list[Finding]:
        waits = [wait for one in ranks.values() if (wait := waits_of(one, ranks, now)) is not None]
        here = [wait for wait in waits if not _told(wait, program)]
        gone = {rank for rank, one in ranks.items() if not one.seen.lives}
        found = [telling_waits.missing(one, ranks, now) for one in missing(here, gone)]
        circle = cycle(here)
        told = tuple((one.rank, one.call) for one in circle)
        if circle and told == program.circle:
            found.append(telling_waits.order(circle, ranks, now))
        program.circle = told
        new = [one for one in found if one.id not in program.told]
        program.told |= {one.id for one in new}
        return new

    def _slow(self, program: _Program, ranks: Mapping[int, Rank], now: float) -> list[Finding]:
        """Nothing of it is wrong yet: one rank keeps the others waiting, or does not keep up with them."""
        found = []
        for group, histories in _by_group(ranks).items():
            state = program.groups.setdefault(group, _Group())
            here = {rank: one for rank, one in histories.items() if one.calls}
            expected = {rank for one in here for rank in ranks[one].members[group] if rank in ranks}
            if state.told or len(here) < 2 or here.keys() != expected or not _all_live(here, ranks):
                continue
            if any(one.unsure for one in here.values()):
                continue
            found += [telling_slow.behind(one, group, ranks, now) for one in state.arrivals.look(here)]
            pile = None if state.piled else state.piles.look(here, now)
            if pile is not None:
                state.piled = True
                found.append(telling_slow.storm(pile, group, ranks, now))
        return found


def _all_live(here: Iterable[int], ranks: Mapping[int, Rank]) -> bool:
    return all(ranks[rank].seen.lives for rank in here)


def _by_group(ranks: Mapping[int, Rank]) -> dict[str, dict[int, History]]:
    found: dict[str, dict[int, History]] = {}
    for rank, one in sorted(ranks.items()):
        for group, history in one.groups.items():
            found.setdefault(group, {})[rank] = history
    return found


def _all_there(divergence: CallDivergence, group: str, ranks: Mapping[int, Rank]) -> bool:
    """All members that can still come have come to the call."""
    members = next(one.members[group] for one in ranks.values() if group in one.members)
    there = {rank for side, _ in divergence.sides for rank in side}
    return all(rank in there for rank in members if rank not in ranks or ranks[rank].seen.lives)


def _told(wait: Waits, program: _Program) -> bool:
    """Of a group in which ranks have parted, what follows from it is not told too."""
    return any(call.group in program.groups and program.groups[call.group].told for call in wait.calls)
