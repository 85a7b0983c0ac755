"""Some ranks wait for the others, and these are held up: in a lock, a queue, a file, or in their own code."""

from __future__ import annotations

from rankandfile.model.diagnosis import Confidence
from rankandfile.reason.finders.did_instead import story_of
from rankandfile.reason.ranks.did_instead import AskedRank, Story
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.unrecorded_waits import named_after_a_transfer
from rankandfile.reason.words import ranks_words, upper

from .in_words import doing_words, waiting_words
from .make_finding import make_finding
from .where_all_stand import WhereAllStand

_ENOUGH_LOOKS = 3
#: What any running job does at times while others wait for it: one look proves nothing.
_PASSES = ("data_loader", "file_io", "network_io", "compile", "gc", "checkpoint", "subprocess", "exception")


def held_up(of: WhereAllStand) -> Finding | None:
    """Some wait, and others wait for no rank: these stand in a lock, a queue, a file, or in their own code."""
    if not of.waiting or not of.elsewhere or (of.moving and not (of.stays or of.alike)):
        return None
    stories: dict[int, Story] = {}
    for rank, stand in of.elsewhere.items():
        story = story_of(of.facts, AskedRank(rank, True, tuple(of.waiting)))
        if story is not None and not story.absence and _may_be_named(of, stand):
            stories[rank] = story
    if not stories:
        return None
    named = tuple(sorted(stories))
    first = stories[named[0]]
    confidence: Confidence = "supported" if of.stays and all(_sure(of, r) for r in named) else "hypothesis"
    doing = {rank: story.doing for rank, story in stories.items()}
    return make_finding(
        of,
        cause=first.cause,
        confidence=confidence,
        what=f"{doing_words(doing)}. {waiting_words(of, of.waiting, 'for it' if len(named) == 1 else 'for them')}",
        culprits=named,
        doing=doing,
        evidence=[i for story in stories.values() for i in story.evidence],
        location=first,
        alternatives=first.alternatives,
        also=_also_unseen(of),
    )


def _also_unseen(of: WhereAllStand) -> str:
    those = of.unseen
    return f" {upper(ranks_words(those))} left no stack, and may be missing too." if those else ""


def _may_be_named(of: WhereAllStand, stand: Stand) -> bool:
    if stand.activity == "user_code":
        # It may wait in C for another rank, unless it runs or its line says what it does.
        busy = stand.running or stand.moving
        return bool(busy and (of.stays or of.alike)) or (
            not busy and not named_after_a_transfer(stand) and not _most(of)
        )
    return bool(of.stays or of.alike) or (
        not stand.running and not stand.moving and stand.activity not in _PASSES
    )


def _most(of: WhereAllStand) -> bool:
    """Whether most stand in the program's own code, as in a pipeline whose transfers leave no frame."""
    own = [stand for stand in of.elsewhere.values() if stand.activity == "user_code"]
    return len(own) > len(of.waiting)


def _sure(of: WhereAllStand, rank: int) -> bool:
    stand = of.elsewhere[rank]
    passes = stand.activity in _PASSES or stand.within in _PASSES
    if passes and stand.snapshots < _ENOUGH_LOOKS and not of.overdue:
        return False
    if stand.activity != "user_code" or stand.running or stand.moving:
        return True
    if (stand.location.file, stand.location.line) in of.facts.code.lines:
        return True
    return not of.transfers and len(of.elsewhere) < len(of.waiting)
