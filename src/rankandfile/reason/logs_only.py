"""The verdict where there is not one dump: what the watchdogs' lines of all ranks say together.

Which group, which collective, who is behind and who never spoke can be had from counters; what led there cannot.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import (
    CAUSES,
    Alternative,
    Cohort,
    Confidence,
    Culprit,
    Divergence,
    Missing,
    Verdict,
)
from rankandfile.model.ranks import format_ranks

from .causes.told import story_of
from .claims import as_call, of_report, sides
from .facts import Facts
from .logged_disagreement import disagreement
from .logged_waits import Logged, logged_waits
from .logged_words import wait_list, waiting
from .remedies import ANTI_ADVICE, REMEDIES
from .stories import Story, Subject, location_of, world_of
from .waits import Pending, Root
from .words import ranks_words, upper, verb

SETTINGS = (
    Missing(
        what="the calls of every rank, which alone show what led here",
        how="TORCH_FR_BUFFER_SIZE=2000 (TORCH_NCCL_TRACE_BUFFER_SIZE before torch 2.8): the flight recorder is on",
    ),
    Missing(
        what="dumps that survive the job",
        how="TORCH_FR_DUMP_TEMP_FILE=/shared/JOB/trace_ (TORCH_NCCL_DEBUG_INFO_TEMP_FILE before torch 2.8): one file "
        "per rank, on storage that outlives the process",
    ),
)
_MOST_VERDICTS = 3
_LOST_A_PEER = ("Connection closed by peer", "Connection reset by peer")


def logs_only(facts: Facts) -> list[Verdict]:
    """At most a few verdicts; none if dumps tell of all ranks that wait, or if no watchdog gave up on anything."""
    if not facts.testimony.gave_up - set(facts.case.ranks_seen):
        return []
    logged = logged_waits(facts.testimony, world_of(facts))
    order = {"absent": 0, "cycle": 1, "missing": 2, "joined": 3}
    roots = sorted(logged.waits.roots, key=lambda r: (order.get(r.kind, 9), -len(r.victims), r.ranks))
    found = [_verdict(facts, logged, root) for root in _together(roots)]
    named = [v for v in found if v.culprits]
    return named[:_MOST_VERDICTS] or found[:1]


def _together(roots: list[Root]) -> list[Root]:
    """Ranks that one and the same call lacks are one fault."""
    out: list[Root] = []
    for root in roots:
        for i, other in enumerate(out):
            if root.kind == other.kind and root.ranks and set(root.pending) & set(other.pending):
                ranks = tuple(sorted({*root.ranks, *other.ranks}))
                pending = tuple(sorted({*root.pending, *other.pending}))
                out[i] = Root(ranks, pending, root.kind, tuple(sorted({*root.victims, *other.victims})))
                break
        else:
            out.append(root)
    return out


def _verdict(facts: Facts, logged: Logged, root: Root) -> Verdict:
    call = logged.waits.pending[root.pending[0]]
    if root.kind == "cycle":
        return _cycle(logged, root)
    if root.kind in ("absent", "missing"):
        return _behind(facts, logged, root, call)
    return _all_came(logged, root, call)


def _behind(facts: Facts, logged: Logged, root: Root, call: Pending) -> Verdict:
    proved = root.kind == "absent"
    stories = {r: story for r in root.ranks if (story := story_of(facts, Subject(r, proved, call.waiting)))}
    # Few that wait for many may have made a call too many.
    named = (
        root.ranks if proved and (stories or len(root.ranks) <= len(call.waiting)) else tuple(sorted(stories))
    )
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


def _all_came(logged: Logged, root: Root, call: Pending) -> Verdict:
    assert call.slot is not None
    reports = logged.reports[call.group, call.slot]
    parts = sides([claim for report in reports if (claim := of_report(report))])
    base = Verdict(
        hang=True,
        cause="undetermined",
        family=CAUSES["undetermined"],
        confidence="hypothesis",
        sentence=(
            f"{waiting(logged, call)}. No watchdog says that anyone is behind: a device or the network may be at "
            "fault, or a rank that left no line."
        ),
        victims=format_ranks(root.victims or call.waiting),
        waits=wait_list(logged, root),
        evidence=[r.evidence for r in reports[:4]],
        missing_evidence=list(SETTINGS),
        alternatives=[
            Alternative(cause=cause, confidence="hypothesis", sentence=words, decided_by="dumps of all ranks")
            for cause, words in (
                ("network_stalled", "All have begun it, and the network does not carry it."),
                ("gpu_stuck", "One member's device has not come to it."),
            )
        ],
    )
    if len(parts) < 2:
        return base
    return disagreement(logged, call, parts, base)


def _cycle(logged: Logged, root: Root) -> Verdict:
    calls = [logged.waits.pending[i] for i in root.pending[:4]]
    edges = "; ".join(f"{waiting(logged, c)}, for {ranks_words(c.lacking)}" for c in calls if c.lacking)
    reports = [r for c in calls if c.slot is not None for r in logged.reports[c.group, c.slot][:1]]
    return Verdict(
        hang=True,
        cause="order_inversion",
        family=CAUSES["order_inversion"],
        confidence="supported",
        sentence=f"{upper(ranks_words(root.ranks))} wait for each other in a circle: {edges}.",
        culprits=[Culprit(rank=rank) for rank in root.ranks],
        victims=format_ranks(set(root.victims) - set(root.ranks)),
        waits=wait_list(logged, root),
        evidence=[r.evidence for r in reports],
        missing_evidence=list(SETTINGS),
        remedies=list(REMEDIES["order_inversion"]),
        anti_advice=list(ANTI_ADVICE["order_inversion"]),
        alternatives=[
            Alternative(
                cause="skipped_collective",
                confidence="hypothesis",
                sentence="Some of the ranks may have left out a call before.",
                culprits=format_ranks(root.ranks),
                decided_by="the dumps of these ranks",
            )
        ],
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
    assert call.slot is not None
    reports = logged.reports[call.group, call.slot]
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
