"""It is on its way: its stack moved between snapshots, or its process got on. It is late, not stuck in one place."""

from __future__ import annotations

from rankandfile.model.advice import MONITORING
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Remedy
from rankandfile.reason.finder import teller
from rankandfile.reason.toolbox import AskedRank, Facts, Story, perhaps, works

CAUSE = Cause(
    word="host_slow",
    family="host",
    place=20,
    meaning="A rank is on its way to the collective, and late.",
    help="It works, but longer than the others may wait. Look at what only this rank does before the call.",
    remedies=(
        Remedy(
            title="Take the long work out of the others' way",
            text="Do it before the group is made, in the background, or under a group with a longer timeout.",
        ),
    ),
    anti_advice=(MONITORING,),
    did="was not there yet, and still moved",
    title="A rank is late, not stuck",
    page="""
## How it comes about

The rank compiles, saves, or reads from slow storage, longer than the others may wait. One stack looks the same as that
of a rank that is stuck; two looks that differ, or later progress, show that it moves. [`raf run`](../run.md) looks at
more: whether its threads, or processes that it has started, have the processor meanwhile, whether it reads or writes,
and whether a bar in its output goes on. Without any of that the verdict is [`host_blocked`](host_blocked.md), for who
sleeps and tries again is found on the same line each time; and this cause stands beside it as the alternative, with
what would decide. The incident below is such a one: the rank in truth is slow.
""",
    scenario="slow_storage",
)


@teller(precedence=80)
def on_its_way(facts: Facts, asked: AskedRank) -> Story | None:
    stand = facts.hosts.get(asked.rank)
    if stand is None or stand.waits == "ranks":
        return None
    if stand.waits == "maybe" and not (asked.proved and stand.activity == "user_code"):
        return None
    seen = facts.accounts.work.get(asked.rank)
    working = works(stand, seen)
    if working is None and not stand.moving:
        return None
    return Story(
        cause=CAUSE.word,
        confidence="supported",
        doing=f"{stand.words}; {working}" if working else stand.words,
        evidence=(*stand.evidence, *(seen.evidence if working and seen else ())),
        location=stand.location,
        alternatives=(
            perhaps(
                "host_blocked",
                "It may turn in a loop that never ends.",
                [asked.rank],
                decided_by="whether it ever comes to the call",
            ),
        ),
    )
