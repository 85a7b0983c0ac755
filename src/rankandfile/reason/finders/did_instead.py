"""What the ranks that others wait for did instead, as their stacks, logs and exit status tell it.

Who others wait for follows from the calls, or from an end of a process that is no echo; why, from what each of those
ranks left: every teller in the files of the causes is asked.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

from msgspec.structs import replace

from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import ORDER_OF_CONFIDENCE, Alternative
from rankandfile.model.heuristics import heuristic
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.causes.link_error import on_a_host
from rankandfile.reason.document import cited, not_come
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import Teller, finder, tellers
from rankandfile.reason.ranks.did_instead import AskedRank, Story
from rankandfile.reason.ranks.from_logs.proofs import failed_or_stands
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.ended_ranks import died_first
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, first_pending, pending_row, waiting_sentence
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.words import ranks_words, upper, verb

from .never_joined import AFTER_NEW_WORK, ON_ITS_WAY


@finder(precedence=160)
@heuristic("what it did instead", "stacks, logs and exits tell what the awaited rank did instead")
def did_instead(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end)
    if call is None:
        return None
    if wait_end.kind in ("joined", "behind"):
        return _joined(facts, wait_end, call)
    if wait_end.kind not in ("absent", "missing"):
        return None
    proved = wait_end.kind == "absent"
    stories = {
        rank: story
        for rank in wait_end.ranks
        if (story := story_of(facts, AskedRank(rank, proved, call.waiting)))
    }
    if not stories or (proved and not _late(facts, wait_end, call, stories)):
        return None
    culprits = wait_end.ranks if proved else tuple(sorted(stories))
    perhaps_late = _perhaps_on_its_way(facts, call, stories)
    # Of who gets on nobody knows that it does not come.
    gets_on = all(story.cause == "host_slow" for story in stories.values())
    found = _finding(
        facts,
        wait_end,
        call,
        culprits,
        stories,
        "had not joined" if perhaps_late or gets_on else "never joined",
    )
    if not proved and not _late(facts, wait_end, call, stories):
        # Whose calls are not here may be on its way: where it stood for a moment proves nothing more.
        return replace(found, confidence="hypothesis")
    return _if_it_hung(found) if perhaps_late else found


def story_of(facts: Facts, asked: AskedRank) -> Story | None:
    accounts, rank = facts.accounts, asked.rank
    if accounts.gone(rank) and not died_first(accounts, rank) and rank not in accounts.unreachable:
        return None
    return next((story for tell in tellers() if (story := tell(facts, asked))), None)


def _late(facts: Facts, wait_end: WaitEnd, call: Pending, stories: dict[int, Story]) -> bool:
    """Whether the ranks are overdue, and what is told of them is enough to blame them for it."""
    told = [story for story in stories.values() if CAUSES[story.cause].family != "host"]
    unproved = patience(facts, call) in (Patience.NOT_YET, Patience.UNKNOWN)
    if told and not (unproved and all(story.by_a_line for story in told)):
        return True
    if stories.keys() <= facts.accounts.suspended.keys():
        # Whether it is late or not: it is not on its way.
        return True
    if patience(facts, call) in (Patience.NOT_YET, Patience.UNKNOWN):
        return False
    if not any(story.absence for story in stories.values()):
        return True
    # Few wait for many: the few may have made a call too many. And a send or a receive may not be recorded.
    return len(wait_end.ranks) <= len(call.waiting) and not set(wait_end.ranks) & facts.hidden.keys()


def _perhaps_on_its_way(facts: Facts, call: Pending, stories: dict[int, Story]) -> bool:
    """Whether all that tells of a hang is a wait after work that was done for the first time, and those whom the others
    wait for were looked at no more than once, or seen to compute or to move: they may save, build or read what takes
    its time."""
    return (
        all(_may_go_on(facts, rank, story) for rank, story in stories.items())
        and not failed_or_stands(facts)
        and patience(facts, call) is Patience.NEW_WORK
    )


def _may_go_on(facts: Facts, rank: int, story: Story) -> bool:
    accounts, stand = facts.accounts, facts.hosts.get(rank)
    died = accounts.raised.get(rank)
    if CAUSES[story.cause].family != "host" or rank in accounts.suspended or (died and died.thread):
        return False
    if stand is None:
        return story.absence
    # Who spends nearly all its time on one line of a loop is seen on that line whenever someone looks.
    return stand.moving is not False or (stand.activity == "user_code" and bool(stand.running))


def _if_it_hung(found: Finding) -> Finding:
    return replace(
        found,
        hang=None,
        assumed=AFTER_NEW_WORK,
        confidence="hypothesis",
        divergence=None,
        alternatives=(ON_ITS_WAY, *found.alternatives),
    )


def _joined(facts: Facts, wait_end: WaitEnd, call: Pending) -> Finding | None:
    # Also a member whose own part has ended, or that is held: it does not carry the others' messages any more.
    ended = {
        r
        for r in facts.membership.members[call.group]
        if facts.accounts.gone(r) or r in facts.accounts.suspended
    }
    concerned = sorted({*call.waiting, *wait_end.victims, *wait_end.ranks, *ended})
    for tell in _of_those_that_joined():
        stories = {
            rank: story for rank in concerned if (story := tell(facts, AskedRank(rank, False, call.waiting)))
        }
        if stories and len(stories) < len(concerned):
            return _finding(facts, wait_end, call, tuple(stories), stories)
    return on_a_host(facts, wait_end, call)


def _finding(
    facts: Facts,
    wait_end: WaitEnd,
    call: Pending,
    culprits: tuple[int, ...],
    stories: dict[int, Story],
    did_not: str = "never joined",
) -> Finding:
    first = min(stories.values(), key=lambda story: _preferred(story.cause))
    row = pending_row(facts, call)
    doing = {rank: story.doing for rank, story in stories.items()}
    what = {
        "absent": f"{upper(ranks_words(culprits))} {did_not} the {call_phrase(facts, call)}",
        "missing": f"{upper(ranks_words(culprits))} died in the {call_phrase(facts, call)}"
        if set(culprits) <= set(call.waiting)
        else f"{upper(ranks_words(culprits))} left no dump, and {verb(culprits, 'is', 'are')} missing from the "
        f"{call_phrase(facts, call)}",
    }.get(wait_end.kind, f"All members joined the {call_phrase(facts, call)}, and none finishes it")
    against = tuple(words for story in stories.values() for words in story.contradicted)
    kind = wait_end.kind
    if kind not in ("absent", "missing") and stories.keys() <= facts.accounts.suspended.keys():
        # Which call it was in when it was stopped its own record may not tell: nobody was there to note the end of one.
        kind, what = "absent", f"Others wait for {ranks_words(culprits)}"
    said = _said(doing, culprits, kind).rstrip(".")
    sentence = f"{what}: {said}." if kind in ("absent", "missing") else f"{what}. {upper(said)}."
    if against:
        sentence += f" The sources disagree: {'; '.join(against)}."
    ids = [*cited(row)]
    ids += [i for story in stories.values() for i in story.evidence]
    for rank in culprits[:4]:
        ids += lookup.standing_evidence(facts, rank, call.group)
    return Finding(
        cause=first.cause,
        confidence=max(
            (story.confidence for story in stories.values()), key=lambda c: ORDER_OF_CONFIDENCE[c]
        ),
        sentence=told(sentence, waiting_sentence(facts, wait_end, culprits, named=True)),
        culprits=culprits,
        doing=doing,
        divergence=not_come(facts, call, row, culprits, call.waiting) if wait_end.ranks else None,
        location=first.location or lookup.location_of(facts, row),
        evidence=tuple(dict.fromkeys(ids)),
        contradicted_by="a record of the call on that rank"
        if wait_end.ranks
        else "a later dump in which the call has ended",
        alternatives=(*_other_causes(first.cause, stories), *first.alternatives),
    )


def _said(doing: dict[int, str], culprits: tuple[int, ...], kind: str) -> str:
    """What each did, ranks that did the same in one breath."""
    alike: dict[str, list[int]] = defaultdict(list)
    for rank, words in doing.items():
        alike[words].append(rank)
    if len(alike) == 1 and len(doing) == len(culprits) and kind in ("absent", "missing"):
        return next(iter(alike))
    return "; ".join(
        f"{ranks_words(ranks)}{':' if words.startswith('its ') else ''} {words}"
        for words, ranks in alike.items()
    )


def _other_causes(cause: str, stories: dict[int, Story]) -> tuple[Alternative, ...]:
    """Where several ranks are to blame for different reasons, each is said."""
    others: dict[str, list[int]] = defaultdict(list)
    for rank, story in stories.items():
        if story.cause != cause:
            others[story.cause].append(rank)
    return tuple(
        Alternative(
            cause=other,
            confidence=stories[ranks[0]].confidence,
            sentence=f"{upper(ranks_words(ranks))}: {stories[ranks[0]].doing}.",
            culprits=format_ranks(ranks),
        )
        for other, ranks in others.items()
    )


@cache
def _of_those_that_joined() -> tuple[Teller, ...]:
    """Of a rank that has joined, its process, its device, its link or its host may have failed in the call."""
    return tuple(
        sorted((one for one in tellers() if one.joined is not None), key=lambda one: one.joined or 0)
    )


@cache
def _preferred(cause: str) -> int:
    """Of several ranks that did different things: whose cause is named first."""
    return min((one.precedence for one in tellers() if one.cause == cause), default=len(CAUSES) * 100)
