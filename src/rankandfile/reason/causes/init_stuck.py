"""The job does not come into being: some ranks set up their communication, and others have not come to it."""

from __future__ import annotations

from collections import defaultdict

import polars as pl

from rankandfile.model.diagnosis import Alternative, Location
from rankandfile.model.events import event_id
from rankandfile.model.ranks import format_ranks
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.accounts import fields_of
from rankandfile.reason.ranks.did_instead import Subject
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

from . import host_slow
from .told import story_of

CAUSE = "init_stuck"


def settle(facts: Facts) -> Finding | None:
    if facts.call_table.calls.height:
        return None
    return _by_stacks(facts) or _by_nccl(facts)


def _by_stacks(facts: Facts) -> Finding | None:
    """Whoever is in the setup waits for all others; those stand somewhere else."""
    world = set(range(facts.case.world_size or 0))
    inside = {rank for rank, stand in facts.hosts.items() if stand.activity == "init"}
    absent = sorted(world - inside)
    stories = {
        rank: story
        for rank in absent
        # Without a stack it may be in the setup, too.
        if (story := story_of(facts, Subject(rank, True))) and not story.absence
    }
    if not inside or not absent or stories.keys() != set(absent) or len(absent) > len(inside):
        return None
    if _came(facts) & set(absent):
        return None
    evidence = [facts.hosts[min(inside)].evidence, *(story.evidence for story in stories.values())]
    return _finding(
        sorted(inside),
        absent,
        {rank: story.doing for rank, story in stories.items()},
        tuple(i for ids in evidence for i in ids),
        stories[absent[0]].location,
        # Who moves may merely take long: a job that begins looks like this.
        sure=not all(story.cause == host_slow.CAUSE for story in stories.values()),
    )


def _came(facts: Facts) -> set[int]:
    """Ranks that have been to the setup: there the recorder makes its ring. Some backends let go whoever has been."""
    rings = facts.case.dumps_used.filter(pl.col("format") == "ring")
    return set(rings["rank"].drop_nulls().to_list())


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
    return f"not yet there; its last line is '{line[:80]}'" if line else "not yet there, and silent"


def _finding(
    inside: list[int],
    absent: list[int],
    doing: dict[int, str],
    evidence: tuple[str, ...],
    location: Location | None,
    sure: bool = True,
) -> Finding:
    return Finding(
        cause=CAUSE,
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
            Alternative(
                cause="host_slow",
                confidence="hypothesis",
                sentence="They may be on their way: preparing data, downloading, compiling.",
                culprits=format_ranks(absent),
                decided_by="another look at their stacks",
            ),
        ),
        explains=len(inside),
    )
