"""Nothing tells of calls, and a rank failed by itself: raised, was killed, exited, or lost its device or its link."""

from __future__ import annotations

from collections import defaultdict

import polars as pl
from msgspec.structs import replace

from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import Missing
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.finders.did_instead import story_of
from rankandfile.reason.ranks.did_instead import AskedRank, Story, world_of
from rankandfile.reason.ranks.from_logs.accounts import OWN
from rankandfile.reason.ranks.from_logs.over import BROKE_OFF, over_at_once
from rankandfile.reason.ranks.from_logs.proofs import caught_and_unproved
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, upper, verb

_OWN = ("process", "device", "fabric")
_MOST_TOLD = 4
_OF_STEPS = ("progress", "work_goes_on", "no_step")


@finder(precedence=10, of="logs")
def failed_alone(facts: Facts, _: WaitEnd) -> Finding | None:
    """Whoever failed by itself is named; those that only lost a peer, or were ended after others, are not."""
    accounts = facts.accounts
    maybe = {*accounts.ends, *accounts.raised, *accounts.device, *accounts.link, *accounts.unreachable}
    stories: dict[int, Story] = {}
    for rank in sorted(maybe):
        story = story_of(facts, AskedRank(rank, False))
        if story is not None and not story.absence and CAUSES[story.cause].family in _OWN:
            stories[rank] = story
    if any(accounts.ends[rank].how == OWN for rank in stories.keys() & accounts.ends.keys()):
        # Nobody outside aborts a process: it was the first, and who ended with a code alone had lost it.
        stories = {rank: story for rank, story in stories.items() if story.cause != "exited"}
    went_on = caught_and_unproved(facts)
    if stories.keys() - accounts.caught:
        # Somebody failed for sure: what others dealt with ended nobody.
        went_on |= accounts.caught
    handled = {rank: story for rank, story in stories.items() if rank in went_on and story.cause == "raised"}
    stories = {
        rank: _went_on(story) if story.cause == "raised" and _spoke_later(facts, rank) else story
        for rank, story in stories.items()
        if rank not in handled
    }
    if not stories:
        return _caught(handled) if handled else None
    ranks = tuple(stories)
    first = stories[ranks[0]]
    everyone = len(ranks) > 1 and len(ranks) >= world_of(facts)
    alike: dict[str, list[int]] = defaultdict(list)
    for rank, story in stories.items():
        alike[story.doing.rstrip(".")].append(rank)
    told = "; ".join(f"{ranks_words(those)}: {words}" for words, those in list(alike.items())[:_MOST_TOLD])
    more = f"; and {len(alike) - _MOST_TOLD} more" if len(alike) > _MOST_TOLD else ""
    lost = sorted((accounts.echoes.keys() | accounts.lost_peers.keys() | accounts.gave_up) - set(ranks))
    after = (
        f" {upper(ranks_words(lost))} only {verb(lost, 'waited or lost its peer', 'waited or lost their peers')}."
        if lost
        else ""
    )
    at_once = over_at_once(facts)
    if at_once:
        after += f" {BROKE_OFF}"
    if len(alike) == 1:
        told = first.doing.rstrip(".")
        if told.startswith("is ") and len(ranks) == 1:
            told = f"it {told}"
    they = "Every rank of which anything is told" if everyone else upper(ranks_words(ranks))
    if all(story.cause == "swallowed_exception" for story in stories.values()):
        said = f"{they} met an exception and went on"
    elif all(CAUSES[story.cause].family == "fabric" for story in stories.values()) and not everyone:
        said = f"{they} {verb(ranks, 'is', 'are')} cut off"
    else:
        said = f"{they} failed by {'itself' if everyone else verb(ranks, 'itself', 'themselves')}"
    return Finding(
        cause=first.cause,
        confidence="supported",
        hang=None if at_once or everyone else True,
        sentence=f"{said}: {told}{more}.{after} No call of the job is recorded: this is by logs and exits alone.",
        culprits=ranks,
        doing={rank: story.doing for rank, story in stories.items()},
        location=first.location,
        evidence=tuple(dict.fromkeys(i for story in stories.values() for i in story.evidence))[:8],
        contradicted_by="a line of an earlier failure of another rank",
        alternatives=first.alternatives,
    )


def _spoke_later(facts: Facts, rank: int) -> bool:
    """Whether the program counted or watched its steps on that rank after the last exception that it logged."""
    said = facts.case.events.filter(pl.col("rank") == rank)
    steps = said.filter(pl.col("kind").is_in(_OF_STEPS)).group_by("log").agg(later=pl.col("line").max())
    raised = said.filter(pl.col("kind") == "traceback").join(steps, on="log", how="left")
    return bool(raised.height) and bool((raised["later"] > raised["line"]).fill_null(False).all())


def _went_on(story: Story) -> Story:
    return replace(
        story,
        cause="swallowed_exception",
        doing=f"{story.doing}, and its log goes on after it",
        alternatives=(perhaps("raised", "It may stand on its way out.", decided_by="its stack"),),
    )


def _caught(stories: dict[int, Story]) -> Finding:
    """Exceptions are logged, and nothing shows that the job failed or stands: a program that handles them looks so."""
    ranks = tuple(stories)
    those, told = ranks_words(ranks), dict.fromkeys(story.doing.rstrip(".") for story in stories.values())
    more = f"; and {len(told) - _MOST_TOLD} more" if len(told) > _MOST_TOLD else ""
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        hang=False,
        sentence=(
            f"The log of {those} has an exception that the program caught: "
            f"{'; '.join(list(told)[:_MOST_TOLD])}{more}. Nothing shows that the job failed or stands still: no "
            "watchdog, no exit code, and no call of it is recorded."
        ),
        culprits=ranks,
        doing={rank: story.doing for rank, story in stories.items()},
        evidence=tuple(dict.fromkeys(i for story in stories.values() for i in story.evidence))[:8],
        alternatives=(
            perhaps(
                "swallowed_exception",
                f"If it hung, {those} may have gone on without a call that the others wait in.",
                ranks,
                decided_by="stacks of all ranks, or the code that catches the exception",
            ),
            perhaps(
                "no_hang",
                "If the job was running, it dealt with the exception.",
                decided_by="stacks that are taken later",
            ),
        ),
        missing=(
            Missing(
                what="whether the job stands",
                how="stacks of all ranks, twice, some seconds apart (py-spy dump --pid PID); --hung if you know "
                "that it hung",
            ),
        ),
        unadvised=("anti_advice", "probes"),
    )
