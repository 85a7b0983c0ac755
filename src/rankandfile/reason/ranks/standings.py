"""One standing per rank, from the best that tells it: its end, its calls, its stack, its watchdog's lines, or nothing.

Ranks of which the same is told are one line: a job of 16k ranks stands in a handful of places.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Literal, NamedTuple

from rankandfile.model.diagnosis import Location, Standing
from rankandfile.model.ranks import format_ranks
from rankandfile.reason.facts import Facts
from rankandfile.reason.lookup import evidence_of
from rankandfile.reason.waits.in_words import call_phrase, pending_row

from .activity import at
from .did_instead import location_of, world_of
from .from_logs.nccl_setups import setups
from .from_logs.ras_counts import Launches, launches
from .missing_dumps import absent_ranks, reasons

_MOST_LINES = 64
_MOST_REASONS = 512
_LONGEST, _LONGEST_ERROR, _LONGEST_WAIT = 80, 160, 200
_NUMBER = re.compile(r"\d+")


class _Told(NamedTuple):
    standing: Standing
    """Of one rank; `ranks` is filled in when those alike are put together."""

    @property
    def key(self) -> tuple[object, ...]:
        one = self.standing
        place = one.location
        return one.state, one.what, one.moving, place and (place.file, place.line)


def standings(facts: Facts) -> list[Standing]:
    """Where every rank of the job is; the fewest alike first."""
    everyone = range(world_of(facts))
    alike: dict[tuple[object, ...], tuple[Standing, list[int]]] = {}
    silent: list[int] = []
    by_nccl = _by_nccl(facts) if not facts.call_table.calls.height else {}
    for rank in everyone:
        one = _ended(facts, rank) or _of_calls(facts, rank) or _of_stack(facts, rank) or _of_log(facts, rank)
        one = one or by_nccl.get(rank)
        if one is None:
            silent.append(rank)
            continue
        alike.setdefault(_Told(one).key, (one, []))[1].append(rank)
    found = [_of(one, ranks) for one, ranks in alike.values()]
    found.sort(key=lambda one: (one.ranks.count(","), one.ranks))
    found = sorted(found, key=lambda one: len(alike[_Told(one).key][1]))
    return [*found, *_unknown(facts, silent)][:_MOST_LINES]


def _of(one: Standing, ranks: list[int]) -> Standing:
    one.ranks = format_ranks(ranks)
    if len(ranks) > 1:
        one.what = one.what.replace("waiting for its ", "waiting for their ")
    return one


def _ended(facts: Facts, rank: int) -> Standing | None:
    end = facts.accounts.ends.get(rank)
    if end is None or not facts.accounts.gone(rank):
        return None
    return Standing(ranks="", state="gone", what=end.words, told_by="exit", evidence=list(end.evidence[:2]))


def _of_calls(facts: Facts, rank: int) -> Standing | None:
    """The call it cannot get past. Its stack, where there is one, only says the same with more words."""
    calls = [facts.waits.pending[index] for index in facts.waits.of_rank.get(rank, ())]
    if not calls:
        return None
    row = pending_row(facts, calls[0])
    stand = facts.hosts.get(rank)
    return Standing(
        ranks="",
        state="waits",
        what=f"in the {call_phrase(facts, calls[0])}",
        moving=stand.moving if stand is not None else None,
        told_by="calls",
        evidence=[evidence_of(row)] if row else [],
    )


def _of_stack(facts: Facts, rank: int) -> Standing | None:
    stand = facts.hosts.get(rank)
    if stand is None:
        return None
    moving = stand.moving if stand.moving is not None else (True if stand.running else None)
    waits = stand.waits == "ranks" and not moving
    return Standing(
        ranks="",
        state="gone" if stand.died else "waits" if waits else "stands",
        what=stand.words,
        moving=moving,
        told_by="stack",
        location=Location(
            file=stand.location.file, line=stand.location.line, function=stand.location.function
        ),
        evidence=list(stand.evidence[:2]),
    )


def _of_log(facts: Facts, rank: int) -> Standing | None:
    """What its watchdog gave up on, or what it raised; else the last thing that it said."""
    accounts = facts.accounts
    report = next((r for r in accounts.of_rank.get(rank, ()) if r.seq is not None), None)
    if report is not None:
        what = f"in {report.op or 'a call'} #{report.seq} of {report.desc or report.group}"
        return Standing(ranks="", state="waits", what=what, told_by="log", evidence=[report.evidence])
    waited = accounts.waited_in_vain.get(rank)
    if waited is not None and rank not in accounts.raised:
        where = f" in {waited.place.function}, {at(waited.place)}" if waited.place is not None else ""
        what = f"waited{where} until its time was over: {waited.words}"
        return Standing(
            ranks="",
            state="waits",
            what=what if len(what) <= _LONGEST_WAIT else what[: _LONGEST_WAIT - 1] + "…",
            told_by="log",
            location=location_of(waited.place),
            evidence=list(waited.evidence[:2]),
        )
    for words, errors in (
        ("raised ", accounts.raised),
        ("its device failed: ", accounts.device),
        ("its link failed: ", accounts.link),
        ("lost a peer: ", accounts.echoes),
        ("lost a peer: ", accounts.lost_peers),
    ):
        if (error := errors.get(rank)) is not None:
            # What the program caught ended nobody.
            ended = errors is accounts.raised and rank not in accounts.caught
            state: Literal["gone", "unknown"] = "gone" if ended else "unknown"
            what = f"{words}{_short(error.words)}"
            return Standing(
                ranks="", state=state, what=what, told_by="log", evidence=list(error.evidence[:2])
            )
    return None


def _short(words: str) -> str:
    return words if len(words) <= _LONGEST_ERROR else f"{words[: _LONGEST_ERROR - 1]}…"


def _by_nccl(facts: Facts) -> dict[int, Standing]:
    """Where NCCL's own words put each rank: in the setup of the communicator of all, or at a number of launches."""
    world = world_of(facts)
    out: dict[int, Standing] = {}
    for comm, setup in setups(facts.case).items():
        for rank, evidence in setup.begun.items() if setup.size == world and not setup.completed else ():
            what = f"in NCCL's setup of the communicator {comm}"
            out[rank] = Standing(ranks="", state="waits", what=what, told_by="log", evidence=[evidence])
    latest: dict[str, Launches] = {}
    for count in launches(facts.case, facts.accounts, world):
        if count.size == world and count.of_rank and count.usual >= latest.get(count.op, count).usual:
            latest[count.op] = count
    for rank in range(world) if latest else ():
        told = (
            f"{c.of_rank.get(rank, c.usual)} launches of {c.op or 'collectives'}" for c in latest.values()
        )
        ids = [count.evidence for count in latest.values()]
        what = f"NCCL's RAS counts {', '.join(told)}"
        out[rank] = Standing(ranks="", state="unknown", what=what, told_by="log", evidence=ids[:2])
    return out


def _unknown(facts: Facts, ranks: list[int]) -> list[Standing]:
    why: dict[str, list[int]] = defaultdict(list)
    first: dict[str, str] = {}  # of last lines that differ in their numbers only
    seen = set(facts.case.ranks_seen)
    absent = set(absent_ranks(facts)) if seen else set()
    told = reasons(facts, [rank for rank in ranks if rank in absent][:_MOST_REASONS]) if absent else {}
    for rank in ranks:
        if rank in told:
            why[f"left no dump: {told[rank].words}"].append(rank)
        elif rank in seen:
            why["in no call that has not ended, and nobody took its stack"].append(rank)
        else:
            line = (facts.accounts.last_lines.get(rank) or "")[:_LONGEST]
            words = f"its last line: '{line}'" if line else "nothing is here of it"
            why[first.setdefault(_NUMBER.sub("#", line), words)].append(rank)
    return [Standing(ranks=format_ranks(those), state="unknown", what=words) for words, those in why.items()]
