"""A collective of whose root its members disagree.

A ring keeps the root, and torch's recorder does not. Without a ring, in a gather only the root gives room for the
result, and in a scatter only the root gives something to send: that tells who believed it was. For a broadcast or a
reduce only stacks with their variables do.
"""

from __future__ import annotations

from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Divergence, Remedy
from rankandfile.reason.calls.contracts import contract_of, elements
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import (
    Facts,
    Patience,
    Pending,
    WaitEnd,
    call_phrase,
    claims_at,
    cohort,
    differently_named,
    diverged,
    first_pending,
    lookup,
    named_by_logs,
    named_roots,
    on_hosts_alone,
    patience,
    perhaps,
    pl,
    recorded_roots,
    sides,
    unseen_member,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

CAUSE = Cause(
    word="root_mismatch",
    family="arguments",
    place=40,
    meaning="Ranks disagree on the root of a collective.",
    help="Each waits for data from another source. The root is a global rank, also in a subgroup.",
    remedies=(
        Remedy(
            title="Name the root by one number",
            text="The root is a global rank, also in a subgroup: use dist.get_global_rank, or group_src.",
        ),
    ),
    anti_advice=("Do not raise the timeout: nobody sends what the others wait for.",),
    did="took another rank for the root",
    title="Ranks name different roots",
    page="""
## How it comes about

Each rank computes the root from its own numbers:

```python
best = int(torch.argmin(local_scores))
dist.broadcast(weights, src=best)
```

Each rank waits for data from another source. torch's recorder keeps no root, so that the verdict then rests on all
ranks having joined the same call with the same tensors, and on the source: it stays a hypothesis. The ring of `raf run`
keeps it, and stacks may show it.
""",
    scenario="root-best",
)


_ROUNDS = 2


@finder(precedence=60)
def several_roots(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end) if wait_end.kind in ("joined", "mismatched", "behind") else None
    if call is None or call.slot is None:
        return None
    members = facts.membership.members[call.group]
    recorded = recorded_roots(facts, call)
    named = recorded or named_roots(facts, call)
    # Who asked for another size is at another turn of a loop, in which each may have a root of its own.
    if len(named) > 1 and (recorded or len(sides(claims_at(facts, call.group, call.slot))) == 1):
        return differently_named(facts, call, named, bool(recorded))
    roots = _believers(facts, call.group, call.slot)
    if roots is None and wait_end.kind == "joined":
        found = _finished_early(facts, call)
        return named_by_logs(facts, call, found) if found is not None else None
    if roots is None or len(roots) == 1 or (not roots and not _all_there(facts, call, members)):
        return None
    usual = _usual_root(facts, call)
    culprits = _culprits(roots, usual)
    return Finding(
        cause=CAUSE.word,
        confidence="supported" if culprits else "established",
        sentence=f"{_who(facts, call, roots)} {_told_by(culprits, usual)}",
        culprits=culprits,
        doing=dict.fromkeys(culprits, "has another root than the other members"),
        divergence=_sides_of(facts, call, roots, members),
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
            perhaps(
                CAUSE.word,
                f"Rank {rank} is not the root that was meant.",
                [rank],
                decided_by="the source of the call",
            )
            for rank in roots[:4]
        ),
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


def _finished_early(facts: Facts, call: Pending) -> Finding | None:
    """Only its root may be done with a broadcast that others wait in. If several are, each may believe to be it. On
    hosts, where who has joined takes part, it ends for all: then not even one is done while two wait on.
    """
    members = facts.membership.members[call.group]
    rows = {r: row for r in members if (row := lookup.call_at(facts, r, call.group, call.slot or 0))}
    ops = {lookup.op_of(facts, row) for row in rows.values()}
    if len(rows) < len(members) or len(ops) != 1 or contract_of(ops.pop()).early != "root":
        return None
    done = tuple(r for r, row in rows.items() if not row["open"])
    on_hosts = on_hosts_alone(facts.case) and len(call.waiting) > 1
    if len(done) < (1 if on_hosts else _ROUNDS) or set(done) & set(call.waiting):
        return None
    if patience(facts, call) in (Patience.NOT_YET, Patience.UNKNOWN):
        return None
    first, last = rows[done[0]], rows[call.waiting[0]]
    return Finding(
        cause=CAUSE.word,
        confidence="hypothesis",
        sentence=(
            f"All members joined the {call_phrase(facts, call)} with tensors of the same size and type. "
            f"{upper(ranks_words(done))} {verb(done, 'is', 'are')} done with it, and {ranks_words(call.waiting)} "
            f"{verb(call.waiting, 'waits', 'wait')} in it. "
            + (
                "On hosts, it comes to its end for all who joined it, if they agree on its root: they"
                if on_hosts
                else "Only its root may be done before the others: the members"
            )
            + " may not agree on the root, and no dump records it."
        ),
        divergence=diverged(
            facts,
            call.group,
            seq=first["seq"],
            kind="argument",
            cohorts=[
                cohort(facts, ranks, row, words)
                for ranks, row, words in ((done, first, "done"), (call.waiting, last, "waits"))
            ],
        ),
        location=lookup.location_of(facts, last),
        evidence=tuple(lookup.evidence_of(row) for row in (*(rows[rank] for rank in done[:2]), last)),
        contradicted_by="a log of NCCL's calls in which all name the same root",
        alternatives=(
            *unseen_member(facts, call),
            perhaps(
                "network_stalled",
                "The message may have come as far as those that are done, and no further.",
                decided_by="NCCL's own call log, or the variable that holds the root, in py-spy dump --locals",
            ),
        ),
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


def _sides_of(facts: Facts, call: Pending, roots: tuple[int, ...], members: list[int]) -> Divergence:
    rest = tuple(rank for rank in members if rank not in roots)
    cohorts = []
    for ranks, detail in ((rest, "not the root"), (roots, "root")):
        row = lookup.call_at(facts, ranks[0], call.group, call.slot or 0) if ranks else None
        if ranks:
            cohorts.append(cohort(facts, ranks, row, detail))
    row = lookup.call_at(facts, call.waiting[0], call.group, call.slot or 0)
    return diverged(facts, call.group, seq=row["seq"] if row else call.slot, kind="argument", cohorts=cohorts)
