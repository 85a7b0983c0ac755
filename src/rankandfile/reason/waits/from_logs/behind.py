"""What logs say of ranks that others wait for: how far they had come, that they never spoke, that they are gone."""

from __future__ import annotations

from rankandfile.model.diagnosis import CAUSES, Alternative, Cohort, Confidence, Culprit, Divergence, Verdict
from rankandfile.model.ranks import format_ranks
from rankandfile.reason.calls.requests import as_call, of_report
from rankandfile.reason.causes.told import story_of
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import (
    Story,
    Subject,
    location_of,
    world_of,
)
from rankandfile.reason.verdict.remedies import ANTI_ADVICE, REMEDIES
from rankandfile.reason.waits.graph import Pending, Root
from rankandfile.reason.words import ranks_words, upper, verb

from .in_words import wait_list, waiting
from .settings import SETTINGS
from .waits import Logged

_LOST_A_PEER = ("Connection closed by peer", "Connection reset by peer")


def behind(facts: Facts, logged: Logged, root: Root, call: Pending) -> Verdict:
    proved = root.kind == "absent"
    stories = {r: story for r in root.ranks if (story := story_of(facts, Subject(r, proved, call.waiting)))}
    named = _named(root, call, stories)
    if not named and _lost(facts, root):
        return _lost_peer(facts, logged, root, call)
    first = next(iter(stories.values()), None) if named else None
    if proved:
        far = logged.far.get((root.ranks[0], call.group))
        what = f"{upper(ranks_words(root.ranks))} had come to seq {far} when asked, and not issued it"
    else:
        what = f"{upper(ranks_words(root.ranks))} never spoke of it"
    told = "; ".join(f"{ranks_words([rank])}: {story.doing}" for rank, story in stories.items())
    return _document(
        facts,
        logged,
        root,
        call,
        cause=first.cause if first else "undetermined",
        confidence=first.confidence if first else ("supported" if named else "hypothesis"),
        what=f"{what}{f'. {upper(told)}' if told else ''}",
        culprits=named,
        stories=stories,
    )


def _named(root: Root, call: Pending, stories: dict[int, Story]) -> tuple[int, ...]:
    """Those to blame: whoever failed, and whoever surely is behind the most.

    Few that wait for many may have made a call too many, or left one out before; and that a rank is alive and silent
    says only that it is behind.
    """
    failed = tuple(sorted(rank for rank, story in stories.items() if not story.absence))
    if failed:
        return failed
    if len(root.ranks) * 2 > len(call.waiting):
        return ()
    return root.ranks if root.kind == "absent" else tuple(sorted(stories))


def _lost(facts: Facts, root: Root) -> list[str]:
    """Lines of ranks that lost a peer, where all ranks but one are still there to say that they wait."""
    others = set(range(world_of(facts))) - set(root.ranks)
    if len(root.ranks) != 1 or not others <= facts.testimony.gave_up:
        return []
    echoes = facts.testimony.echoes.values()
    return [i for error in echoes if any(w in error.words for w in _LOST_A_PEER) for i in error.evidence]


def _lost_peer(facts: Facts, logged: Logged, root: Root, call: Pending) -> Verdict:
    lines = tuple(_lost(facts, root))
    story = Story(
        cause="killed",
        confidence="supported",
        doing="gone: its peers lost a connection, and all others are still there",
        evidence=lines[:2],
        alternatives=tuple(
            Alternative(
                cause=cause,
                confidence="hypothesis",
                sentence=words,
                culprits=format_ranks(root.ranks),
                decided_by="its exit code",
            )
            for cause, words in (
                ("exited", "It may have exited by itself, without a word."),
                ("raised", "It may have raised an exception that its log does not have."),
            )
        ),
    )
    return _document(
        facts,
        logged,
        root,
        call,
        cause="killed",
        confidence="supported",
        what=f"{upper(ranks_words(root.ranks))} never spoke of it, and {verb(root.ranks, 'is', 'are')} {story.doing}",
        culprits=root.ranks,
        stories=dict.fromkeys(root.ranks, story),
    )


def _document(
    facts: Facts,
    logged: Logged,
    root: Root,
    call: Pending,
    *,
    cause: str,
    confidence: Confidence,
    what: str,
    culprits: tuple[int, ...],
    stories: dict[int, Story],
) -> Verdict:
    reports = logged.of_call(call)
    behind = [r.evidence for rank in root.ranks[:4] for r in facts.testimony.of_rank.get(rank, ())[:1]]
    first = next(iter(stories.values()), None)
    claim = next((c for r in reports if (c := of_report(r))), None)
    return Verdict(
        hang=True,
        cause=cause,
        family=CAUSES[cause],
        confidence=confidence,
        sentence=f"{waiting(logged, call)}. {what}.",
        culprits=[
            Culprit(rank=rank, doing=stories[rank].doing if rank in stories else None) for rank in culprits
        ],
        victims=format_ranks({*root.victims} - set(culprits)),
        divergence=Divergence(
            group=logged.groups[call.group].words,
            members=format_ranks(logged.groups[call.group].members),
            seq=call.slot,
            kind="absent",
            cohorts=[
                Cohort(ranks=format_ranks(call.waiting), call=as_call(claim, call.slot) if claim else None),
                Cohort(ranks=format_ranks(root.ranks)),
            ],
            exact=False,
        ),
        location=(first.location if first else None) or location_of(claim.place if claim else None),
        waits=wait_list(logged, root),
        evidence=list(
            dict.fromkeys(
                [reports[0].evidence, *behind, *(i for story in stories.values() for i in story.evidence)]
            )
        ),
        alternatives=list(first.alternatives) if first else _silent(root),
        remedies=list(REMEDIES.get(cause, ())),
        anti_advice=list(ANTI_ADVICE.get(cause, ())),
        missing_evidence=list(SETTINGS),
    )


def _silent(root: Root) -> list[Alternative]:
    """Silence is no proof, and still the best place to look."""
    return [
        Alternative(
            cause="host_blocked",
            confidence="hypothesis",
            sentence=f"{upper(ranks_words(root.ranks))} may be held up on the host, or gone.",
            culprits=format_ranks(root.ranks),
            decided_by="its stack, its exit code, or the end of its log",
        )
    ]
