"""Some ranks wait for the others, and these are held up: in a lock, a queue, a file, or in their own code."""

from __future__ import annotations

from msgspec.structs import replace

from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import Confidence
from rankandfile.model.heuristics import heuristic
from rankandfile.reason.finders.did_instead import story_of
from rankandfile.reason.ranks.activity import short_function
from rankandfile.reason.ranks.did_instead import AskedRank, Story
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.unrecorded_waits import named_after_a_transfer
from rankandfile.reason.words import ranks_words, upper, verb

from .by_dumps import lacks_only
from .in_words import doing_words, waiting_words
from .make_finding import make_finding, next_step
from .where_all_stand import STILL_NS, WhereAllStand

_ENOUGH_LOOKS = 3
#: What any running job does at times while others wait for it: one look proves nothing.
_PASSES = ("data_loader", "file_io", "network_io", "compile", "gc", "checkpoint", "subprocess", "exception")
#: What a rank does that looks again and again whether another process has done its part, or waits for its answer.
_FOR_ANOTHER = ("sleep", "network_io")


@heuristic(
    "held up while others wait",
    "who is held by its own host, or busy, while all others wait for ranks is whom they wait for",
)
def held_up(of: WhereAllStand) -> Finding | None:
    """Some wait, and others wait for no rank: these stand in a lock, a queue, a file, or in their own code."""
    if not of.waiting or not of.elsewhere or (of.moving and not (of.stays or of.alike)):
        return _busy(of)
    stories: dict[int, Story] = {}
    for rank, stand in of.elsewhere.items():
        story = story_of(of.facts, AskedRank(rank, True, tuple(of.waiting)))
        if story is not None and not story.absence and _may_be_named(of, stand):
            stories[rank] = story
    if not stories:
        return _busy(of)
    named = tuple(sorted(stories))
    first = stories[named[0]]
    # A step shows ranks that wait for each other whenever somebody looks. The setup is passed once: who looks and finds
    # a job there mostly looks because it does not pass, and "if it hung" says the rest.
    stay = of.stays or (
        of.none_seen_at_work and _before_the_setup(of) and not of.have_been_set_up & set(named)
    )
    lasts = lacks_only(of.facts, named, tuple(of.waiting)) if len(named) < len(of.waiting) else ""
    sure = bool(lasts) or (bool(stay) and all(_sure(of, rank) for rank in named))
    confidence: Confidence = "supported" if sure else "hypothesis"
    doing = {rank: story.doing for rank, story in stories.items()}
    found = make_finding(
        of,
        cause="init_stuck" if _before_the_setup(of) and CAUSES[first.cause].family == "host" else first.cause,
        confidence=confidence,
        what=f"{doing_words(doing)}. {waiting_words(of, of.waiting, 'for it' if len(named) == 1 else 'for them')}",
        culprits=named,
        doing=doing,
        evidence=[i for story in stories.values() for i in story.evidence],
        location=first,
        alternatives=first.alternatives,
        also=_also_unseen(of),
        lasts=lasts,
    )
    return found if of.stays or lasts or confidence == "hypothesis" else replace(found, hang=None)


def _before_the_setup(of: WhereAllStand) -> bool:
    """All others wait in the job's own setup, and not in that of a further group."""
    return all(stand.activity == "init" and "new_group" not in stand.op for stand in of.waiting.values())


def _not_set_up(of: WhereAllStand) -> bool:
    """Nobody of those that the others wait for in the setup has been there yet: no call can hold it."""
    return _before_the_setup(of) and not of.have_been_set_up & set(of.elsewhere)


def _busy(of: WhereAllStand) -> Finding | None:
    """Few are at work while all others wait for them: late for sure, if they moved while the others did not.

    One look cannot tell work from standing still: then they are suspects, of nothing in particular.
    """
    busy, rest = of.elsewhere, {rank: s for rank, s in of.stands.items() if rank not in of.elsewhere}
    if not busy or not of.waiting or len(busy) >= len(of.waiting) or set(rest) - set(of.waiting):
        return None
    if any(stand.activity == "user_code" and named_after_a_transfer(stand) for stand in busy.values()):
        return None
    named = tuple(sorted(busy))
    stories = {
        r: s for r in named if (s := story_of(of.facts, AskedRank(r, True, tuple(of.waiting)))) is not None
    }
    if len(stories) < len(named) or any(story.absence for story in stories.values()):
        return None
    looks = {stand.snapshots for stand in of.stands.values()}
    moved = all(stand.moving for stand in busy.values())
    still = all(s.moving is False and (s.apart_ns or 0) >= STILL_NS for s in of.waiting.values())
    if not (moved and still) and looks != {1}:
        return None
    first, doing = stories[named[0]], {rank: story.doing for rank, story in stories.items()}
    whom = "for it" if len(named) == 1 else "for them"
    how = (
        f"{upper(ranks_words(named))} {verb(named, 'moves', 'move')}, and the others stood there in every look: "
        f"slow, and not stuck, as long as {'it moves' if len(named) == 1 else 'they move'}"
        if moved
        else f"Whether {ranks_words(named)} {verb(named, 'works or stands', 'work or stand')} still, "
        "one look does not tell"
    )
    return replace(
        make_finding(
            of,
            cause="host_slow" if moved else "undetermined",
            confidence="hypothesis",
            what=f"{doing_words(doing)}. {waiting_words(of, of.waiting, whom)}. {how}",
            culprits=named,
            doing=doing,
            evidence=[i for story in stories.values() for i in story.evidence],
            location=first,
            hang=False,
            also=_also_unseen(of),
        ),
        missing=(next_step(of),),
    )


def _also_unseen(of: WhereAllStand) -> str:
    those = of.unseen
    return f" {upper(ranks_words(those))} left no stack, and may be missing too." if those else ""


def _may_be_named(of: WhereAllStand, stand: Stand) -> bool:
    if stand.activity == "user_code":
        # It may wait in C for another rank, unless it runs or its line says what it does.
        busy = stand.running or stand.moving or _computes(stand)
        return bool(busy and (of.stays or of.alike)) or (
            not busy and not named_after_a_transfer(stand) and (not _most(of) or _not_set_up(of))
        )
    # Seen at work once it may be on its way; else it is the story there is, if the job hung.
    return bool(of.stays or of.alike) or not (stand.running or stand.moving)


def _computes(stand: Stand) -> bool:
    """Where no tool tells whether it ran: a library's function that is known to wait for nothing was called there."""
    called = stand.op != short_function(stand.location.function or "")
    return stand.running is None and stand.moving is None and called


def _most(of: WhereAllStand) -> bool:
    """Whether most stand in the program's own code, as in a pipeline whose transfers leave no frame."""
    own = [stand for stand in of.elsewhere.values() if stand.activity == "user_code"]
    return len(own) > len(of.waiting)


def _sure(of: WhereAllStand, rank: int) -> bool:
    stand = of.elsewhere[rank]
    passes = stand.activity in _PASSES or stand.within in _PASSES
    if passes and stand.snapshots < _ENOUGH_LOOKS and not of.overdue:
        return False
    unknown = set(of.unseen) - of.heard_of_it
    if stand.activity in _FOR_ANOTHER and unknown:
        # Nobody knows what became of those: what it waits for may be theirs to do.
        return False
    if stand.activity != "user_code" or stand.running or stand.moving:
        return True
    if _most(of) or unknown:
        # Before the setup it can be in no transfer; but the one that is in it may have left out telling them a word.
        return False
    if (stand.location.file, stand.location.line) in of.facts.code.lines:
        return True
    return not of.transfers and len(of.elsewhere) < len(of.waiting)
