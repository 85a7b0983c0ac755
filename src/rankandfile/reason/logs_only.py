"""The verdict where there is not one dump: what the watchdogs' lines of all ranks say together.

Which group, which collective, who is behind and who never spoke can be had from counters; what led there cannot.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import (
    CAUSES,
    Alternative,
    Call,
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
from .logged_transfers import gave_up
from .logged_waits import Logged, logged_waits
from .logged_words import wait_list, waiting
from .remedies import ANTI_ADVICE, REMEDIES
from .silence import silence
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
_MOST_CALLS = 4
_LOST_A_PEER = ("Connection closed by peer", "Connection reset by peer")


def logs_only(facts: Facts) -> list[Verdict]:
    """At most a few verdicts; none if dumps tell of all ranks that wait, or if no watchdog gave up on anything."""
    if not (facts.testimony.gave_up | gave_up(facts.case)) - set(facts.case.ranks_seen):
        return []
    logged = logged_waits(facts.case, facts.testimony, world_of(facts))
    order = {"absent": 0, "cycle": 1, "missing": 2, "joined": 3}
    roots = sorted(logged.waits.roots, key=lambda r: (order.get(r.kind, 9), -len(r.victims), r.ranks))
    found = [_verdict(facts, logged, root) for root in _together(roots)]
    named = [v for v in found if v.culprits]
    for verdict in found[:1] if not named else ():
        verdict.sentence = f"{verdict.sentence} {silence(facts.case, world_of(facts))}".strip()
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
    call = _first(logged, root)
    if root.kind == "cycle":
        return _cycle(logged, root)
    if root.kind in ("absent", "missing"):
        return _behind(facts, logged, root, call)
    return _all_came(logged, root, call)


def _first(logged: Logged, root: Root) -> Pending:
    """The call that the others wait in for these ranks: of a group that they surely are in, and first of the busiest.

    Lines of different ranks have no order within seconds; the group that calls most often misses somebody first.
    """
    ranks = set(root.ranks)

    def order(index: int) -> tuple[bool, int, int]:
        call = logged.waits.pending[index]
        surely = ranks <= set(logged.groups[call.group].members)
        return not surely, -(call.slot or 0), logged.issued_ns.get(index, 1 << 62)

    return logged.waits.pending[min(root.pending, key=order)]


def _behind(facts: Facts, logged: Logged, root: Root, call: Pending) -> Verdict:
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


def _all_came(logged: Logged, root: Root, call: Pending) -> Verdict:
    reports = logged.of_call(call)
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
    calls = [logged.waits.pending[i] for i in root.pending]
    first, out_of_line = _centre(logged, root, calls)
    # Each of them says itself that it had not come to what the others wait in.
    proved = not out_of_line and all(call.lacking for call in calls)
    named = root.ranks if proved else out_of_line
    cause = "order_inversion" if proved else "undetermined"
    shown = [first, *(call for call in calls if call is not first)][:_MOST_CALLS]
    edges = "; ".join(f"{waiting(logged, c)}, for {ranks_words(_awaited(c))}" for c in shown if _awaited(c))
    said = (
        f" {upper(ranks_words(out_of_line))} {verb(out_of_line, 'is', 'are')} out of line."
        if out_of_line
        else ""
    )
    cohorts = [Cohort(ranks=format_ranks(first.waiting), call=_asked_in(logged, first))]
    rest = out_of_line or tuple(sorted(set(_awaited(first)) & set(root.ranks)))
    return Verdict(
        hang=True,
        cause=cause,
        family=CAUSES[cause],
        confidence="supported" if named else "hypothesis",
        sentence=f"{upper(ranks_words(root.ranks))} wait for each other in a circle: {edges}.{said}",
        culprits=[Culprit(rank=rank) for rank in named],
        victims=format_ranks({*root.victims, *root.ranks} - set(named)),
        divergence=Divergence(
            group=logged.groups[first.group].words,
            members=format_ranks(logged.groups[first.group].members),
            seq=first.slot,
            kind="cycle",
            cohorts=[*cohorts, Cohort(ranks=format_ranks(rest))] if rest else cohorts,
            exact=False,
        ),
        waits=wait_list(logged, root),
        evidence=[r.evidence for c in shown for r in logged.of_call(c)[:1]],
        missing_evidence=list(SETTINGS),
        remedies=list(REMEDIES.get(cause, ())),
        anti_advice=list(ANTI_ADVICE.get(cause, ())),
        alternatives=[
            Alternative(
                cause=other,
                confidence="hypothesis",
                sentence=words,
                culprits=format_ranks(out_of_line or root.ranks),
                decided_by="the dumps of these ranks",
            )
            for other, words in (
                ("order_inversion", "Some of the ranks may make these calls in another order."),
                ("skipped_collective", "Some of the ranks may have left out a call before."),
            )
            if other != cause
        ],
    )


def _awaited(call: Pending) -> tuple[int, ...]:
    return call.lacking or call.busy or call.unknown


def _centre(logged: Logged, root: Root, calls: list[Pending]) -> tuple[Pending, tuple[int, ...]]:
    """The call that the circle is told by, and who is out of line in it, if that is clear.

    A call that some host has not issued comes before one that all have issued and some device has not come to.
    """
    found = [(call, _out_of_line(logged, root, call, calls)) for call in calls]

    def order(one: tuple[Pending, tuple[int, ...]]) -> tuple[bool, bool, int, int]:
        call, out = one
        return not out, bool(call.busy) and not call.lacking, -len(call.waiting), -(call.slot or 0)

    return min(found, key=order)


def _out_of_line(logged: Logged, root: Root, call: Pending, calls: list[Pending]) -> tuple[int, ...]:
    """The few that are elsewhere, where all other members wait in one call, and that wait for those members there.

    A rank that waits for somebody else there is only on the way from one to the other.
    """
    members, here = set(logged.groups[call.group].members), set(call.waiting)
    few = members - here
    if not few or not few <= set(root.ranks) or 3 * len(few) > len(here):
        return ()
    there = [other for other in calls if few & set(other.waiting)]
    meant = all(here & set(_awaited(other)) for other in there)
    return tuple(sorted(few)) if there and meant else ()


def _asked_in(logged: Logged, call: Pending) -> Call | None:
    claims = (of_report(r) for r in logged.of_call(call))
    claim = next((claim for claim in claims if claim), None)
    return as_call(claim, call.slot) if claim else None


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
