"""Who keeps count names those that did not come: a monitored barrier, JAX's, Horovod's inspector of stalls.

None of these is a recorded call, so only logs tell of it.
"""

from __future__ import annotations

import re

import polars as pl

from rankandfile.model.diagnosis import Alternative, Location, Missing
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.finders.did_instead import story_of
from rankandfile.reason.ranks.activity import is_library
from rankandfile.reason.ranks.did_instead import AskedRank, location_of, world_of
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.ranks.from_logs.counters import Counter, counters
from rankandfile.reason.ranks.from_logs.watchdog_reports import frames
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.from_logs.told_of_absent import by_elimination
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, upper, verb

from .roll_calls import Roll, roll_call

_NUMBER, _LEADING, _FEWEST = re.compile(r"\d+"), 24, 3


@finder(precedence=30, of="job")
def barrier_names_ranks(facts: Facts, _: WaitEnd) -> Finding | None:
    roll = roll_call(facts)
    if roll is None:
        return None
    named = roll.named
    stories = {rank: story for rank in named if (story := story_of(facts, AskedRank(rank, True)))}
    stories = stories or by_elimination(facts, named)
    if not stories and (late := _at_work(facts, roll)) is not None:
        return late
    first = next(iter(stories.values()), None)
    doing = {rank: stories[rank].doing if rank in stories else _seen(facts, rank) for rank in named}
    doing = {rank: words for rank, words in doing.items() if words}
    told = "; ".join(dict.fromkeys(doing.values()))
    instead = f": {told}" if told else "; what it did instead, its stack or its log would tell"
    return Finding(
        cause=first.cause if first else _cause(facts, named, roll.cause),
        confidence="supported" if first or roll.sure else "hypothesis",
        sentence=(
            f"{upper(ranks_words(named))} did not {roll.what}, {roll.says}{instead}. The others {roll.came}"
            f"{roll.others} for want of {verb(named, 'it', 'them')}."
        ),
        culprits=named,
        doing=doing,
        victims=tuple(sorted(({*facts.accounts.waited_in_vain} | set(range(world_of(facts)))) - set(named))),
        location=(first.location if first else None) or _where_others_waited(facts),
        evidence=(roll.evidence, *(i for s in stories.values() for i in s.evidence)),
        contradicted_by="a line of the named rank that it came there",
        alternatives=first.alternatives if first else _instead_of_away(roll),
        missing=()
        if first
        else (
            Missing(
                what=f"what {ranks_words(named)} did instead",
                how="py-spy dump --pid PID, twice, or the end of its log",
            ),
        ),
    )


def _where_others_waited(facts: Facts) -> Location | None:
    waited = facts.accounts.waited_in_vain
    of_ranks = (found for rank in sorted(waited) if (found := location_of(waited[rank].place)))
    return next(of_ranks, None) or _where_one_waited(facts)


def _where_one_waited(facts: Facts) -> Location | None:
    """By an exception that is told of no rank."""
    rows = facts.case.events.filter(
        (pl.col("kind").cast(pl.String) == "traceback") & (pl.col("role").cast(pl.String) == "messenger")
    ).sort("log", "line")
    own = (
        place
        for row in rows.iter_rows(named=True)
        for place in frames(fields_of(row))
        if not is_library(place)
    )
    return location_of(next(own, None))


def _at_work(facts: Facts, roll: Roll) -> Finding | None:
    """One of them counted on when the others gave up: it would have come, and their patience was shorter."""
    working = [
        one
        for one in counters(facts.case)
        if (one.rank in roll.named or (one.rank is None and roll.all_others)) and _later(one, roll)
    ]
    if not working:
        return None
    one = working[-1]
    alike = [other for other in counters(facts.case) if _shape(other) == _shape(one)]
    others = set(facts.case.logs["rank"].drop_nulls().to_list()) - {one.rank}
    # Whole logs of several others tell that they had no such work; a line of theirs here and there does not.
    alone = roll.all_others or (
        one.rank is not None and len(others) >= _FEWEST and all(o.rank == one.rank for o in alike)
    )
    who = one.rank if one.rank is not None else roll.named[0]
    every = f" every {one.every_ms / 1000:.3g} s" if one.every_ms else ""
    doing = (
        f'was at work all the time: its log counts on{every} after the others gave up, at last "{one.words}"'
    )
    judged = (
        "all others waited, so that this is its own work, and the limit is shorter than it takes"
        if roll.all_others
        else "no other rank's log has that work, and the limit is shorter than it takes"
        if alone
        else "it may be that nothing hung, and that the limit is shorter than that work"
    )
    slower, shorter = "That work may be slower there than usual.", "The limit may be too short for that work."
    return Finding(
        cause="host_slow" if alone else "too_short_timeout",
        confidence="supported" if alone and roll.named == (who,) else "hypothesis",
        hang=True if alone else None,
        sentence=(
            f"{upper(ranks_words(roll.named))} did not {roll.what}, {roll.says}. {upper(ranks_words([who]))} "
            f"{doing}: {judged}."
        ),
        culprits=roll.named,
        doing={who: doing},
        location=_where_others_waited(facts),
        evidence=(roll.evidence, one.evidence),
        contradicted_by="a line of the named rank that it came there in time",
        alternatives=(
            perhaps(
                "too_short_timeout" if alone else "host_slow",
                shorter if alone else slower,
                roll.named,
                decided_by="how long it took elsewhere",
            ),
        ),
    )


def _later(one: Counter, roll: Roll) -> bool:
    if one.at_ns is not None and roll.at_ns is not None:
        return one.at_ns > roll.at_ns
    return roll.line is not None and (one.log, one.line) > roll.line and one.log == roll.line[0]


def _shape(one: Counter) -> str:
    return _NUMBER.sub("", one.words)[:_LEADING]


def _seen(facts: Facts, rank: int) -> str:
    """Where it stood, or what it said last."""
    stand, line = facts.hosts.get(rank), facts.accounts.last_lines.get(rank)
    if stand is not None and not stand.died:
        return stand.words
    return f'the last line of its log is "{line[:120]}"' if line else ""


def _cause(facts: Facts, named: tuple[int, ...], otherwise: str) -> str:
    """Who waits for other ranks elsewhere went another way."""
    stands = [facts.hosts.get(rank) for rank in named]
    return (
        "different_collective"
        if all(s is not None and s.activity == "collective" for s in stands)
        else otherwise
    )


def _instead_of_away(roll: Roll) -> tuple[Alternative, ...]:
    """That some host does not answer is told; that it is theirs is only likely."""
    if roll.cause != "peer_unreachable":
        return ()
    words = f"{upper(ranks_words(roll.named))} may be held up on a host that answers."
    return (
        perhaps(
            "host_blocked", words, roll.named, decided_by="on which host they ran, and whether it answers"
        ),
    )
