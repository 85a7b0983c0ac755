"""No rank waits for another, and all that were seen stand in one place that is none of the job's communication."""

from __future__ import annotations

from rankandfile.model.diagnosis import Missing
from rankandfile.model.heuristics import heuristic
from rankandfile.reason.finders.did_instead import story_of
from rankandfile.reason.ranks.did_instead import AskedRank
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import upper

from .in_words import place_words
from .make_finding import make_finding
from .where_all_stand import WhereAllStand

#: What one waits in for something outside of the job. Files and the network pass, if slowly.
_HELD = ("lock", "subprocess", "sleep", "debugger")


@heuristic("all at one lock", "all that stay at one lock are each held up by what lies outside of the job")
def all_held(of: WhereAllStand) -> Finding | None:
    """All stand at one lock, and something shows that they stay: each is held up, and none by another rank."""
    stands = of.stands
    if not of.stays or of.waiting or of.unseen or of.moving or len(of.cohorts) != 1 or len(stands) < 2:
        return None
    if any(stand.activity not in _HELD for stand in stands.values()):
        return None
    stories = {r: s for r in stands if (s := story_of(of.facts, AskedRank(r, True))) is not None}
    if len(stories) < len(stands) or len({story.cause for story in stories.values()}) != 1:
        return None
    named = tuple(sorted(stories))
    first = stories[named[0]]
    return make_finding(
        of,
        cause=first.cause,
        confidence="hypothesis",
        what=(
            f"{upper(place_words(of.cohorts[0]))}. None of them waits for another rank there: each is held up "
            "by itself, or by what lies outside of the job"
        ),
        culprits=named,
        doing={rank: story.doing for rank, story in stories.items()},
        evidence=[i for story in stories.values() for i in story.evidence[:1]],
        location=first,
        alternatives=first.alternatives,
        missing=(
            Missing(
                what="who holds what they wait for",
                how="py-spy dump --native --pid PID; of a lock file: its age (ls -l), and who has it open (fuser): "
                "one whose owner is gone stays for ever",
            ),
        ),
    )
