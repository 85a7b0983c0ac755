"""One standing per rank, from the best that tells it: its end, its calls, its stack, its watchdog's lines, or nothing.

Ranks of which the same is told are one line: a job of 16k ranks stands in a handful of places.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from rankandfile.model.diagnosis import Location, Standing
from rankandfile.model.ranks import format_ranks
from rankandfile.reason.facts import Facts
from rankandfile.reason.lookup import evidence_of
from rankandfile.reason.waits.in_words import call_phrase, pending_row

from .did_instead import world_of
from .missing_dumps import absent_ranks, reasons

_MOST_LINES = 64
_MOST_REASONS = 512


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
    for rank in everyone:
        one = _ended(facts, rank) or _of_calls(facts, rank) or _of_stack(facts, rank) or _of_log(facts, rank)
        if one is None:
            silent.append(rank)
            continue
        alike.setdefault(_Told(one).key, (one, []))[1].append(rank)
    found = [_of(one, ranks) for one, ranks in alike.values()]
    found.sort(key=lambda one: (one.ranks.count(","), one.ranks))
    found = sorted(found, key=lambda one: len(alike[_Told(one).key][1]))
    for one in found:
        if not one.ranks.isdecimal():
            one.what = one.what.replace("waiting for its ", "waiting for their ")
    return [*found, *_unknown(facts, silent)][:_MOST_LINES]


def _of(one: Standing, ranks: list[int]) -> Standing:
    one.ranks = format_ranks(ranks)
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
    error = accounts.raised.get(rank)
    if error is not None:
        what = f"raised {error.words}"
        return Standing(ranks="", state="gone", what=what, told_by="log", evidence=list(error.evidence[:2]))
    return None


def _unknown(facts: Facts, ranks: list[int]) -> list[Standing]:
    why: dict[str, list[int]] = defaultdict(list)
    absent = set(absent_ranks(facts)) if facts.case.ranks_seen else set()
    told = reasons(facts, [rank for rank in ranks if rank in absent][:_MOST_REASONS]) if absent else {}
    for rank in ranks:
        if rank in told:
            why[f"left no dump: {told[rank].words}"].append(rank)
        elif rank in facts.case.ranks_seen:
            why["in no call that has not ended, and nobody took its stack"].append(rank)
        else:
            line = facts.accounts.last_lines.get(rank)
            why[f"its last line: '{line[:80]}'" if line else "nothing is here of it"].append(rank)
    return [Standing(ranks=format_ranks(those), state="unknown", what=words) for words, those in why.items()]
