"""The job did not hang: it broke off. A rank failed, its peers lost their connections to it at once, and all ended.

gloo's connections break where a process ends; a hang is a job in which some wait on. Or nobody failed at first: all
came to one call, the last of them after the others' patience was over. Its timeout is shorter than the work before it.
"""

from __future__ import annotations

import polars as pl

from rankandfile.reason import lookup
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.finders.did_instead import story_of
from rankandfile.reason.ranks.did_instead import AskedRank, Story
from rankandfile.reason.ranks.dump_times import ended_at_once
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, upper, verb

_LOST_A_PEER = ("Connection closed by peer", "Connection reset by peer", "Broken pipe")

_TIMED_OUT = "Timed out waiting"


@finder(precedence=0, of="ended job")
def broke_off(facts: Facts, _: WaitEnd) -> Finding | None:
    accounts, world = facts.accounts, facts.case.world_size or 0
    everyone = set(range(world))
    if world < 2 or not everyone <= accounts.unreachable.keys() | {
        r for r in accounts.ends if accounts.gone(r)
    }:
        return None
    if all(rank in accounts.ends and accounts.ends[rank].kind == "finished" for rank in everyone):
        return None
    noticed = {r for r in everyone if _said(facts, r, *_LOST_A_PEER)}
    gave_up = {r for r in everyone if _said(facts, r, _TIMED_OUT)}
    if gave_up:
        return _too_late(facts, everyone, noticed, gave_up)
    return _noticed_at_once(facts, everyone, noticed)


def _said(facts: Facts, rank: int, *words: str) -> bool:
    error = facts.accounts.echoes.get(rank)
    return error is not None and any(one in error.words for one in words)


def _noticed_at_once(facts: Facts, everyone: set[int], noticed: set[int]) -> Finding | None:
    """All but those that failed first lost a connection, and the last call was made just before."""
    first = tuple(sorted(everyone - noticed))
    if not noticed or not first or facts.accounts.gave_up:
        return None
    if len(first) >= len(noticed) and not facts.accounts.unreachable.keys() >= {*first}:
        return None
    if not ended_at_once(facts.case, facts.call_table.calls, facts.clocks):
        return None
    stories = {
        rank: story for rank in first if (story := story_of(facts, AskedRank(rank, False, tuple(noticed))))
    }
    if len(stories) < len(first) or len({story.cause for story in stories.values()}) != 1:
        return None
    story = stories[first[0]]
    those = tuple(sorted(noticed))
    return Finding(
        cause=story.cause,
        confidence=story.confidence,
        hang=False,
        sentence=(
            f"The job did not hang, it broke off: {_told(stories)}. {upper(ranks_words(those))} lost "
            f"{verb(those, 'its connection', 'their connections')} at once and ended too."
        ),
        culprits=first,
        doing={rank: one.doing for rank, one in stories.items()},
        location=story.location,
        evidence=(
            *(i for one in stories.values() for i in one.evidence),
            *(i for rank in those[:3] for i in facts.accounts.echoes[rank].evidence[:1]),
        ),
        contradicted_by="a process that is still there, or a rank that waited long before it ended",
        alternatives=story.alternatives,
    )


def _told(stories: dict[int, Story]) -> str:
    return "; ".join(f"{ranks_words([rank])}: {story.doing}" for rank, story in stories.items())


def _too_late(facts: Facts, everyone: set[int], noticed: set[int], gave_up: set[int]) -> Finding | None:
    """All came to one call; those that came last came after the others' time was over."""
    if not everyone <= noticed | gave_up or len(set(facts.accounts.hosts.values())) > 1:
        return None
    for group, slot in _last_calls(facts, everyone):
        late, limit_ms = _late(facts, group, slot, everyone)
        if late and not set(late) & gave_up and 2 * len(late) < len(everyone):
            return _timeout_too_short(facts, group, slot, late, limit_ms, sorted(gave_up))
    return None


def _last_calls(facts: Facts, everyone: set[int]) -> list[tuple[int, int]]:
    """The last call of each group of all ranks, where all have come to it and none any further."""
    whole = [group for group, members in facts.membership.members.items() if set(members) == everyone]
    last = (
        facts.progress.filter(pl.col("group").is_in(whole))
        .group_by("group")
        .agg(pl.col("last").max(), pl.col("last").n_unique().alias("different"), pl.len().alias("ranks"))
    )
    level = last.filter((pl.col("different") == 1) & (pl.col("ranks") == len(everyone))).sort("group")
    return list(level.select("group", "last").iter_rows())


def _late(facts: Facts, group: int, slot: int, everyone: set[int]) -> tuple[tuple[int, ...], int]:
    made = facts.call_table.calls.filter((pl.col("group") == group) & (pl.col("slot") == slot))
    timeouts = facts.case.calls.filter(pl.col("group") == group)["timeout_ms"].drop_nulls()
    if not timeouts.len() or made["created_ns"].null_count() or set(made["rank"].to_list()) != everyone:
        return (), 0
    limit = int(timeouts.min() or 0)  # type: ignore[arg-type]
    first = int(made["created_ns"].min() or 0)  # type: ignore[arg-type]
    late = made.filter(pl.col("created_ns") - first >= limit * 1_000_000)["rank"]
    return tuple(sorted(late.to_list())), limit


def _timeout_too_short(
    facts: Facts, group: int, slot: int, late: tuple[int, ...], limit_ms: int, gave_up: list[int]
) -> Finding:
    row, other = lookup.call_at(facts, late[0], group, slot), lookup.call_at(facts, gave_up[0], group, slot)
    words = lookup.call_words(facts, row) if row else "call"
    return Finding(
        cause="too_short_timeout",
        confidence="supported",
        hang=False,
        sentence=(
            f"The job did not hang, it broke off: {ranks_words(late)} came to the {words} (group "
            f"{lookup.group_words(facts, group)}) after the {limit_ms / 1000:g} s that the group allows, when "
            f"{ranks_words(gave_up)} had given up. The timeout is shorter than the work before the call."
        ),
        culprits=late,
        doing=dict.fromkeys(late, "came, only later than the timeout allows"),
        location=lookup.location_of(facts, row),
        evidence=(
            *(lookup.evidence_of(one) for one in (row, other) if one),
            *(i for rank in gave_up[:2] for i in facts.accounts.echoes[rank].evidence[:1]),
        ),
        contradicted_by="clocks that are apart by more than the timeout",
        alternatives=(
            perhaps(
                "host_slow",
                "The work before the call may have been slower than it should be.",
                late,
                decided_by="how long it took in earlier runs",
            ),
        ),
    )
