"""What logs say of ranks that others wait for: how far they had come, that they never spoke, that they are gone."""

from __future__ import annotations

from msgspec.structs import replace

from rankandfile.model.diagnosis import Alternative, Confidence
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import told
from rankandfile.reason.calls.requests import of_report
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finders.did_instead import story_of
from rankandfile.reason.ranks.did_instead import (
    AskedRank,
    Story,
    location_of,
    world_of,
)
from rankandfile.reason.ranks.from_logs.counters import Counter
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.words import ranks_words, upper, verb

from .in_smaller_groups import in_smaller_groups, waits_elsewhere
from .in_words import in_calls, not_come, wait_list
from .settings import SETTINGS
from .silent_watchdog import silent_watchdog
from .told_of_absent import at_work, at_work_words, by_elimination
from .waits import LoggedWaits

_LOST_A_PEER = ("Connection closed by peer", "Connection reset by peer")


def behind(facts: Facts, logged: LoggedWaits, wait_end: WaitEnd, call: Pending) -> Finding:
    proved = wait_end.kind == "absent"
    if waiting_too := waits_elsewhere(facts, logged, wait_end, call):
        if not (rest := tuple(rank for rank in wait_end.ranks if rank not in waiting_too)):
            return in_smaller_groups(facts, logged, wait_end, call)
        wait_end = replace(wait_end, ranks=rest, victims=tuple(sorted({*wait_end.victims, *waiting_too})))
    stories = {
        r: story for r in wait_end.ranks if (story := story_of(facts, AskedRank(r, proved, call.waiting)))
    }
    if not stories and (working := at_work(facts, wait_end.ranks, logged.of_call(call))):
        return _too_late(facts, logged, wait_end, call, working)
    stories = stories or by_elimination(facts, wait_end.ranks)
    silent = {} if stories or _lost(facts, wait_end) else silent_watchdog(facts, logged, wait_end, call)
    stories = stories or silent
    if stories and not silent and _may_wait_elsewhere(facts, logged, wait_end, call, stories):
        other = _together_elsewhere(wait_end, call)
        stories = {
            rank: replace(story, confidence="hypothesis", alternatives=(other, *story.alternatives))
            for rank, story in stories.items()
        }
    named = (
        wait_end.ranks
        if stories and stories == silent
        else _named(wait_end, call, stories, facts.accounts.left_out)
    )
    if not named and _lost(facts, wait_end):
        return _lost_peer(facts, logged, wait_end, call)
    first = next((stories[rank] for rank in named if rank in stories), None)
    if proved:
        far = logged.far.get((wait_end.ranks[0], call.group))
        come = (
            "issued nothing there yet" if far is None or far < 0 else f"come to seq {far}, and not issued it,"
        )
        what = f"{upper(ranks_words(wait_end.ranks))} had {come} when asked"
    elif facts.accounts.left_out:
        what = (
            f"Of {ranks_words(wait_end.ranks)} no line is printed: up to {facts.accounts.left_out} lines of others "
            "were left out as alike, so who of them waits too is not told"
        )
    else:
        what = f"{upper(ranks_words(wait_end.ranks))} left no line about it"
        if waited := [rank for rank in wait_end.ranks if rank in facts.accounts.waited_in_vain]:
            what += (
                f"; {ranks_words(waited)} waited in vain for others {verb(waited, 'itself', 'themselves')}"
            )
    alike: dict[str, list[int]] = {}
    for rank, story in stories.items():
        alike.setdefault(story.doing, []).append(rank)
    told = "; ".join(
        f"{ranks_words(ranks)}{', each' if len(ranks) > 1 and ' its ' in doing else ''}: {doing}"
        for doing, ranks in alike.items()
    )
    if not stories:
        what += _last_words(facts, wait_end.ranks)
    return _finding(
        facts,
        logged,
        wait_end,
        call,
        cause=first.cause if first else "undetermined",
        confidence=first.confidence if first else ("supported" if named else "hypothesis"),
        what=f"{what}{f'. {upper(told)}' if told else ''}",
        culprits=named,
        stories=stories,
    )


def _may_wait_elsewhere(
    facts: Facts, logged: LoggedWaits, wait_end: WaitEnd, call: Pending, stories: dict[int, Story]
) -> bool:
    """Of whom is known only that they are not in this call may be in one of a smaller group, and wait there: several
    in one of their own, and a single one that is not known to have made any call before. So may several who are no
    fewer than those that wait, and stand at a line of the program that shows no frame of what it called."""
    unseen = 1 < len(wait_end.ranks) >= len(call.waiting) and not any(
        stand is None or stand.waits == "no" or stand.running
        for stand in map(facts.hosts.get, wait_end.ranks)
    )
    alone = all(story.absence for story in stories.values())
    if not (alone or unseen) or facts.code.makes_groups is False:
        return False
    called = {rank for (rank, _), seq in logged.far.items() if seq > 0}
    return len(wait_end.ranks) > 1 or called.isdisjoint(wait_end.ranks)


def _together_elsewhere(wait_end: WaitEnd, call: Pending) -> Alternative:
    return perhaps(
        "skipped_collective",
        f"{upper(ranks_words(wait_end.ranks))} may wait in a call of a smaller group, which one of "
        f"{ranks_words(call.waiting)} left out.",
        call.waiting,
        decided_by="their stacks",
    )


def _too_late(
    facts: Facts, logged: LoggedWaits, wait_end: WaitEnd, call: Pending, working: Counter
) -> Finding:
    """It would have come: the others' patience was shorter than its work."""
    words, ranks = at_work_words(working, wait_end.ranks), wait_end.ranks
    story = Story(
        cause="too_short_timeout",
        confidence="hypothesis",
        doing=words,
        evidence=(working.evidence,),
        alternatives=(
            Alternative(
                cause="host_slow",
                confidence="hypothesis",
                sentence=f"{upper(ranks_words(ranks))} may be slower at this work than usual.",
                culprits=format_ranks(ranks),
                decided_by="how long it took in earlier runs",
            ),
            Alternative(
                cause="early_exit",
                confidence="hypothesis",
                sentence=f"{upper(ranks_words(ranks))} may be on a way that never leads to that call.",
                culprits=format_ranks(ranks),
                decided_by="the code after that work",
            ),
        ),
    )
    found = _finding(
        facts, logged, wait_end, call, cause=story.cause, confidence=story.confidence,
        what=f"{upper(words)}: it may be that nothing hung, and that the timeout is shorter than that work",
        culprits=ranks, stories=dict.fromkeys(ranks, story),
    )  # fmt: skip
    return replace(found, hang=None)


def _words(line: str | None) -> bool:
    """Whether a last line is a word of the program, and no frame of a stack or line of its watchdog."""
    return bool(line) and not str(line).startswith(("File ", "Thread ", "Current thread", "[PG ", "[Rank "))


def _last_words(facts: Facts, ranks: tuple[int, ...]) -> str:
    """What a rank was saying when it fell silent is where to look first."""
    last = {
        rank: facts.accounts.last_lines[rank] for rank in ranks if _words(facts.accounts.last_lines.get(rank))
    }
    told = "; ".join(f'of {ranks_words([rank])}: "{words}"' for rank, words in list(last.items())[:2])
    return f". The last line {told}" if told and len(last) <= 2 else ""


def _named(wait_end: WaitEnd, call: Pending, stories: dict[int, Story], left_out: int) -> tuple[int, ...]:
    """Those to blame: whoever failed, and whoever surely is behind the most.

    Few that wait for many may have made a call too many, or left one out before; and that a rank is alive and silent
    says only that it is behind.
    """
    failed = tuple(sorted(rank for rank, story in stories.items() if not story.absence))
    if left_out and not failed:
        return ()
    if failed:
        return failed
    if len(wait_end.ranks) * 2 > len(call.waiting):
        return ()
    return wait_end.ranks if wait_end.kind == "absent" else tuple(sorted(stories))


def _lost(facts: Facts, wait_end: WaitEnd) -> list[str]:
    """Lines of ranks that lost a peer, where all ranks but one are still there to say that they wait."""
    others = set(range(world_of(facts))) - set(wait_end.ranks)
    if len(wait_end.ranks) != 1 or not others <= facts.accounts.gave_up:
        return []
    echoes = facts.accounts.echoes.values()
    return [i for error in echoes if any(w in error.words for w in _LOST_A_PEER) for i in error.evidence]


def _lost_peer(facts: Facts, logged: LoggedWaits, wait_end: WaitEnd, call: Pending) -> Finding:
    lines = tuple(_lost(facts, wait_end))
    story = Story(
        cause="killed",
        confidence="supported",
        doing="gone: its peers lost a connection, and all others are still there",
        evidence=lines[:2],
        alternatives=tuple(
            perhaps(cause, words, wait_end.ranks, decided_by="its exit code")
            for cause, words in (
                ("exited", "It may have exited by itself, without a word."),
                ("raised", "It may have raised an exception that its log does not have."),
            )
        ),
    )
    return _finding(
        facts,
        logged,
        wait_end,
        call,
        cause="killed",
        confidence="supported",
        what=f"{upper(ranks_words(wait_end.ranks))} left no line about it, and {verb(wait_end.ranks, 'is', 'are')} "
        f"{story.doing}",
        culprits=wait_end.ranks,
        stories=dict.fromkeys(wait_end.ranks, story),
    )


def _finding(
    facts: Facts,
    logged: LoggedWaits,
    wait_end: WaitEnd,
    call: Pending,
    *,
    cause: str,
    confidence: Confidence,
    what: str,
    culprits: tuple[int, ...],
    stories: dict[int, Story],
) -> Finding:
    reports = logged.of_call(call)
    behind = [r.evidence for rank in wait_end.ranks[:4] for r in facts.accounts.of_rank.get(rank, ())[:1]]
    first = next((stories[rank] for rank in (*culprits, *stories) if rank in stories), None)
    claim = next((c for r in reports if (c := of_report(r))), None)
    return Finding(
        cause=cause,
        confidence=confidence,
        sentence=told(waiting(in_calls(logged, call)), f"{what.rstrip('.')}."),
        culprits=culprits,
        doing={rank: stories[rank].doing for rank in culprits if rank in stories},
        victims=tuple(sorted({*wait_end.victims} - set(culprits))),
        divergence=not_come(logged, wait_end, call, claim),
        location=(first.location if first else None) or location_of(claim.place if claim else None),
        waits=wait_list(logged, wait_end),
        evidence=(reports[0].evidence, *behind, *(i for story in stories.values() for i in story.evidence)),
        alternatives=first.alternatives if first else _silent(facts, wait_end),
        missing=SETTINGS,
        unadvised=("probes",),
    )


def _silent(facts: Facts, wait_end: WaitEnd) -> tuple[Alternative, ...]:
    """Silence is no proof, and still the best place to look. Who says that it waited in vain was not silent."""
    waited = facts.accounts.waited_in_vain
    ranks = tuple(rank for rank in wait_end.ranks if rank not in waited) or wait_end.ranks
    return (
        perhaps(
            "host_blocked",
            f"{upper(ranks_words(ranks))} may be held up on the host, or gone.",
            ranks,
            decided_by="its stack, its exit code, or the end of its log",
        ),
    )
