"""The watchdog gave up on a call, and the job went on and ended well: the wait was long, and legal.

And where no watchdog gave up, a job that ended well did not hang at all: the dumps were taken while it ran.
"""

from __future__ import annotations

from rankandfile.model.advice import MONITORING
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Remedy
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import (
    Facts,
    Pending,
    WaitEnd,
    call_phrase,
    cited,
    first_pending,
    lookup,
    not_come,
    pending_row,
    perhaps,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

CAUSE = Cause(
    word="too_short_timeout",
    family="not_a_fault",
    place=10,
    meaning="Nothing hung: the timeout is shorter than the work before the call.",
    help="The late rank came, but only after the watchdog had given up. Make the timeout longer than the "
    "longest legal wait, or take the work out of the way.",
    remedies=(
        Remedy(
            title="Set the timeout to the longest legal wait",
            text="init_process_group(timeout=...) and new_group(timeout=...), each: a group does not "
            "inherit it. NCCL_TIMEOUT is read by nobody.",
        ),
    ),
    anti_advice=(MONITORING,),
    did="came later than the timeout allows",
    title="The timeout is shorter than the work",
    page="""
## How it comes about

The late rank did come, and the watchdog had already given up. This is the one case in which a longer timeout is the
cure:

```python
dist.init_process_group("nccl", timeout=timedelta(minutes=60))
```

A group made later with `new_group` has its own timeout, and does not inherit this one.
""",
    scenario="too-short-timeout",
)


@finder(precedence=10)
def ended_well_after(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end)
    ends = facts.accounts.ends
    concerned = {*wait_end.ranks, *wait_end.victims, *(call.waiting if call else ())}
    if call is None or not concerned or any(r not in ends or ends[r].kind != "finished" for r in concerned):
        return None
    evidence = tuple(dict.fromkeys(i for rank in sorted(concerned)[:4] for i in ends[rank].evidence))
    row = pending_row(facts, call)
    ids = (cited(row)) + evidence
    reports = [r for rank in call.waiting for r in facts.accounts.of_rank.get(rank, ()) if r.seq is not None]
    if not reports:
        return Finding(
            cause="no_hang",
            confidence="established",
            hang=False,
            sentence=(
                f"Every rank exited with code 0 afterwards: the dumps show the job in the middle of the "
                f"{call_phrase(facts, call)}, which ended later."
            ),
            evidence=ids,
            contradicted_by="exit codes of another run",
        )
    limit = min((r.timeout_ms for r in reports if r.timeout_ms), default=None)
    within = (
        f"within the {limit / 1000:g} s that the group allows"
        if limit
        else "in the time that the group allows"
    )
    late = _late(wait_end, call)
    who = (
        f"{upper(ranks_words(late))} did not come to the {call_phrase(facts, call)} {within}"
        if late
        else f"The {call_phrase(facts, call)} did not end {within}"
    )
    stand = facts.hosts.get(late[0]) if len(late) == 1 else None
    doing = f"; {verb(late, 'it was', 'they were')} {stand.phrase}" if stand else ""
    return Finding(
        cause=CAUSE.word,
        confidence="established",
        sentence=(
            f"{who}{doing}; the watchdog of {ranks_words(sorted({r.rank for r in reports}))} gave up. But it came: "
            "every rank went on and exited with code 0. The timeout is shorter than the work before the call."
        ),
        culprits=late,
        doing={r: facts.hosts[r].words if r in facts.hosts else "came, only later" for r in late},
        divergence=not_come(facts, call, row, late, sorted({*call.waiting} - {*late}))
        if late and row
        else None,
        location=stand.location if stand else lookup.location_of(facts, row),
        evidence=(*ids, *(r.evidence for r in reports[:2]), *(stand.evidence if stand else ())),
        contradicted_by="exit codes of another run",
        alternatives=(
            perhaps(
                "host_slow",
                "The work before the call may have been slower than it should be.",
                decided_by="how long it took in earlier runs",
            ),
        ),
    )


def _late(wait_end: WaitEnd, call: Pending) -> tuple[int, ...]:
    return wait_end.ranks or call.lacking if wait_end.kind == "absent" else ()
