"""A debugger of devices shows what runs on each: most are in a collective's kernel, and few in the program's own.

Those have not come to the collective. Whether their kernel is a long one or never ends, one look does not tell.
"""

from __future__ import annotations

import re
from collections import defaultdict

import polars as pl

from rankandfile.model.diagnosis import Missing
from rankandfile.model.events import event_id
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.from_stacks.where_all_stand import WhereAllStand
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, verb

_OF_COLLECTIVES = re.compile(r"(?i)^(?:\w+::)*(?:ncclDev|nccl[A-Z_]|rccl|msccl|nvshmem)")
_MOST = 3


@finder(precedence=38, of="job")
def kernels_differ(facts: Facts, _: WaitEnd) -> Finding | None:
    if facts.call_table.calls.height:
        return None
    rows = facts.case.events.filter(
        (pl.col("kind").cast(pl.String) == "gpu_kernel") & pl.col("rank").is_not_null()
    )
    running: dict[int, dict[str, str]] = defaultdict(dict)
    for row in rows.sort("log", "line").iter_rows(named=True):
        running[row["rank"]].setdefault(str(fields_of(row)["kernel"]), event_id(row["log"], row["line"]))
    waiting = sorted(r for r, kernels in running.items() if any(map(_OF_COLLECTIVES.match, kernels)))
    busy = sorted(running.keys() - set(waiting))
    if not busy or len(busy) >= len(waiting):
        return None
    doing = {rank: f"its device runs {', '.join(list(running[rank])[:_MOST])}" for rank in busy}
    theirs = ", ".join(dict.fromkeys(k for r in waiting for k in running[r] if _OF_COLLECTIVES.match(k)))[
        :200
    ]
    overdue = WhereAllStand(facts).overdue
    open_ = (
        ""
        if overdue
        else " Whether it is a long one or never ends, one look does not tell: this holds if the job hung."
    )
    return Finding(
        cause="gpu_stuck",
        confidence="hypothesis",
        hang=True if overdue else None,
        sentence=(
            f"{'. '.join(f'{ranks_words([r]).capitalize()}: {doing[r]}' for r in busy[:_MOST])}. The devices of "
            f"{ranks_words(waiting)} {verb(waiting, 'is', 'are')} in {theirs}, which ends once "
            f"all members have come.{open_}"
        ),
        culprits=tuple(busy),
        doing=doing,
        victims=tuple(waiting),
        evidence=tuple(i for r in (*busy, *waiting) for i in list(running[r].values())[:1]),
        contradicted_by="another kernel on that device in a later look",
        alternatives=(
            perhaps(
                "host_slow",
                "It may be a kernel that takes long.",
                busy,
                decided_by="the kernels once more: the same grid, or another",
            ),
        ),
        missing=(
            Missing(
                what="whether it is the same kernel still",
                how="`cuda-gdb -p PID -batch -ex 'info cuda kernels'` once more: the same grid, or another",
            ),
        ),
    )
