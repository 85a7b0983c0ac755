"""What the stacks of all ranks say together: who waits, who stands elsewhere, and what shows that they stay."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property

import polars as pl
from msgspec import Struct

from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.activity import activities
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.verdict.moved import moved
from rankandfile.reason.waits.ended_ranks import died_first
from rankandfile.reason.waits.patience import AT_LEAST_OF_FEW_NS, is_usual
from rankandfile.reason.waits.unrecorded_waits import named_after_a_transfer
from rankandfile.reason.words import ranks_words, verb

from .by_dumps import are_of_one_group
from .kinds import known
from .places import Cohort, cohorts

#: Activities in which a rank that does not move waits for others, as far as its stack can tell.
_MAY_WAIT = ("backward", "cuda_sync", "nccl_call", "teardown")
_SEVERAL_GROUPS = re.compile(
    r"(?:^|[/\\_.])(?:device_mesh|mesh|pipelin\w*|pipe|stages?|parallel_state|mappings|tensor_parallel|tp|pp|ep|moe|experts?"
    r"|shard\w*)(?:[/\\_.]|$)",
    re.IGNORECASE,
)
_DEFAULT = "default_pg"
#: Waits in which a thread may spin: that it runs does not show that it gets on.
_SPINS = ("collective", "p2p", "nccl_call", "cuda_sync")
#: A step, a batch that comes late or a small save takes a job at work up to a few seconds: looks that are closer
#: to each other may have seen one and the same.
STILL_NS = 5_000_000_000
#: Who sleeps wakes up by itself, and a call into C, which leaves no frame, may be a sleep; a thread or process that a
#: rank waits for may be at work; and what is written, fetched or compiled comes to an end.
_MAY_WAKE = ("sleep", "user_code", "thread", "subprocess", "checkpoint", "file_io", "network_io", "compile")
#: So few ranks have nothing to make groups of.
_FEW = 2
#: A collective that gets on takes milliseconds, and seldom a part of a second.
_LONGER_THAN_A_CALL_NS = 250_000_000
#: In which a rank waits for its peers. Of a backward pass, a device, or what ends with it, its own work may be what it
#: waits for, and a step of that takes a second.
_FOR_PEERS_ALONE = ("collective", "p2p")


class WhereAllStand(Struct, frozen=True, dict=True):
    facts: Facts

    @cached_property
    def stands(self) -> dict[int, Stand]:
        """Ranks that were seen alive."""
        gone = {rank for rank in self.facts.accounts.ends if self.facts.accounts.gone(rank)}
        return {r: stand for r, stand in self.facts.hosts.items() if not stand.died and r not in gone}

    @cached_property
    def waiting(self) -> dict[int, Stand]:
        """Those that wait for other ranks, or may, and do not move."""
        return {rank: stand for rank, stand in self.stands.items() if waits(stand)}

    @cached_property
    def elsewhere(self) -> dict[int, Stand]:
        """Those that wait for nobody: held by their own host, or busy."""
        return {
            rank: stand
            for rank, stand in self.stands.items()
            if rank not in self.waiting and stand.activity != "idle"
        }

    @cached_property
    def gone(self) -> tuple[int, ...]:
        """Ranks whose process ended first, and whose end is no echo of others'."""
        accounts = self.facts.accounts
        return tuple(sorted(r for r in accounts.ends if r not in self.stands and died_first(accounts, r)))

    @cached_property
    def unseen(self) -> tuple[int, ...]:
        """Ranks of the job without a stack, that no line shows waiting."""
        known = {*self.stands, *self.gone, *self.facts.accounts.gave_up}
        return tuple(rank for rank in range(world_of(self.facts)) if rank not in known)

    @cached_property
    def heard_of_it(self) -> frozenset[int]:
        """Ranks that learned from others that something had failed, and ended upon that."""
        return frozenset(self.facts.accounts.echoes)

    @cached_property
    def cohorts(self) -> list[Cohort]:
        return cohorts(self.facts, self.stands)

    @cached_property
    def moving(self) -> tuple[int, ...]:
        return tuple(sorted(r for r, stand in self.stands.items() if moves(stand)))

    @cached_property
    def perhaps_spinning(self) -> frozenset[int]:
        """Seen once, running in a backward pass: it may compute, or spin for a device that waits for others."""
        return frozenset(
            rank
            for rank, stand in self.elsewhere.items()
            if stand.activity == "backward" and stand.moving is None and stand.running
        )

    @property
    def at_work_at_last(self) -> bool:
        """Each was seen in several looks, by a clock far enough from each other, and at the last some are at work."""
        seen = self.stands.values()
        return (
            bool(seen)
            and all(stand.moving and (stand.apart_ns or 0) >= STILL_NS for stand in seen)
            and any(stand.activity in ("user_code", "backward") for stand in seen)
        )

    @property
    def overdue(self) -> bool:
        """Somebody has waited for too long: a watchdog, whoever else watches, or the person."""
        accounts = self.facts.accounts
        return bool(accounts.gave_up or accounts.watched or self._in_vain) or self.facts.hung

    @property
    def _in_vain(self) -> tuple[int, ...]:
        """Ranks that gave up a wait by an exception, and were not seen alive: those got over it."""
        return tuple(sorted(self.facts.accounts.waited_in_vain.keys() - self.stands.keys()))

    @cached_property
    def stays(self) -> str:
        """What shows that they do not move: a few words; empty if nothing does."""
        least = AT_LEAST_OF_FEW_NS if self._may_wake else STILL_NS
        still = self.alike and self.apart_ns >= least and not moved(self.facts)
        if still and not is_usual(self.facts, self.apart_ns):
            looks = min(stand.snapshots for stand in self.stands.values())
            return f"all of them stood there in each of {looks} snapshots, over {self.apart_ns / 1e9:.0f} s"
        if self.facts.accounts.gave_up:
            return "watchdogs gave up on it"
        if self.facts.accounts.watched:
            return self.facts.accounts.watched[0].words
        if vain := self._in_vain:
            return f"{ranks_words(vain)} waited until {verb(vain, 'its', 'their')} time was over"
        if any(stand.activity == "debugger" for stand in self.elsewhere.values()):
            return "whoever is at a debugger's prompt stays there until somebody types"
        if len(self.cohorts) > 1 and self.nobody_gets_on:
            return self.nobody_gets_on
        return "that the job hung was said" if self.facts.hung else ""

    @property
    def _may_wake(self) -> bool:
        """Whether one that holds the others up may get on by itself, or by a thread that is at work for it."""
        wakes = any(stand.activity in _MAY_WAKE for stand in self.elsewhere.values())
        served = [rank for rank, stand in self.elsewhere.items() if stand.activity == "queue"]
        return wakes or bool({*served} & self._with_threads_at_work)

    @cached_property
    def _with_threads_at_work(self) -> frozenset[int]:
        """Ranks of which a thread beside the program's own was seen in what ends by itself."""
        case = self.facts.case
        rows = case.looks.filter((pl.col("role") == "other") & pl.col("rank").is_not_null())
        doing = activities(rows, case.stacks, case.frames, self.facts.code.lines)
        at_work = doing.filter(pl.col("activity").is_in(_MAY_WAKE))["stack"]
        return frozenset(rows.filter(pl.col("stack").is_in(at_work.implode()))["rank"])

    @property
    def apart_ns(self) -> int:
        """Over so long each of them was looked at."""
        return min((stand.apart_ns or 0 for stand in self.stands.values()), default=0)

    @cached_property
    def none_seen_at_work(self) -> bool:
        """Whether every rank was seen, and none of them moves or runs."""
        return bool(self.stands) and not (self.unseen or self.moving)

    @cached_property
    def have_been_set_up(self) -> frozenset[int]:
        """Ranks that have been to the setup, where the recorder makes its ring: some backends let them go."""
        rings = self.facts.case.dumps_used.filter(pl.col("format") == "ring")
        return frozenset(rings["rank"].drop_nulls().to_list())

    @cached_property
    def alike(self) -> bool:
        """Whether each was seen several times, and always in the same place: looks within a second prove no more."""
        # A job at work has ranks that wait in the same place whenever somebody looks: nobody at all may move.
        return bool(self.stands) and all(stand.moving is False for stand in self.stands.values())

    @property
    def nobody_gets_on(self) -> str:
        """What shows, of ranks that wait in different places, that none of these waits ends: every rank was seen, each
        several times in one place for longer than a call takes, and all of them wait for peers. Empty if that is not
        so; in a setup, too, which takes its time."""
        alike = self.alike and self.apart_ns >= _LONGER_THAN_A_CALL_NS and not moved(self.facts)
        for_peers = all(stand.activity in _FOR_PEERS_ALONE for stand in self.stands.values())
        if not alike or not for_peers or self.unseen or self.gone:
            return ""
        return "each was seen there several times, and nobody is left who does not wait"

    @cached_property
    def one_group(self) -> bool:
        """Whether all that they wait in is of the one group of all ranks: then the odd one out is out of line."""
        if (recorded := are_of_one_group(self.facts)) is not None:
            return recorded and not self.transfers
        reports = self.facts.accounts.reports
        groups = {report.desc or report.group for report in reports}
        if len(groups) > 1 or self.transfers:
            return False
        if groups and self.facts.accounts.gave_up >= set(self.waiting):
            return all(_DEFAULT in (report.desc, report.group) for report in reports)
        if self.facts.code.makes_groups is not None:
            return not self.facts.code.makes_groups
        names = (step.at for cohort in self.cohorts for step in cohort.path)
        few = len(self.stands) + len(self.unseen) <= _FEW
        return few and not any(_SEVERAL_GROUPS.search(name) for name in names)

    @cached_property
    def no_smaller_group_told(self) -> bool:
        """Whether nothing tells of a group but that of all ranks: neither the source nor a name on the way. Recorded
        calls and watchdogs' lines know of groups and of numbers, and tell more than a count of heads does."""
        if self.facts.call_table.calls.height or self.facts.accounts.reports:
            return False
        if self.facts.code.makes_groups is not None:
            return not self.facts.code.makes_groups
        places = (place for cohort in self.cohorts for place in cohort.places)
        return not any(
            _SEVERAL_GROUPS.search(name) for place in places for name in (place.file, place.function)
        )

    @cached_property
    def numbers(self) -> dict[int, int]:
        """Rank -> the number of the call that its watchdog gave up on, where all gave up on calls of one group."""
        told = [report for report in self.facts.accounts.reports if report.seq is not None]
        if len({report.group for report in told}) != 1:
            return {}
        return {r.rank: r.seq for r in sorted(told, key=lambda r: -(r.seq or 0)) if r.seq is not None}

    @cached_property
    def at_several_numbers(self) -> bool:
        """Whether their watchdogs gave up on calls of several numbers in one group: on one line, that is at other
        turns of a loop, or after another row of calls."""
        numbers: dict[str, set[int]] = defaultdict(set)
        for report in self.facts.accounts.reports:
            if report.seq is not None:
                numbers[report.group].add(report.seq)
        return any(len(seqs) > 1 for seqs in numbers.values())

    @cached_property
    def transfers(self) -> bool:
        """Somebody sends or receives: who stands where is a matter of roles then."""
        return any(named_after_a_transfer(stand) and not known(stand) for stand in self.stands.values())


def moves(stand: Stand) -> bool:
    """It was seen at work, or in other places. Who waits for a device or its peers may spin there."""
    spins = stand.activity in _SPINS or (stand.activity == "backward" and stand.moving is False)
    return bool(stand.moving or (stand.running and not spins))


def waits(stand: Stand) -> bool:
    if moves(stand):
        return False
    return stand.waits == "ranks" or stand.activity in _MAY_WAIT
