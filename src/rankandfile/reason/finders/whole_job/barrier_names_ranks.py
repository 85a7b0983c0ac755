"""Who keeps count names those that did not come: a monitored barrier, JAX's, Horovod's inspector of stalls.

None of these is a recorded call, so only logs tell of it.
"""

from __future__ import annotations

import re

import polars as pl
from msgspec import Struct

from rankandfile.model.diagnosis import Alternative, Location, Missing
from rankandfile.model.events import event_id
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.finders.did_instead import story_of
from rankandfile.reason.ranks.did_instead import AskedRank, location_of, world_of
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.ranks.from_logs.counters import Counter, counters
from rankandfile.reason.ranks.from_logs.watches import over
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.from_logs.told_of_absent import by_elimination
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, upper, verb

_NUMBER, _LEADING, _FEWEST = re.compile(r"\d+"), 24, 3


class _Roll(Struct, frozen=True, kw_only=True):
    """Who did not come, by those that said so."""

    named: tuple[int, ...]
    what: str
    """`come to the monitored barrier within 30 s`: behind "did not"."""
    said_by: str
    evidence: str
    at_ns: int | None = None
    """When they gave up."""
    others: str = "failed"
    came: str = "came, and "
    cause: str = "undetermined"
    """If nothing tells what it did instead."""
    sure: bool = True


@finder(precedence=30, of="job")
def barrier_names_ranks(facts: Facts, _: WaitEnd) -> Finding | None:
    roll = _monitored(facts) or _counted(facts) or _heartbeats(facts)
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
            f"{upper(ranks_words(named))} did not {roll.what}, says {roll.said_by}{instead}. The others {roll.came}"
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
    return next((found for rank in sorted(waited) if (found := location_of(waited[rank].place))), None)


def _at_work(facts: Facts, roll: _Roll) -> Finding | None:
    """One of them counted on when the others gave up: it would have come, and their patience was shorter."""
    working = [
        one
        for one in counters(facts.case)
        if one.rank in roll.named
        and one.at_ns is not None
        and roll.at_ns is not None
        and one.at_ns > roll.at_ns
    ]
    if not working:
        return None
    one = working[-1]
    alike = [other for other in counters(facts.case) if _shape(other) == _shape(one)]
    others = set(facts.case.logs["rank"].drop_nulls().to_list()) - {one.rank}
    # Whole logs of several others tell that they had no such work; a line of theirs here and there does not.
    alone = one.rank is not None and len(others) >= _FEWEST and all(o.rank == one.rank for o in alike)
    who = one.rank if one.rank is not None else roll.named[0]
    every = f" every {one.every_ms / 1000:.3g} s" if one.every_ms else ""
    doing = (
        f'was at work all the time: its log counts on{every} after the others gave up, at last "{one.words}"'
    )
    judged = (
        "no other rank's log has that work, and the limit is shorter than it takes"
        if alone
        else "it may be that nothing hung, and that the limit is shorter than that work"
    )
    slower, shorter = "That work may be slower there than usual.", "The limit may be too short for that work."
    return Finding(
        cause="host_slow" if alone else "too_short_timeout",
        confidence="supported" if alone and roll.named == (who,) else "hypothesis",
        hang=True if alone else None,
        sentence=(
            f"{upper(ranks_words(roll.named))} did not {roll.what}, says {roll.said_by}. {upper(ranks_words([who]))} "
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


def _heartbeats(facts: Facts) -> _Roll | None:
    """Who has sent none any more, by HCCL or by JAX's coordination service: few, and the same each time."""
    rows = facts.case.events.filter(
        pl.col("kind").cast(pl.String).is_in(["hccl_lost", "jax_unhealthy_tasks"])
        & pl.col("about").is_not_null()
        & (pl.col("about_in").cast(pl.String) == "global")
    ).sort("log", "line")
    told = {tuple(sorted(set(about))) for about in rows["about"].to_list()}
    if len(told) != 1 or facts.accounts.gave_up:
        return None
    named, row = told.pop(), rows.row(0, named=True)
    if len(named) * 2 >= max(world_of(facts), max(named) + 1) or row["rank"] in named:
        return None
    hccl = row["kind"] == "hccl_lost"
    return _Roll(
        named=named,
        what="send heartbeats any more",
        said_by=f"HCCL of {row['peer']}" if hccl else "JAX's coordination service",
        evidence=event_id(row["log"], row["line"]),
        cause="peer_unreachable",
        sure=False,
        came="waited, and ",
        others="ended",
    )


def _monitored(facts: Facts) -> _Roll | None:
    rows = facts.case.events.filter(
        (pl.col("kind").cast(pl.String) == "monitored_barrier") & pl.col("about").is_not_null()
    )
    # The line counts ranks in its group. Only where that is the whole job are they the job's.
    mine = rows.filter(
        pl.col("group_rank").is_not_null()
        & (pl.col("rank").is_null() | (pl.col("rank") == pl.col("group_rank")))
    )
    if not mine.height or mine.height < rows.height:
        return None
    named = tuple(sorted({rank for ranks in mine["about"].to_list() for rank in ranks}))
    writers = set(mine["group_rank"].to_list())
    if not named or writers & set(named) or (facts.case.world_size or max(named) + 1) <= max(named):
        return None
    row = mine.row(0, named=True)
    limit = f" within {row['timeout_ms'] / 1000:g} s" if row["timeout_ms"] else ""
    return _Roll(
        named=named,
        what=f"come to the monitored barrier{limit}",
        said_by=ranks_words(sorted(writers)),
        evidence=event_id(row["log"], row["line"]),
        at_ns=row["time_ns"],
        cause="peer_unreachable" if _a_host_is_away(facts) else "undetermined",
    )


def _instead_of_away(roll: _Roll) -> tuple[Alternative, ...]:
    """That some host does not answer is told; that it is theirs is only likely."""
    if roll.cause != "peer_unreachable":
        return ()
    words = f"{upper(ranks_words(roll.named))} may be held up on a host that answers."
    return (
        perhaps(
            "host_blocked", words, roll.named, decided_by="on which host they ran, and whether it answers"
        ),
    )


def _a_host_is_away(facts: Facts) -> bool:
    return bool(facts.case.events["kind"].cast(pl.String).is_in(["host_unreachable", "host_lost"]).any())


def _counted(facts: Facts) -> _Roll | None:
    """JAX's barrier, and Horovod's inspector: few that all others wait for, told by number and the same each time."""
    events = facts.case.events.with_columns(pl.col("kind").cast(pl.String))
    past = over(events)
    rows = events.filter(
        pl.col("kind").is_in(["jax_barrier", "horovod_stalled"]) & pl.col("about").is_not_null()
    )
    last = [
        row for row in rows.sort("log", "line").iter_rows(named=True) if (row["log"], row["line"]) not in past
    ]
    if not last:
        return None
    row, fields = last[-1], fields_of(last[-1])
    named = tuple(sorted(set(row["about"])))
    world = max(world_of(facts), max(named) + 1)
    reached, expected = fields.get("reached"), fields.get("expected")
    told_all = not isinstance(expected, int) or expected - int(reached or 0) == len(named)
    if (
        not told_all
        or len(named) * 2 >= world
        or any(set(other["about"]) != set(named) for other in last if other["kind"] == row["kind"])
    ):
        return None
    evidence = event_id(row["log"], row["line"])
    if row["kind"] == "jax_barrier":
        key = str(fields.get("key", "")).partition("::")[0]
        what = f"come to JAX's barrier {key} in time"
        return _Roll(named=named, what=what, said_by="the coordination service", evidence=evidence)
    waited = f" for more than {row['waited_ms'] / 1000:g} s" if row["waited_ms"] else ""
    tensor = f" ({fields['what']})" if fields.get("what") else ""
    instead = f", and waits with {fields['instead']}" if fields.get("instead") else ""
    what = f"submit what the others wait for{tensor}{waited}{instead}"
    return _Roll(
        named=named,
        what=what,
        said_by="Horovod's inspector of stalls",
        evidence=evidence,
        others="cannot go on",
    )
