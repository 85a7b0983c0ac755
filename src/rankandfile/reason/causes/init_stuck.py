"""The job does not come into being: some ranks set up their communication, and others have not come to it."""

from __future__ import annotations

import re
from collections import defaultdict

from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Location, Missing, Remedy
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import (
    AskedRank,
    Facts,
    Setup,
    WaitEnd,
    WhereAllStand,
    event_id,
    fields_of,
    perhaps,
    pl,
    setups,
    story_of,
    world_of,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, shortened, upper, verb

CAUSE = Cause(
    word="init_stuck",
    family="start_and_end",
    place=10,
    meaning="The job never finished setting up its communication.",
    help="Some ranks have not come to the setup that the others wait in. No collective was ever made.",
    remedies=(
        Remedy(
            title="Let every rank come to the setup",
            text="What only some ranks do before it (downloads, locks, compiling) belongs after it, under "
            "a barrier.",
        ),
        Remedy(
            title="Let all ranks meet at one place",
            text="Where all of them stand in it, compare what each was told: MASTER_ADDR and MASTER_PORT, or the file "
            "of `init_method`, the number of ranks, the name of the job.",
        ),
    ),
    anti_advice=("Do not raise the timeout of the setup before it is known where the missing rank stands.",),
    did="held up the setup",
    title="The job never began",
    page="""
## How it comes about

Ranks wait in the store or in the first barrier for others that are not there yet: a download on one rank, a lock, a
wrong address, one pod that was never scheduled. There are no collectives, so dumps say little; logs and stacks decide.

```python
if rank == 0:
    download()  # twenty minutes; the others' store timeout is less
dist.init_process_group("nccl")
```
""",
    scenario="init-stuck",
)


@finder(precedence=20, of="job")
def some_set_up(facts: Facts, _: WaitEnd) -> Finding | None:
    if facts.call_table.calls.height:
        return None
    return _by_stacks(facts) or _by_nccl(facts)


@finder(precedence=21, of="job")
def waits_elsewhere(facts: Facts, _: WaitEnd) -> Finding | None:
    """All set up the job's communication, and the last thing that a few of them wrote names another place for it."""
    rows = facts.case.places_that_differ
    inside = {rank for rank, stand in facts.hosts.items() if stand.activity == "init"}
    named = tuple(row["rank"] for row in rows)
    others = tuple(sorted(inside - set(named)))
    every = set(range(facts.case.world_size or 0)) | facts.hosts.keys()
    if not rows or not others or facts.call_table.calls.height or inside != every | set(named):
        return None
    row = rows[0]
    return Finding(
        cause=CAUSE.word,
        confidence="supported",
        sentence=(
            f"All {len(inside)} ranks set up the job's communication, and wait there for each other. The last line of "
            f'{ranks_words(named)} is "{row["text"]}", and that of {ranks_words(others)} '
            f'"{fields_of(row).get("other")}": as it seems, they do not wait at one place.'
        ),
        culprits=named,
        doing=dict.fromkeys(named, "wrote of another place than the others before it came to the setup"),
        victims=others,
        # One look at a job that begins shows all of its ranks there.
        hang=bool(facts.hung or WhereAllStand(facts).stays) or None,
        unadvised=("anti_advice",),
        evidence=(
            *(event_id(one["log"], one["line"]) for one in rows[:3]),
            *facts.hosts[others[0]].evidence[:1],
        ),
        contradicted_by="one place, which goes by several names",
        alternatives=(
            perhaps(
                "network_stalled",
                "It may be one place by two names, and they cannot reach each other.",
                decided_by="whether that file, or that address, is the same one on both hosts",
            ),
        ),
    )


def _by_stacks(facts: Facts) -> Finding | None:
    """Whoever is in the setup waits for all others; those stand somewhere else."""
    world = set(range(facts.case.world_size or 0))
    inside = {rank for rank, stand in facts.hosts.items() if stand.activity == "init"}
    absent = sorted(world - inside)
    stories = {
        rank: story
        for rank in absent
        # Without a stack it may be in the setup, too.
        if (story := story_of(facts, AskedRank(rank, True))) and not story.absence
    }
    if not inside or not absent or stories.keys() != set(absent) or len(absent) > len(inside):
        return None
    if WhereAllStand(facts).have_been_set_up & set(absent):
        return None
    evidence = [facts.hosts[min(inside)].evidence, *(story.evidence for story in stories.values())]
    return _finding(
        sorted(inside),
        absent,
        {rank: story.doing for rank, story in stories.items()},
        tuple(i for ids in evidence for i in ids),
        stories[absent[0]].location,
        # Who moves may merely take long: a job that begins looks like this.
        sure=not all(story.cause == "host_slow" for story in stories.values()),
    )


def _by_nccl(facts: Facts) -> Finding | None:
    """NCCL's own lines: ranks that began to set up a communicator of the whole job, and none that ended it."""
    rows = facts.case.events.filter(
        (pl.col("kind").cast(pl.String) == "nccl_init") & pl.col("group_rank").is_not_null()
    )
    began: dict[str, dict[int, str]] = defaultdict(dict)
    sizes: dict[str, int] = {}
    ended: set[str] = set()
    for row in rows.iter_rows(named=True):
        fields = fields_of(row)
        comm = str(fields.get("comm_id"))
        if fields.get("phase") == "Init START" and isinstance(fields.get("nranks"), int):
            sizes[comm] = fields["nranks"]
            began[comm][row["group_rank"]] = event_id(row["log"], row["line"])
        else:
            ended.add(comm)
    for comm, ranks in began.items():
        absent = sorted(set(range(sizes[comm])) - ranks.keys())
        silent = set(absent) <= facts.accounts.logged
        if comm in ended or not absent or not silent or len(absent) > len(ranks):
            continue
        if sizes[comm] == facts.case.world_size:
            doing = {rank: _last_words(facts, rank) for rank in absent}
            return _finding(sorted(ranks), absent, doing, tuple(ranks.values())[:3], None)
    return None


def _last_words(facts: Facts, rank: int) -> str:
    line = facts.accounts.last_lines.get(rank)
    return f"not yet there; its last line is '{shortened(line, 80)}'" if line else "not yet there, and silent"


def _finding(
    inside: list[int],
    absent: list[int],
    doing: dict[int, str],
    evidence: tuple[str, ...],
    location: Location | None,
    sure: bool = True,
) -> Finding:
    return Finding(
        cause=CAUSE.word,
        confidence="supported" if sure else "hypothesis",
        sentence=(
            f"{upper(ranks_words(inside))} {verb(inside, 'sets', 'set')} up the job's communication and "
            f"{verb(inside, 'waits', 'wait')} for {ranks_words(absent)}, which {verb(absent, 'has', 'have')} not come "
            f"to it: {'; '.join(dict.fromkeys(doing.values()))}. No collective was ever made."
        ),
        culprits=tuple(absent),
        doing=doing,
        location=location,
        evidence=tuple(dict.fromkeys(evidence)),
        contradicted_by="a line or a stack of the missing ranks in the same setup",
        alternatives=(
            perhaps(
                "host_slow",
                "They may be on their way: preparing data, downloading, compiling.",
                absent,
                decided_by="their stacks, taken once more",
            ),
        ),
    )


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
