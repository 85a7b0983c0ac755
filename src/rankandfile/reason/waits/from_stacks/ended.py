"""Ranks that died before, while all that live wait."""

from __future__ import annotations

from rankandfile.reason.finders.did_instead import story_of
from rankandfile.reason.ranks.did_instead import AskedRank
from rankandfile.reason.verdict.finding import Finding

from .in_words import doing_words, waiting_words
from .make_finding import make_finding
from .where_all_stand import WhereAllStand


def ended(of: WhereAllStand) -> Finding | None:
    """All that live wait, and some have died before."""
    stories = {r: s for r in of.gone if (s := story_of(of.facts, AskedRank(r, True, tuple(of.waiting))))}
    if not of.waiting or not stories or _need_not_miss(of, tuple(stories)):
        return None
    named = tuple(sorted(stories))
    first, doing = stories[named[0]], {rank: story.doing for rank, story in stories.items()}
    return make_finding(
        of,
        cause=first.cause,
        confidence=first.confidence if first.confidence != "established" else "supported",
        what=f"{doing_words(doing)}. {waiting_words(of, of.waiting, 'for it' if len(named) == 1 else 'for them')}",
        culprits=named,
        doing=doing,
        evidence=[i for story in stories.values() for i in story.evidence],
        location=first,
        alternatives=first.alternatives,
    )


def _need_not_miss(of: WhereAllStand, gone: tuple[int, ...]) -> bool:
    """Whether those that wait may wait for none of those that are gone, all of which ended well."""
    ends = of.facts.accounts.ends
    if any(ends[rank].kind != "finished" for rank in gone):
        return False
    return _in_transfers_of_others(of, gone) or _in_groups_of_others(of, gone)


def _in_transfers_of_others(of: WhereAllStand, gone: tuple[int, ...]) -> bool:
    """They send and receive, as far as is known not with those, and others are still at work."""
    asked = [stand.asked for stand in of.waiting.values()]
    peers = {one for each in asked for one in (each.src, each.dst, *each.sends, *each.receives)}
    apart = all(stand.activity == "p2p" for stand in of.waiting.values()) and peers.isdisjoint(gone)
    return apart and bool(of.elsewhere)


def _in_groups_of_others(of: WhereAllStand, gone: tuple[int, ...]) -> bool:
    """What is recorded of their waits is of groups that those were not in, such as one that was made without them."""
    calls = [call for call in of.facts.waits.pending if not of.waiting.keys().isdisjoint(call.waiting)]
    members = of.facts.membership.members
    return bool(calls) and all(set(members[call.group]).isdisjoint(gone) for call in calls)
