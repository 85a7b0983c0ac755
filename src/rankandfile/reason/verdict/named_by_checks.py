"""What torch's own checks and NCCL's RAS say of ranks that are behind or out of line, where calls do not tell.

They count ranks inside a group. So they are heard only where their numbers cover the whole job, or where RAS names
the process. One rank against one other decides nothing: the many decide, and a report of RAS only of a job that
stands still, for one that moves differs from rank to rank at any moment. That RAS finds nothing proves nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import polars as pl

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Alternative, Location
from rankandfile.model.events import event_id
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finders.did_instead import story_of
from rankandfile.reason.ranks.did_instead import AskedRank, location_of, world_of
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.ranks.from_logs.ras_counts import Launches, instead, launches
from rankandfile.reason.words import ranks_words, upper, verb

from .finding import Finding

#: A rank is out of line only where so many others agree, and so many times as many.
_FEWEST, _TIMES = 3, 3


def checked(facts: Facts) -> Finding | None:
    """The first of the checks that names somebody: those that saw a call before it began, then counters."""
    return _fingerprints(facts) or _desync(facts) or _launches(facts)


def _rows(facts: Facts, kind: str) -> list[Row]:
    found = facts.case.events.filter(pl.col("kind").cast(pl.String) == kind)
    return list(found.sort("log", "line").iter_rows(named=True))


def _of_job(rows: list[Row]) -> bool:
    """Every writer's number in the group is its number in the job."""
    return bool(rows) and all(row["rank"] is not None and row["rank"] == row["group_rank"] for row in rows)


def _many(few: int, most: int) -> bool:
    return few > 0 and most >= max(_FEWEST, _TIMES * few)


# The wrapper of TORCH_DISTRIBUTED_DEBUG=DETAIL: each rank says what it runs, and what one other does.

_Print = tuple[int | None, str | None, str, str]
"""Sequence number, operation, sizes, dtype."""


def _prints(rows: list[Row]) -> Iterator[tuple[int, _Print, str]]:
    for row in rows:
        fields, evidence = fields_of(row), event_id(row["log"], row["line"])
        yield (
            row["rank"],
            (row["seq"], row["op"], str(fields.get("sizes")), str(fields.get("dtype"))),
            evidence,
        )
        for peer in row["about"] or ():
            yield (
                peer,
                (
                    fields.get("peer_seq"),
                    fields.get("peer_op"),
                    str(fields.get("peer_sizes")),
                    str(fields.get("peer_dtype")),
                ),
                evidence,
            )


def _fingerprints(facts: Facts) -> Finding | None:
    rows = _rows(facts, "wrapper_mismatch")
    said: dict[int, _Print] = {}
    where: dict[int, str] = {}
    for rank, what, evidence in _prints(rows) if _of_job(rows) else ():
        if said.setdefault(rank, what) != what:
            return None
        where.setdefault(rank, evidence)
    if not said or set(said) != set(range(world_of(facts))):
        return None
    (usual, most), *_ = Counter(said.values()).most_common(1)
    few = tuple(sorted(rank for rank, what in said.items() if what != usual))
    if not _many(len(few), most):
        return None
    causes = {_kind_of(usual, said[rank]) for rank in few}
    cause = causes.pop() if len(causes) == 1 else "different_collective"
    doing = {rank: f"runs {_print_words(said[rank])}" for rank in few}
    return Finding(
        cause=cause,
        confidence="supported",
        sentence=(
            f"Torch compared the calls before they began: {ranks_words(few)} {verb(few, 'runs', 'run')} "
            f"{_print_words(said[few[0]])}, and the {most} others {_print_words(usual)}. The check refused the call: "
            "the job breaks off there instead of waiting."
        ),
        # What hangs without the check ends with it: which of the two is meant is the person's to say.
        hang=None,
        culprits=few,
        doing=doing,
        location=_raised_at(facts, few),
        evidence=tuple(dict.fromkeys(where[rank] for rank in (*few, *sorted(set(said) - set(few)))))[:4],
        contradicted_by="dumps in which these ranks made the same call as the others",
        explains=most,
    )


def _raised_at(facts: Facts, few: tuple[int, ...]) -> Location | None:
    """The check raises in the call: where the program made it, by those out of line or else by any other."""
    waited = facts.accounts.waited_in_vain
    ranks = [*(rank for rank in few if rank in waited), *sorted(waited)]
    return next((place for rank in ranks if (place := location_of(waited[rank].place))), None)


def _kind_of(usual: _Print, other: _Print) -> str:
    if other[0] != usual[0]:
        # Another number is another place in the program: a call too few or too many before.
        return "skipped_collective" if (other[0] or 0) < (usual[0] or 0) else "extra_collective"
    if other[1] != usual[1]:
        return "different_collective"
    return "size_mismatch" if other[2] != usual[2] else "dtype_mismatch"


def _print_words(what: _Print) -> str:
    seq, op, sizes, dtype = what
    return f"{(op or 'a call').lower()} of [{sizes}] {dtype} as number {seq}"


# The desync report: who never joined what, by counters in the store.


def _desync(facts: Facts) -> Finding | None:
    rows = [row for row in _rows(facts, "desync_report") if row["about"]]
    if not _of_job(rows):
        return None
    for row in rows:
        fields = fields_of(row)
        late = tuple(sorted(set(row["about"])))
        listed = {rank for part in fields.get("snapshot") or () for rank in part.get("ranks") or ()}
        others = listed - set(late)
        # A rank that made a call too many is never listed: of few that joined, nothing is known.
        if listed | set(late) == set(range(world_of(facts))) and len(others) > len(late):
            what = (
                f"Torch's desync report, by counters in the store, names {ranks_words(late)} as "
                f"not having joined what {len(others)} others have"
            )
            return _behind(facts, late, what, (event_id(row["log"], row["line"]),), len(others))
    return None


# NCCL's RAS: launches per communicator.


def _launches(facts: Facts) -> Finding | None:
    counts = launches(facts.case, facts.accounts, world_of(facts))
    for count in counts:
        # Dumps in which every call has ended are better witnesses than two answers that may be seconds apart.
        again = count.again and not facts.case.ranks_seen
        if not (again or facts.accounts.gave_up) or not _many(len(count.listed), count.most):
            continue
        late = tuple(sorted(rank for rank, n in count.of_rank.items() if n < count.usual))
        if late and late == tuple(sorted(count.of_rank)):
            ids = (count.evidence, *count.again[: bool(again)])
            many = "two" if len(count.again) < 2 else str(len(count.again) + 1)
            still = f"the same in {many} answers" if again else "while watchdogs gave up"
            what = f"NCCL's RAS counts {count.words(late)}, {still}"
            if other := instead(count, counts):
                return _instead(
                    late, f"{what}; and {other.words(late)}", (*ids, other.evidence), count, other
                )
            return _behind(facts, late, what, ids, count.most)
    return None


def _instead(
    late: tuple[int, ...], what: str, ids: tuple[str, ...], count: Launches, other: Launches
) -> Finding:
    those, made = (
        ranks_words(late),
        f"{other.op} {other.of_rank[late[0]]} instead of {count.op} {count.usual}",
    )
    return Finding(
        cause="different_collective",
        confidence="supported",
        sentence=f"{what}. {upper(those)} launched {made}: another call, in the place of the others'.",
        culprits=late,
        doing=dict.fromkeys(late, f"launched {made}"),
        evidence=ids,
        contradicted_by="a later answer with other counts",
        alternatives=(
            perhaps(
                "skipped_collective",
                f"{upper(those)} may have left out {count.op}, and gone on to the next call.",
                late,
                decided_by="its stack, or dumps of all ranks",
            ),
        ),
        explains=count.most,
    )


def _behind(facts: Facts, late: tuple[int, ...], what: str, ids: tuple[str, ...], others: int) -> Finding:
    stories = {rank: story for rank in late if (story := story_of(facts, AskedRank(rank, True)))}
    first = next(iter(stories.values()), None)
    seen = {rank: stand.phrase for rank in late if (stand := facts.hosts.get(rank)) is not None}
    if first is None and seen:
        phrase = seen[min(seen)]
        ids = (*ids, *facts.hosts[min(seen)].evidence)
        doing = f", and {verb(late, 'was', 'were')} seen {phrase}"
    else:
        doing = f": {first.doing}" if first else "; what it did instead, its stack or its log would tell"
    return Finding(
        cause=first.cause if first else "undetermined",
        confidence="supported" if first is None else first.confidence,
        sentence=f"{what}. {upper(ranks_words(late))} {verb(late, 'is', 'are')} behind{doing}.",
        culprits=late,
        doing={rank: story.doing for rank, story in stories.items()} if first else seen,
        location=first.location if first else None,
        evidence=(*ids, *(i for story in stories.values() for i in story.evidence)),
        contradicted_by="a dump in which these ranks have issued as many calls as the others",
        alternatives=first.alternatives if first else _perhaps(facts, late, bool(seen)),
        explains=others,
    )


def _perhaps(facts: Facts, late: tuple[int, ...], seen: bool) -> tuple[Alternative, ...]:
    by, those = "dumps of all ranks" if seen else "its stack, or dumps of all ranks", upper(ranks_words(late))
    skipped = perhaps(
        "skipped_collective",
        f"{those} may have left out a call, or be held up on the host.",
        late,
        decided_by=by,
    )
    in_a_call = all((stand := facts.hosts.get(rank)) and stand.activity == "collective" for rank in late)
    if not in_a_call:
        return (skipped,)
    extra = f"{those} may have made a call that the others do not make, which took the place of theirs."
    return (perhaps("extra_collective", extra, late, decided_by=by), skipped)
