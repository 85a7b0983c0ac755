"""Few are held by their own host, and all others were seen running on one and the same line.

They may compute there, or spin for a device that waits for the few: a tool that looks from outside sees no difference.
"""

from __future__ import annotations

from msgspec.structs import replace

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.finders.did_instead import story_of
from rankandfile.reason.ranks.did_instead import AskedRank
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

from .in_words import doing_words, place_words
from .make_finding import make_finding, next_step
from .where_all_stand import WhereAllStand

#: A rank at work is seldom seen in these; its loader's worker, likewise.
_HELD = ("lock", "subprocess", "network_io", "file_io", "sleep", "thread", "debugger")
_RUNS = ("user_code", "backward")


@heuristic(
    "held while others run", "who is held by its host while all others run on one line holds up their devices"
)
def while_others_run(of: WhereAllStand) -> Finding | None:
    if of.waiting or of.unseen or any(stand.moving for stand in of.stands.values()):
        return None
    held = {rank: stand for rank, stand in of.stands.items() if _held(of, stand)}
    running = {rank for rank, stand in of.stands.items() if stand.running and stand.activity in _RUNS}
    together = next((c for c in of.cohorts if set(c.ranks) == running), None)
    if not held or len(held) >= len(running) or {*held, *running} != of.stands.keys() or together is None:
        return None
    stories = {
        r: s for r in held if (s := story_of(of.facts, AskedRank(r, True, tuple(running)))) is not None
    }
    if len(stories) < len(held) or any(story.absence for story in stories.values()):
        return None
    named = tuple(sorted(stories))
    first, doing = stories[named[0]], {rank: story.doing for rank, story in stories.items()}
    found = make_finding(
        of,
        cause=first.cause,
        confidence="hypothesis",
        what=(
            f"{doing_words(doing)}. {upper(place_words(together))}, and {verb(together.ranks, 'was', 'were')} seen "
            f"running there: at work, or spinning for a device that waits for {ranks_words(named)}"
        ),
        culprits=named,
        doing=doing,
        evidence=[i for story in stories.values() for i in story.evidence],
        location=first,
        alternatives=first.alternatives,
        hang=True if of.stays else None,
        also="" if of.stays else " Nothing shows that they stay there: this holds if the job hung.",
    )
    return replace(found, missing=(next_step(of),), victims=tuple(sorted(running)))


def _held(of: WhereAllStand, stand: Stand) -> bool:
    # The program's own code sleeps in a call into C, which leaves no frame: that it stays there has to be seen.
    sleeps = stand.activity == "user_code" and stand.running is False and bool(of.stays and of.alike)
    return not stand.running and (
        stand.activity in _HELD or sleeps or (stand.activity == "data_loader" and stand.worker in _HELD)
    )
