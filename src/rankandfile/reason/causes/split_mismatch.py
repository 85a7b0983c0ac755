"""An all_to_all in which what is sent is not what is received.

Where one tensor goes to all, its whole size is recorded, not the splits. If the sums over all members disagree, some
pair disagrees; who it is shows only where tokens go out and come back: a member whose way back is not the way out,
where all others' is, announced one thing and sent another.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative, Cohort, Divergence, Missing
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import lookup
from rankandfile.reason.calls.split_sums import Exchange, exchange, odd_one_out
from rankandfile.reason.divergence.find import find_divergence
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.accounts import Error
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, first_pending
from rankandfile.reason.words import ranks_words, upper, verb

from .said_so import cause_of, said_so
from .split_pairwise import by_pairs

CAUSE = "split_mismatch"

_OUT_OF_STEP = Alternative(
    cause="skipped_collective",
    confidence="hypothesis",
    sentence="A member a call ahead or behind would make the sums disagree as well.",
    decided_by="the calls before, with their sizes",
)

_ELSEWHERE = "by the stacks it is in another call than they."


def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end) if wait_end.kind in ("joined", "behind") else None
    if call is None or call.slot is None:
        return None
    sums = exchange(facts, call.group, call.slot)
    if sums is None:
        return None
    if sums.agrees:
        # All together may fit though two pairs do not.
        return by_pairs(facts, wait_end, call)
    culprits = odd_one_out(facts, call.group, call.slot)
    if not culprits:
        told = by_pairs(facts, wait_end, call)
        return (
            told if told is not None and told.culprits else _nobody_known(facts, wait_end, call, sums, told)
        )
    if _out_of_step(facts, wait_end, culprits):
        return None
    rest = tuple(r for r in facts.membership.members[call.group] if r not in culprits)
    rows = [lookup.call_at(facts, ranks[0], call.group, call.slot) for ranks in (rest, culprits) if ranks]
    known = [row for row in rows if row is not None]
    elsewhere = at_other_lines(facts, culprits, rest)
    return Finding(
        cause="rank_conditional" if elsewhere else CAUSE,
        confidence="supported",
        sentence=(
            f"In the {call_phrase(facts, call)} all members together send {sums.sent:,} elements and expect "
            f"{sums.expected:,}. {upper(ranks_words(culprits))} {verb(culprits, 'sends', 'send')} another number than "
            "on the way back, unlike all others: "
            + (_ELSEWHERE if elsewhere else "what it announced is not what it sends.")
        ),
        culprits=culprits,
        doing=dict.fromkeys(culprits, "sends another number of elements than its peers expect"),
        divergence=Divergence(
            group=lookup.group_words(facts, call.group),
            seq=known[0]["seq"] if known else call.slot,
            kind="argument",
            cohorts=[
                Cohort(
                    ranks=format_ranks(ranks), call=lookup.as_call(facts, row, lookup.size_words(facts, row))
                )
                for ranks, row in zip((rest, culprits), known, strict=False)
            ],
            members=lookup.members_text(facts, call.group),
        ),
        location=lookup.location_of(facts, known[-1]) if known else None,
        evidence=(
            *(lookup.evidence_of(row) for row in known),
            *(
                i
                for r in (*culprits, *rest)[:4]
                if elsewhere and r in facts.hosts
                for i in facts.hosts[r].evidence
            ),
        ),
        contradicted_by="split sizes in a log that agree between all pairs",
        alternatives=(_OUT_OF_STEP,),
        explains=len(wait_end.victims),
    )


def _nobody_known(
    facts: Facts, wait_end: WaitEnd, call: Pending, sums: Exchange, told: Finding | None
) -> Finding:
    """Some pair disagrees, or the members are not in the same call: better than nothing, and worse than all else."""
    row = lookup.call_at(facts, call.waiting[0], call.group, call.slot or 0)
    said = said_so(facts, call)
    shown = (
        f"In the {call_phrase(facts, call)} all members together send {sums.sent:,} elements and expect "
        f"{sums.expected:,}."
    )
    if said and row is not None:
        return _left_out(facts, wait_end, row, shown, said)
    if told is not None:
        return told
    return Finding(
        cause=CAUSE,
        confidence="hypothesis",
        sentence=f"{shown} Which of them announced another number than it sends, the sums do not tell.",
        location=lookup.location_of(facts, row),
        evidence=(lookup.evidence_of(row),) if row else (),
        contradicted_by="split sizes in a log that agree between all pairs",
        alternatives=(_OUT_OF_STEP,),
        missing=(
            Missing(
                what="the sizes that each member sends to each other",
                how="py-spy dump --locals --json --pid PID, on each member",
            ),
        ),
        explains=len(wait_end.victims),
    )


def _left_out(
    facts: Facts, wait_end: WaitEnd, row: lookup.Row, shown: str, said: dict[int, Error]
) -> Finding:
    """They are a call or a batch ahead, as their own logs say."""
    culprits = tuple(sorted(said))
    words = "; ".join(f"rank {rank} says '{said[rank].words[:160]}'" for rank in culprits[:3])
    return Finding(
        cause=cause_of(said),
        confidence="supported",
        sentence=(
            f"{shown} Just before it {words}, and no other member says such a thing: "
            f"{ranks_words(culprits)} {verb(culprits, 'is', 'are')} in another round than they."
        ),
        culprits=culprits,
        doing={rank: f"says '{said[rank].words[:80]}'" for rank in culprits},
        location=lookup.location_of(facts, row),
        evidence=(lookup.evidence_of(row), *(i for error in said.values() for i in error.evidence)),
        contradicted_by="split sizes in a log that agree between all pairs",
        alternatives=(
            Alternative(
                cause=CAUSE,
                confidence="hypothesis",
                sentence="The line may mean nothing, and a member announced another number than it sends.",
                decided_by="the sizes that each member sends to each other",
            ),
        ),
        explains=len(wait_end.victims),
    )


def _out_of_step(facts: Facts, wait_end: WaitEnd, culprits: tuple[int, ...]) -> bool:
    """They are in another call of theirs: of course its sizes do not fit."""
    p = find_divergence(facts, wait_end)
    return p is not None and p.kind != "argument" and set(culprits) <= set(p.culprits)


def at_other_lines(facts: Facts, ranks: tuple[int, ...], others: tuple[int, ...]) -> bool:
    """By their stacks: where the recorder kept no frames, this tells that they are in another call."""
    mine, theirs = (
        {(s.location.file, s.location.line) for r in some if (s := facts.hosts.get(r)) is not None}
        for some in (ranks, others)
    )
    return bool(mine and theirs) and not mine & theirs
