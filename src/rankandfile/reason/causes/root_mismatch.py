"""A gather or scatter in which more than one member believes to be its root, or none.

The root of a collective is not recorded. In a gather only the root gives room for the result, and in a scatter only
the root gives something to send: that tells who believed it was. For a broadcast or a reduce only stacks with their
variables do.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.diagnosis import Alternative, Cohort, Divergence
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import lookup
from rankandfile.reason.calls.contracts import contract_of, elements
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, first_pending
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.words import ranks_words, upper, verb

from .named_roots import differently_named, named_roots

CAUSE = "root_mismatch"
_ROUNDS = 2


def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end) if wait_end.kind in ("joined", "mismatched", "behind") else None
    if call is None or call.slot is None:
        return None
    members = facts.membership.members[call.group]
    named = named_roots(facts, call)
    if len(named) > 1:
        return differently_named(facts, wait_end, call, named)
    roots = _believers(facts, call.group, call.slot)
    if roots is None and wait_end.kind == "joined":
        return _finished_early(facts, wait_end, call)
    if roots is None or len(roots) == 1 or (not roots and not _all_there(facts, call, members)):
        return None
    usual = _usual_root(facts, call)
    culprits = _culprits(roots, usual)
    return Finding(
        cause=CAUSE,
        confidence="supported" if culprits else "established",
        sentence=f"{_who(facts, call, roots)} {_told_by(culprits, usual)}",
        culprits=culprits,
        doing=dict.fromkeys(culprits, "has another root than the other members"),
        divergence=_divergence(facts, call, roots, members),
        location=lookup.location_of(
            facts, lookup.call_at(facts, (culprits or call.waiting)[0], call.group, call.slot)
        ),
        evidence=tuple(
            lookup.evidence_of(row)
            for rank in (*roots, *call.waiting)[:4]
            if (row := lookup.call_at(facts, rank, call.group, call.slot))
        ),
        contradicted_by="a recorder that logs outputs on every member",
        alternatives=()
        if culprits
        else tuple(
            Alternative(
                cause=CAUSE,
                confidence="hypothesis",
                sentence=f"Rank {rank} is not the root that was meant.",
                culprits=str(rank),
                decided_by="the source of the call",
            )
            for rank in roots[:4]
        ),
        explains=len(wait_end.victims),
    )


def _believers(facts: Facts, group: int, slot: int) -> tuple[int, ...] | None:
    """Members that gave what only the root gives; None if the call is of another kind."""
    calls = facts.call_table.calls.filter((pl.col("group") == group) & (pl.col("slot") == slot))
    sides = {contract_of(facts.call_table.terms[t].op).root_has for t in calls["terms"].unique()}
    if len(sides) != 1 or not (side := sides.pop()):
        return None
    column = "out_sizes" if side == "output" else "in_sizes"
    rows = calls.select("rank", "shape").join(facts.case.shapes, on="shape", how="left")
    if rows[column].null_count():
        return None
    return tuple(
        sorted(rank for rank, sizes in rows.select("rank", column).iter_rows() if sum(elements(sizes)))
    )


def _finished_early(facts: Facts, wait_end: WaitEnd, call: Pending) -> Finding | None:
    """Only its root may be done with a broadcast that others wait in. If several are, each may believe to be it."""
    members = facts.membership.members[call.group]
    rows = {r: row for r in members if (row := lookup.call_at(facts, r, call.group, call.slot or 0))}
    ops = {lookup.op_of(facts, row) for row in rows.values()}
    if len(rows) < len(members) or len(ops) != 1 or contract_of(ops.pop()).early != "root":
        return None
    done = tuple(r for r, row in rows.items() if not row["open"])
    if len(done) < _ROUNDS or set(done) & set(call.waiting):
        return None
    if patience(facts, call) in (Patience.NOT_YET, Patience.UNKNOWN):
        return None
    first, last = rows[done[0]], rows[call.waiting[0]]
    return Finding(
        cause=CAUSE,
        confidence="hypothesis",
        sentence=(
            f"All members joined the {call_phrase(facts, call)} with the same arguments. {upper(ranks_words(done))} "
            f"{verb(done, 'is', 'are')} done with it, and {ranks_words(call.waiting)} "
            f"{verb(call.waiting, 'waits', 'wait')} in it. Only its root may be done before the others: the members "
            "may not agree on the root. Whom each takes for it, no dump records."
        ),
        divergence=Divergence(
            group=lookup.group_words(facts, call.group),
            seq=first["seq"],
            kind="argument",
            cohorts=[
                Cohort(ranks=format_ranks(ranks), call=lookup.as_call(facts, row, words))
                for ranks, row, words in ((done, first, "done"), (call.waiting, last, "waits"))
            ],
            members=lookup.members_text(facts, call.group),
        ),
        location=lookup.location_of(facts, last),
        evidence=(lookup.evidence_of(first), lookup.evidence_of(rows[done[1]]), lookup.evidence_of(last)),
        contradicted_by="a log of NCCL's calls in which all name the same root",
        alternatives=(
            Alternative(
                cause="network_stalled",
                confidence="hypothesis",
                sentence="The message may have come as far as those that are done, and no further.",
                decided_by="NCCL's own call log, or the variable that holds the root, in py-spy dump --locals",
            ),
        ),
        explains=len(wait_end.victims),
    )


def _all_there(facts: Facts, call: Pending, members: list[int]) -> bool:
    return all(lookup.call_at(facts, rank, call.group, call.slot or 0) is not None for rank in members)


def _usual_root(facts: Facts, call: Pending) -> int | None:
    """The root of the earlier rounds of this call, if it was always the same."""
    found: list[int] = []
    for slot in range((call.slot or 0) - 1, max(-1, (call.slot or 0) - 65), -1):
        roots = _believers(facts, call.group, slot)
        if roots is not None and len(roots) == 1:
            found.append(roots[0])
    return found[0] if len(found) >= _ROUNDS and len(set(found)) == 1 else None


def _culprits(roots: tuple[int, ...], usual: int | None) -> tuple[int, ...]:
    if usual is None:
        return ()
    if not roots:
        return (usual,)
    return tuple(r for r in roots if r != usual) if usual in roots else ()


def _who(facts: Facts, call: Pending, roots: tuple[int, ...]) -> str:
    phrase = call_phrase(facts, call)
    if not roots:
        return f"No member of the {phrase} believes to be its root."
    return f"{upper(ranks_words(roots))} each believe to be the root of the {phrase}."


def _told_by(culprits: tuple[int, ...], usual: int | None) -> str:
    if not culprits:
        return "Which rank was meant, the calls do not tell."
    if culprits == (usual,):
        return f"Rank {usual} was the root of every round before, and names another one now."
    return f"Rank {usual} was in every round before; {ranks_words(culprits)} {verb(culprits, 'was', 'were')} not."


def _divergence(facts: Facts, call: Pending, roots: tuple[int, ...], members: list[int]) -> Divergence:
    rest = tuple(rank for rank in members if rank not in roots)
    cohorts = []
    for ranks, detail in ((rest, "not the root"), (roots, "root")):
        row = lookup.call_at(facts, ranks[0], call.group, call.slot or 0) if ranks else None
        if ranks:
            cohorts.append(
                Cohort(ranks=format_ranks(ranks), call=lookup.as_call(facts, row, detail) if row else None)
            )
    row = lookup.call_at(facts, call.waiting[0], call.group, call.slot or 0)
    return Divergence(
        group=lookup.group_words(facts, call.group),
        seq=row["seq"] if row else call.slot,
        kind="argument",
        cohorts=cohorts,
        members=lookup.members_text(facts, call.group),
    )
