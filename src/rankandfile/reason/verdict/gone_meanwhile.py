"""A process was killed or lost while no recorded call waited: its peers heard of it otherwise, or had not come to one.

Of all ranks it is never said: whoever ends a whole job so ends it from outside, and no rank of it is at fault.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finders.did_instead import story_of
from rankandfile.reason.ranks.did_instead import AskedRank, world_of
from rankandfile.reason.ranks.dump_times import ended_at_once
from rankandfile.reason.words import ranks_words, upper, verb

from .finding import Finding

_MOST_TOLD = 4


def gone_meanwhile(facts: Facts) -> Finding | None:
    accounts, everyone = facts.accounts, range(world_of(facts))
    killed = {rank for rank, end in accounts.ends.items() if end.kind == "killed"}
    gone = sorted(killed | accounts.unreachable.keys())
    stories = {rank: story for rank in gone if (story := story_of(facts, AskedRank(rank, False)))}
    ranks = tuple(stories)
    if not ranks or len(ranks) >= len(everyone):
        return None
    told = [f"{ranks_words([rank])}: {story.doing}" for rank, story in stories.items()]
    more = f"; and {len(told) - _MOST_TOLD} more" if len(told) > _MOST_TOLD else ""
    over = all(rank in stories or accounts.gone(rank) for rank in everyone) and ended_at_once(
        facts.case, facts.call_table.calls, facts.clocks
    )
    broke_off = "The job did not hang, it broke off: " if over else ""
    after = (
        "All others ended, too."
        if over
        else "Whether the others waited for something that is not recorded, nothing tells."
    )
    against = [words for story in stories.values() for words in story.contradicted][:_MOST_TOLD]
    disagree = f" The sources disagree: {'; '.join(against)}." if against else ""
    first = stories[ranks[0]]
    raised = sorted(accounts.raised.keys() - stories.keys())
    return Finding(
        hang=False if over else None,
        cause=first.cause,
        confidence="supported" if raised and first.confidence == "established" else first.confidence,
        sentence=(
            f"{upper(broke_off + '; '.join(told[:_MOST_TOLD]))}{more}. No recorded call waits for "
            f"{verb(ranks, 'it', 'them')}. {after}{disagree}"
        ),
        culprits=ranks,
        doing={rank: story.doing for rank, story in stories.items()},
        evidence=tuple(dict.fromkeys(i for story in stories.values() for i in story.evidence))[:8],
        contradicted_by="a word of the launcher that it ended the process after another had failed",
        alternatives=(*_ended_for(raised), *first.alternatives),
    )


def _ended_for(raised: list[int]) -> tuple[Alternative, ...]:
    """A launcher that ends those who are left does it by a signal, too, in the end."""
    if not raised:
        return ()
    words = f"{upper(ranks_words(raised))} raised by {verb(raised, 'itself', 'themselves')}: a launcher may have ended"
    return (perhaps("raised", f"{words} the others for that.", raised, decided_by="the launcher's log"),)
