"""Most members began NCCL's setup of a communicator, and none completed it: the rest has not come there."""

from __future__ import annotations

import re

import polars as pl

from rankandfile.model.diagnosis import Location, Missing
from rankandfile.model.events import event_id
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.ranks.from_logs.nccl_setups import Setup, setups
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, upper, verb

#: Where a program's logger says which line wrote: `dataset.py:44`.
_PLACE = re.compile(r"(?<![\w.])([\w./-]{1,200}\.py):(\d{1,6})\b")


@finder(precedence=55, of="logs")
def setup_unfinished(facts: Facts, _: WaitEnd) -> Finding | None:
    stuck = [
        (comm, one)
        for comm, one in setups(facts.case).items()
        if len(one.begun) > 1 and not one.completed and comm
    ]
    if not stuck or facts.accounts.gave_up:
        return None
    comm, one = max(stuck, key=lambda pair: (pair[1].size, len(pair[1].begun)))
    missing = one.missing
    if len(missing) * 2 >= one.size:
        return None
    evidence = tuple(list(one.begun.values())[:2])
    if not missing:
        return _all_began(comm, one, evidence)
    of_job = one.size == world_of(facts)
    said = {rank: line for rank in missing if of_job and (line := facts.accounts.last_lines.get(rank))}
    ids = _ids(facts, said)
    name = ranks_words(missing) if of_job else f"number {', '.join(map(str, missing[:8]))} of it"
    last = "".join(
        f' The last line of {ranks_words([rank])}: "{line}".' for rank, line in list(said.items())[:2]
    )
    place = next((_PLACE.search(line) for line in said.values()), None)
    ranks = tuple(missing) if of_job else ()
    return Finding(
        cause="init_stuck",
        confidence="supported" if said and len(said) == len(missing) else "hypothesis",
        sentence=(
            f"{len(one.begun)} of {one.size} ranks began NCCL's setup of the communicator {comm}, and none completed "
            f"it: {name} {verb(missing, 'has', 'have')} not begun it.{last}"
        ),
        culprits=ranks,
        doing={
            rank: f'has not come to NCCL\'s setup; its last line: "{line}"' for rank, line in said.items()
        },
        location=Location(file=place[1], line=int(place[2]), function=None) if place else None,
        victims=tuple(sorted(one.begun)) if of_job else (),
        evidence=(*evidence, *ids),
        contradicted_by="a line of that rank in which it begins the setup",
        alternatives=(
            perhaps(
                "host_blocked",
                f"{upper(name)} may be held up on the host before its first collective.",
                ranks,
                decided_by="its stack (py-spy dump --pid PID)",
            ),
        ),
        missing=(
            Missing(
                what=f"where {name} {verb(missing, 'stands', 'stand')}",
                how="`py-spy dump --pid PID` of that process, twice",
            ),
        ),
        unadvised=("probes",),
    )


def _all_began(comm: str, one: Setup, evidence: tuple[str, ...]) -> Finding:
    return Finding(
        cause="init_stuck",
        confidence="hypothesis",
        sentence=(
            f"All {one.size} ranks began NCCL's setup of the communicator {comm}, and none completed it: they cannot "
            "reach each other (interface, firewall, a wrong address), or the log ends before."
        ),
        evidence=evidence,
        missing=(
            Missing(
                what="which connection does not come about",
                how="NCCL_DEBUG_SUBSYS=INIT,NET,BOOTSTRAP, and NCCL_SOCKET_IFNAME as the network of the nodes has it",
            ),
        ),
    )


def _ids(facts: Facts, said: dict[int, str]) -> tuple[str, ...]:
    rows = facts.case.events.filter(
        (pl.col("kind").cast(pl.String) == "last_said") & pl.col("text").is_in(list(said.values()))
    )
    return tuple(event_id(log, line) for log, line in rows.head(2).select("log", "line").iter_rows())
