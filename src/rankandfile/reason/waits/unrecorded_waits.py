"""Ranks that may wait for others where no recorder looks: gloo keeps no sends and receives.

A stack decides it where it can: whoever sits in a queue or computes waits for no rank, and whoever sits in a `recv`
does. The program's own line decides nothing, for a wait that is made in C leaves no frame. Then it is a matter of
what else would have to be true: that the job has groups on which nothing was recorded, that the trail ends in
several places at once, that somebody else is nowhere, that several stand in one line, that the place is named after a
transfer, or that others send and receive and no frame tells where. Any of these, and the rank is not blamed for not
having come.
"""

from __future__ import annotations

import re

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.code_read import CodeRead
from rankandfile.model.heuristics import Heuristic
from rankandfile.reason.calls.call_table import CallTable
from rankandfile.reason.calls.unrecorded_transfers import as_many_each, made_all, made_in_others
from rankandfile.reason.ranks.from_logs.accounts import Accounts
from rankandfile.reason.ranks.host import Stand

from .from_stacks.kinds import may_be_in_a_transfer
from .graph import WaitEnd, Waits

_NAMES = Heuristic("names of transfers", "a function or file called send, pipeline or stage makes transfers")
_UNSEEN = Heuristic("unrecorded waits", "a gloo rank may wait in a transfer that no recorder keeps")
_TRANSFERS = re.compile(r"recv|receive|send|p2p|exchange|transfer|pipeline|stage", re.IGNORECASE)


def unseen(
    hidden: dict[int, int],
    wait_ends: tuple[WaitEnd, ...],
    waits: Waits,
    hosts: dict[int, Stand],
    accounts: Accounts,
    case: Case,
    owed_by_nobody: frozenset[int],
) -> dict[int, int]:
    """`hidden`, with the ranks that stacks take out of it or put into it."""
    known = {rank: count for rank, count in hidden.items() if not _elsewhere(hosts.get(rank))}
    if not _of_gloo(case):
        return known
    out = dict(known)
    ends = [wait_end for wait_end in wait_ends if wait_end.kind == "absent"]
    likely = len(ends) > 1 or _groups_without_a_call(case)
    for wait_end in ends:
        together = _in_one_line(wait_end, hosts)
        for rank in wait_end.ranks:
            stand = hosts.get(rank)
            if _elsewhere(stand) or accounts.gone(rank):
                continue
            by_stack = stand is not None and (
                named_after_a_transfer(stand)
                or may_be_in_a_transfer(stand)
                or together
                or _nowhere(wait_end, waits, accounts, case, bool(hidden))
            )
            if likely or by_stack or (bool(hidden) and rank not in hosts and without_frames(case, rank)):
                out.setdefault(rank, 0)
        if len(wait_end.ranks) == 1 and wait_end.ranks[0] in owed_by_nobody:
            out.pop(wait_end.ranks[0], None)
    return known if out != known and _UNSEEN.off else out


def owed_by_nobody(
    wait_ends: tuple[WaitEnd, ...], waits: Waits, case: Case, call_table: CallTable, code: CodeRead
) -> frozenset[int]:
    """Ranks that have not come, and to whom nobody of the others owes a message. One of another group, or one that was
    let go of, somebody may owe all the same."""
    if not _of_gloo(case) or code.untold_transfers or _groups_without_a_call(case):
        return frozenset()
    alone = [end for end in wait_ends if end.kind == "absent" and len(end.ranks) == 1]
    return frozenset(end.ranks[0] for end in alone if _nobody_owes_it(end, waits, case, call_table))


def _of_gloo(case: Case) -> bool:
    return "gloo" in case.dumps_used["backend"].drop_nulls().unique().to_list()


def _nobody_owes_it(wait_end: WaitEnd, waits: Waits, case: Case, call_table: CallTable) -> bool:
    """Every other rank of the job waits in one call, and has made all its transfers of the round before it: as many as
    in its own rounds before, or as each other, if all ranks always did."""
    everyone = set(range(case.world_size or 0))
    for call in (waits.pending[index] for index in wait_end.pending):
        if call.slot is None or {*call.waiting, *wait_end.ranks} != everyone:
            continue
        if made_in_others(call_table, call.group):
            continue
        made = all(made_all(call_table, rank, call.group, call.slot) for rank in call.waiting)
        if made or as_many_each(call_table, call.waiting, call.group, call.slot):
            return True
    return False


def without_frames(case: Case, rank: int) -> bool:
    """Whether its dump is gloo's, and has no frames: that the program makes transfers, or that this rank has no part in
    them, no line of the calls around them tells then."""
    mine = case.dumps_used.filter((pl.col("rank") == rank) & (pl.col("backend") == "gloo"))
    return mine.height > 0 and not mine["has_frames"].fill_null(True).any()


def named_after_a_transfer(stand: Stand) -> bool:
    """Whether it is a send or a receive, or its place is called like one."""
    name = re.split(r"[/\\]", stand.location.file)[-1]
    named = _TRANSFERS.search(f"{stand.location.function} {name}") is not None
    return stand.activity == "p2p" or (named and not _NAMES.off)


def _elsewhere(stand: Stand | None) -> bool:
    """Its stack shows that it waits for no rank."""
    return stand is not None and (stand.waits == "no" or bool(stand.running) or bool(stand.moving))


def _in_one_line(wait_end: WaitEnd, hosts: dict[int, Stand]) -> bool:
    """Whether several stand in one line of the program, in a wait that leaves no frame: what holds up a host holds up
    one, and what ranks hand each other is waited for by some."""
    stands = [hosts[rank] for rank in wait_end.ranks if rank in hosts]
    places = {(stand.location.file, stand.location.line) for stand in stands}
    unseen = all(stand.activity == "user_code" and not stand.died for stand in stands)
    return len(stands) > 1 and len(places) == 1 and unseen


def _nowhere(wait_end: WaitEnd, waits: Waits, accounts: Accounts, case: Case, transfers: bool) -> bool:
    """Whether some other rank waits in no call that is known: it may be the one that is waited for.

    Where that rank is by now is known of one that died, in a job that made no transfer as long as it was recorded.
    """
    others = set(range(case.world_size or 0)) - set(wait_end.ranks)
    if not transfers:
        others -= {rank for rank in others if accounts.gone(rank)}
    return not others <= waits.of_rank.keys() | accounts.gave_up


def _groups_without_a_call(case: Case) -> bool:
    """Groups are numbered as they are made: a number that nobody used is a group with nothing recorded on it."""
    numbers = sorted({int(name) for name in case.groups["name"].to_list() if name and name.isdecimal()} - {0})
    return bool(numbers) and numbers != list(range(numbers[0], numbers[-1] + 1))
