"""What is found by where the ranks stand: who holds the others up, who is not there, who went another way."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rankandfile.model.diagnosis import Alternative, Call, Cohort, Confidence, Divergence, Location, Missing
from rankandfile.model.heuristics import Heuristic
from rankandfile.model.ranks import format_ranks
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finders.did_instead import story_of
from rankandfile.reason.ranks.did_instead import AskedRank, Story
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.verdict.moved import over_by_dumps
from rankandfile.reason.waits.components import components
from rankandfile.reason.waits.unrecorded_waits import named_after_a_transfer
from rankandfile.reason.words import ranks_words, upper, verb

from .kinds import kind_of, known, rooted
from .places import Cohort as Standing
from .places import Parting, parting
from .where_all_stand import WhereAllStand

_STACKS = Heuristic("where all stand", "the odd one out among stacks of equals is out of line")
_MOST_PLACES = 6
_ENOUGH_LOOKS = 3
_DESTROYS = ("destroy_process_group", "_abort_process_group", "_shutdown_backend")
#: What any running job does at times while others wait for it: one look proves nothing.
_PASSES = ("data_loader", "file_io", "network_io", "compile", "gc", "checkpoint", "subprocess", "exception")


def by_stacks(facts: Facts) -> list[Finding]:
    """The best that the stacks tell; nothing where none was taken, or nobody waits for anybody."""
    if _STACKS.off or not facts.hosts:
        return []
    all_of_them = WhereAllStand(facts)
    if not all_of_them.overdue and set(all_of_them.waiting) & over_by_dumps(facts):
        return []
    looks: tuple[Callable[[WhereAllStand], Finding | None], ...] = (
        held_up,
        ended,
        all_receive,
        not_there,
        left_running,
        went_another_way,
        undecided,
    )
    found = next((found for look in looks if (found := look(all_of_them)) is not None), None)
    # That ranks move says nothing beside records of what they called.
    return [found] if found is not None and (found.hang or not facts.call_table.calls.height) else []


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
    return _finding(
        of,
        cause=first.cause,
        confidence=confidence,
        what=f"{_told(doing)}. {_waiting(of, of.waiting, 'for it' if len(named) == 1 else 'for them')}",
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
    return (
        bool(of.stays)
        or of.alike
        or (not stand.running and not stand.moving and stand.activity not in _PASSES)
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


def ended(of: WhereAllStand) -> Finding | None:
    """All that live wait, and some have died before."""
    stories = {r: s for r in of.gone if (s := story_of(of.facts, AskedRank(r, True, tuple(of.waiting))))}
    if not of.waiting or not stories:
        return None
    named = tuple(sorted(stories))
    first, doing = stories[named[0]], {rank: story.doing for rank, story in stories.items()}
    return _finding(
        of,
        cause=first.cause,
        confidence=first.confidence if first.confidence != "established" else "supported",
        what=f"{_told(doing)}. {_waiting(of, of.waiting, 'for it' if len(named) == 1 else 'for them')}",
        culprits=named,
        doing=doing,
        evidence=[i for story in stories.values() for i in story.evidence],
        location=first,
        alternatives=first.alternatives,
    )


def not_there(of: WhereAllStand) -> Finding | None:
    """All but a few were seen, and all of them wait: the few have not come, or are gone."""
    those = of.unseen
    if set(those) & of.heard_of_it:
        return None
    if not those or of.elsewhere or len(of.waiting) < 2 or len(those) * 2 >= len(of.waiting) + len(those):
        return None
    line = {r: of.facts.accounts.last_lines.get(r) for r in those}
    raised = {r: of.facts.accounts.raised[r] for r in those if r in of.facts.accounts.raised}
    doing = {
        rank: f"no stack of it; it raised {raised[rank].words}"
        if rank in raised
        else "no stack of it, where all others have one"
        + (f"; its last line is '{last[:80]}'" if (last := line[rank]) else "")
        for rank in those
    }
    # A rank that ended because others had failed left no stack either: its log must be here to tell.
    sure = of.stays and len(those) == 1 and not of.transfers and those[0] in of.facts.accounts.logged
    return _finding(
        of,
        cause="raised" if len(raised) == len(those) else "undetermined",
        confidence="supported" if sure else "hypothesis",
        what=(
            f"{_waiting(of, of.waiting, '')}. {upper(ranks_words(those))} {verb(those, 'is', 'are')} not among "
            f"them: {'; '.join(dict.fromkeys(doing.values()))}"
        ),
        culprits=those,
        doing=doing,
        evidence=[i for error in raised.values() for i in error.evidence],
        alternatives=()
        if raised
        else tuple(
            perhaps(cause, words, those, decided_by=by)
            for cause, words, by in (
                ("killed", "Its process may be gone.", "its exit code, the kernel log of its host"),
                ("early_exit", "It may have left the loop, and ended.", "its exit code, the end of its log"),
                ("peer_unreachable", "Its host may not answer.", "whether its host answers"),
                ("host_blocked", "It may be held, and nobody could look.", "its stack"),
            )
        ),
        missing=(
            Missing(
                what=f"the stack of {ranks_words(those)}",
                how="py-spy dump --pid PID on its host; if the process is gone, its exit code and the end of its log",
            ),
        ),
    )


def left_running(of: WhereAllStand) -> Finding | None:
    """Nobody waits for a rank, and some do not get out of their interpreter: what still runs there keeps them."""
    leaving = {r: s for r, s in of.stands.items() if s.activity == "teardown" and kind_of(s) not in _DESTROYS}
    others = {r for r in of.waiting if r not in leaving} | set(of.elsewhere)
    if not leaving or others or not (of.stays or of.alike):
        return None
    named = tuple(sorted(leaving))
    doing = {rank: stand.words for rank, stand in leaving.items()}
    return _finding(
        of,
        cause="teardown_only",
        confidence="supported" if of.stays else "hypothesis",
        what=f"{_told(doing)}. No rank that was seen waits for another",
        culprits=named,
        doing=doing,
        evidence=[i for stand in leaving.values() for i in stand.evidence],
    )


def all_receive(of: WhereAllStand) -> Finding | None:
    """Ranks that receive from each other in a circle, as the arguments in their stacks show: none of them has sent."""
    awaited = {r: s.asked.awaited for r, s in of.waiting.items() if s.asked.awaited is not None}
    circles = [circle for circle in _circles(awaited) if len(circle) > 1]
    if not circles:
        return None
    named = tuple(sorted(rank for circle in circles for rank in circle))
    lines = {(of.stands[r].location.file, of.stands[r].location.line) for r in named}
    sure = bool(of.stays) and len(lines) == 1 and set(named) == set(of.stands) and not of.unseen
    doing = {rank: f"receives from rank {awaited[rank]} before it sends" for rank in named}
    return _finding(
        of,
        cause="order_inversion" if len(lines) == 1 else "skipped_collective",
        confidence="supported" if sure else "hypothesis",
        what=f"{_told(doing)}: {upper(_waiting(of, named, ''))}",
        culprits=named,
        doing=doing,
        evidence=[i for rank in named for i in of.stands[rank].evidence],
        place=of.stands[named[0]].location if len(lines) == 1 else None,
        alternatives=(
            perhaps(
                "skipped_collective" if len(lines) == 1 else "order_inversion",
                "A send may have been left out before."
                if len(lines) == 1
                else "Both may receive before they send.",
                named,
                decided_by="the source at these lines: who sends to whom, and when",
            ),
        ),
    )


def _circles(awaited: dict[int, int]) -> list[list[int]]:
    ranks = sorted({*awaited, *awaited.values()})
    index = {rank: i for i, rank in enumerate(ranks)}
    arrows = [[index[awaited[rank]]] if rank in awaited else [] for rank in ranks]
    return [[ranks[i] for i in part] for part in components(arrows)]


def went_another_way(of: WhereAllStand) -> Finding | None:
    """All wait for each other, and not in the same place: the few that left the way of the others are out of line."""
    if of.elsewhere or len(of.stands) < 2:
        return None
    parted = parting(of.cohorts)
    if parted is None or not parted.usual:
        return None
    odd, usual = _ranks(parted.odd), _ranks(parted.usual)
    # To make a group takes every rank of the job, whatever groups there are.
    makes_group = _cause(parted) == "group_mismatch" and len(parted.usual) == 1
    alike = of.one_group or (makes_group and not of.transfers)
    sure = bool(of.stays) and alike and not of.unseen and _unlike(parted)
    if (_by_role(of, parted) or any(rooted(cohort.stand) for cohort in parted.odd)) and not sure:
        # By its role a rank stands elsewhere, or it waits for one that went on with the others.
        return None
    doing = {
        r: f"{cohort.stand.phrase}, off the way of the others" for cohort in parted.odd for r in cohort.ranks
    }
    return _finding(
        of,
        cause=_cause(parted),
        confidence="supported" if sure else "hypothesis",
        what=(
            f"{upper(_places(parted.odd))}, while {_places(parted.usual)}: they wait for each other, and "
            f"{ranks_words(odd)} {verb(odd, 'is', 'are')} the odd {verb(odd, 'one', 'ones')} out"
        ),
        culprits=odd,
        doing=doing,
        evidence=[i for cohort in (*parted.odd, *parted.usual) for i in cohort.stand.evidence[:1]],
        divergence=_divergence(of, (*parted.usual, *parted.odd)),
        alternatives=(
            perhaps(
                "skipped_collective",
                f"{upper(ranks_words(usual))} may have left out the call that {ranks_words(odd)} "
                f"{verb(odd, 'waits', 'wait')} in.",
                usual,
                decided_by="flight-recorder dumps of all ranks, or the source (--src)",
            ),
        ),
    )


def _by_role(of: WhereAllStand, parted: Parting) -> bool:
    """Whether the odd ones may stand elsewhere by their role, as the stages of a pipeline do.

    Not where all others wait in one and the same collective: no stage sends or receives then.
    """
    usual = parted.usual[0].stand
    together = len(parted.usual) == 1 and usual.activity == "collective" and known(usual)
    return of.transfers and not together


def _cause(parted: Parting) -> str:
    if all("group" in cohort.stand.op for cohort in parted.odd if cohort.stand.activity == "init") and all(
        cohort.stand.activity == "init" for cohort in parted.odd
    ):
        return "group_mismatch"
    if all(cohort.stand.activity == "teardown" for cohort in parted.odd):
        return "early_exit"
    return "different_collective"


def _unlike(parted: Parting) -> bool:
    """The calls cannot belong together: else a call too many or too few before may have shifted all after it.

    Who waits as or for the root of a call may wait for one that went on with the others.
    """
    odd = {kind_of(cohort.stand) for cohort in parted.odd}
    usual = {kind_of(cohort.stand) for cohort in parted.usual}
    return not odd & usual and not any(rooted(cohort.stand) for cohort in parted.odd)


def undecided(of: WhereAllStand) -> Finding | None:
    """Nobody can be named: where each stands, the odd ones first, and the one thing to do next."""
    if not of.stands:
        return None
    parted = parting(of.cohorts)
    moving = of.moving
    shown = sorted(of.cohorts, key=lambda cohort: (len(cohort.ranks), cohort.ranks))
    if moving and not of.stays:
        told = f"{upper(ranks_words(moving))} {verb(moving, 'moves', 'move')}: a job at work looks like this"
    elif not of.waiting:
        told = (
            "None of them is seen to wait for another, and none is seen at work: a call into C leaves no frame, and "
            "any of these lines may wait"
        )
    elif parted is None:
        told = "All that were seen stand in one place, so the stacks accuse nobody"
    else:
        told = "Who is out of line the stacks alone do not tell"
    unseen = of.unseen
    also = f" {upper(ranks_words(unseen))} left no stack." if unseen else ""
    return _finding(
        of,
        cause=_open_cause(of, parted),
        confidence="hypothesis",
        what=f"{upper('; '.join(_place(cohort) for cohort in shown[:_MOST_PLACES]))}. {told}",
        also=also,
        culprits=(),
        doing={},
        hang=bool(of.waiting or of.stays) and not (moving and not of.stays),
        evidence=[i for cohort in shown[:_MOST_PLACES] for i in cohort.stand.evidence[:1]],
        divergence=_divergence(of, tuple(of.cohorts)) if parted and of.waiting and not of.transfers else None,
        missing=(_next_step(of),),
    )


def _open_cause(of: WhereAllStand, parted: Parting | None) -> str:
    """Ranks of one group in calls of two kinds went two ways, whoever of them was to go which."""
    if parted is None or of.elsewhere or of.unseen or not (of.stays or of.alike) or not of.one_group:
        return "undetermined"
    kinds = {kind_of(cohort.stand) for cohort in (*parted.odd, *parted.usual)}
    known_kinds = all(known(cohort.stand) for cohort in (*parted.odd, *parted.usual))
    return "different_collective" if len(kinds) > 1 and known_kinds else "undetermined"


def _next_step(of: WhereAllStand) -> Missing:
    if not of.stays:
        return Missing(
            what="whether they move",
            how="py-spy dump --pid PID on each rank once more, some seconds later; --hung if you know that it hung",
        )
    if not of.waiting:
        return Missing(
            what="what these lines do",
            how="py-spy dump --native --pid PID on each rank, or --src DIR: the text of a line tells",
        )
    if of.unseen:
        return Missing(
            what=f"the {verb(of.unseen, 'stack', 'stacks')} of {ranks_words(of.unseen)}",
            how="py-spy dump --pid PID",
        )
    if of.facts.code.makes_groups is None:
        return Missing(what="the program's source", how="--src DIR: which condition leads to each place")
    return Missing(
        what="the calls that led there",
        how="flight-recorder dumps of all ranks: TORCH_FR_BUFFER_SIZE=2000, or start the job with `raf run`",
    )


def _finding(
    of: WhereAllStand,
    *,
    cause: str,
    confidence: Confidence,
    what: str,
    culprits: tuple[int, ...],
    doing: dict[int, str],
    evidence: Iterable[str],
    location: Story | None = None,
    place: Location | None = None,
    alternatives: tuple[Alternative, ...] = (),
    missing: tuple[Missing, ...] = (),
    divergence: Divergence | None = None,
    hang: bool = True,
    also: str = "",
) -> Finding:
    stays = f" {upper(of.stays)}." if of.stays and hang else ""
    unproved = (
        "" if of.stays or not hang else " Nothing shows that they stay there: this holds if the job hung."
    )
    if of.alike and unproved:
        unproved = (
            " Each stood there whenever somebody looked, which was within moments of each other, or nobody knows when: "
            "this holds if the job hung."
        )
    seen = [stand.evidence[0] for stand in of.waiting.values() if stand.evidence][:4]
    return Finding(
        cause=cause,
        confidence=confidence,
        sentence=f"{what}.{stays}{also}{unproved}",
        culprits=culprits,
        doing=doing,
        location=location.location if location is not None else place,
        divergence=divergence,
        evidence=tuple(dict.fromkeys([*evidence, *seen])),
        alternatives=alternatives,
        missing=missing or ((_next_step(of),) if confidence == "hypothesis" else ()),
        victims=tuple(sorted(set(of.waiting) - set(culprits))),
        hang=hang,
        unadvised=() if culprits else ("anti_advice", "probes"),
    )


def _divergence(of: WhereAllStand, places: tuple[Standing, ...]) -> Divergence:
    ranks = format_ranks([*of.stands, *of.unseen])
    return Divergence(
        group=f"default_pg [{ranks}]" if of.one_group else "not told by stacks",
        seq=None,
        kind="substituted",
        cohorts=[
            Cohort(
                ranks=format_ranks(cohort.ranks),
                call=Call(
                    op=kind_of(cohort.stand),
                    file=cohort.stand.location.file,
                    line=cohort.stand.location.line,
                    function=cohort.stand.location.function,
                    evidence=list(cohort.stand.evidence[:1]),
                ),
            )
            for cohort in places
        ],
        exact=False,
    )


def _ranks(places: Iterable[Standing]) -> tuple[int, ...]:
    return tuple(sorted(rank for cohort in places for rank in cohort.ranks))


def _place(cohort: Standing) -> str:
    words = cohort.stand.phrase
    how = verb(cohort.ranks, "is", "are")
    if words.startswith("in ") and cohort.stand.waits == "ranks":
        how = verb(cohort.ranks, "waits", "wait")
    elif words.startswith("in "):
        how = verb(cohort.ranks, "stands", "stand")
    return f"{ranks_words(cohort.ranks)} {how} {words}"


def _places(places: Iterable[Standing]) -> str:
    return "; ".join(_place(cohort) for cohort in list(places)[:_MOST_PLACES])


def _told(doing: dict[int, str]) -> str:
    alike: dict[str, list[int]] = {}
    for rank, words in doing.items():
        alike.setdefault(words, []).append(rank)
    return upper("; ".join(f"{ranks_words(ranks)}: {words}" for words, ranks in alike.items()))


def _waiting(of: WhereAllStand, ranks: Iterable[int], whom: str) -> str:
    those = set(ranks)
    places = [c for c in of.cohorts if set(c.ranks) <= those]
    words = "; ".join(
        f"{ranks_words(c.ranks)} {verb(c.ranks, 'waits', 'wait')} {f'{whom}, ' if whom else ''}{c.stand.phrase}"
        for c in places[:_MOST_PLACES]
    )
    return upper(words)
