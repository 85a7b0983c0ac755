"""A divergence in the document: the cohorts and their calls, and the records that show it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import polars as pl

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Alternative, Cohort, Divergence
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import Presumed
from rankandfile.reason import lookup
from rankandfile.reason.calls.lost_history import lost_words
from rankandfile.reason.divergence.code_paths import DivergingLines, diverging_lines, stack_of
from rankandfile.reason.document import cohort, diverged, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.missing_dumps import absent_ranks
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import pending_row
from rankandfile.reason.words import counted, ranks_words, upper, verb

from .divergence_point import DivergencePoint


def divergence(facts: Facts, p: DivergencePoint, kind: str, detail: bool = False) -> Divergence:
    """The divergence as the document has it: a cohort for each side, and one for all other members."""
    if p.past:
        cohorts = _as_they_wait(facts, p)
        cohorts.append(cohort(facts, p.other, p.came))
    else:
        cohorts = _sides(facts, p, detail)
        rest = set(facts.membership.members.get(p.group, ())) - {*p.normal, *p.other, *p.behind}
        untold = rest & set(absent_ranks(facts))
        cohorts += _by_call(facts, p, rest - untold)
        cohorts += [Cohort(ranks=format_ranks(untold), unknown=True)] if untold else []
    row = next((r for r in (p.expected, p.came) if r and r["group"] == p.group), p.expected or p.came)
    # The place is that of the call that was due, where it is not one too many: that may be a call of another group.
    elsewhere = p.kind != "extra" and p.expected is not None and row is p.came
    return diverged(
        facts,
        p.group,
        seq=row["seq"] if row and p.slot is not None and row["slot"] == p.slot else p.slot,
        kind=kind,
        cohorts=cohorts,
        exact=p.exact,
        place=None if elsewhere else p.place,
    )


def circle(facts: Facts, wait_end: WaitEnd, out_of_order: tuple[int, ...] = ()) -> Divergence:
    """The calls of the circle; first the one that a culprit did not come to in its turn, else the first rank's."""
    calls = [facts.waits.pending[i] for i in wait_end.pending]
    missed = set(out_of_order)
    calls.sort(key=lambda c: (not missed & {*c.lacking, *c.busy}, min(c.waiting), c.group))
    shown = calls[:4]
    cohorts: list[Cohort] = []
    for call in shown:
        rows = {rank: circle_row(facts, rank, call.group, call.slot) for rank in call.waiting}
        recorded = {rank: row for rank, row in rows.items() if row is not None}
        # That a rank waits there may be known by its log alone: of its call there is no record then.
        untold = rows.keys() - recorded.keys()
        cohorts += [cohort(facts, recorded, next(iter(recorded.values())))] if recorded else []
        cohorts += [Cohort(ranks=format_ranks(untold), unknown=True)] if untold else []
    first = shown[0]
    row = circle_row(facts, first.waiting[0], first.group, first.slot)
    return diverged(facts, first.group, seq=row["seq"] if row else first.slot, kind="cycle", cohorts=cohorts)


def circle_row(facts: Facts, rank: int, group: int, slot: int | None) -> Row | None:
    return (
        lookup.call_at(facts, rank, group, slot) if slot is not None else lookup.last_call(facts, rank, group)
    )


def _as_they_wait(facts: Facts, p: DivergencePoint) -> list[Cohort]:
    """Only the culprit's own past shows what was due: of the others, the calls of the group that they wait in."""
    waiting: dict[int | None, list[Row]] = {}
    for call in facts.waits.pending:
        row = (
            pending_row(facts, call)
            if call.group == p.group and not set(call.waiting) & set(p.other)
            else None
        )
        if row is not None:
            waiting.setdefault(row["site"], []).append(row)
    return [cohort(facts, sorted({r["rank"] for r in rows}), rows[0]) for rows in waiting.values()]


def _sides(facts: Facts, p: DivergencePoint, detail: bool) -> list[Cohort]:
    members = set(facts.membership.members.get(p.group, ()))
    return [
        cohort(
            facts,
            [r for r in ranks if r in members] or ranks,
            row,
            lookup.size_words(facts, row) if detail and row else None,
        )
        for ranks, row in ((p.normal, p.expected), (p.other, p.came))
    ]


def _by_call(facts: Facts, p: DivergencePoint, rest: set[int]) -> list[Cohort]:
    """The members that are on neither side, by what each has at that number; of what its ring lost, nothing tells."""
    if p.slot is None:
        return [cohort(facts, rest)] if rest else []
    calls = facts.call_table.of_group(p.group).filter(pl.col("rank").is_in(list(rest)))
    there = (
        calls.filter(pl.col("slot") == p.slot).sort("rank").unique("rank", keep="first", maintain_order=True)
    )
    alike: dict[tuple[object, object], list[Row]] = {}
    for row in there.iter_rows(named=True):
        alike.setdefault((row["site"], row["terms"]), []).append(row)
    found = [cohort(facts, [row["rank"] for row in rows], rows[0]) for rows in alike.values()]
    firsts = calls.group_by("rank").agg(pl.col("slot").min())
    lost = set(firsts.filter(pl.col("slot") > p.slot)["rank"].to_list())
    none = rest - set(there["rank"].to_list()) - lost
    found += [cohort(facts, none)] if none else []
    return [*found, *([Cohort(ranks=format_ranks(lost), unknown=True)] if lost else [])]


def evidence(facts: Facts, p: DivergencePoint) -> tuple[str, ...]:
    """The ids of the records that show it: both calls, and where the first rank of each side stands."""
    ids = [lookup.evidence_of(row) for row in (p.expected, p.came) if row]
    for ranks in (p.normal, p.other):
        for group in (p.group,) if p.against is None else (p.group, p.against):
            ids += lookup.standing_evidence(facts, ranks[0], group) if ranks else []
    return tuple(dict.fromkeys([*ids, *p.stands]))


def since_before(facts: Facts, p: DivergencePoint, where: str) -> str:
    """`Rank 1 is 1 call behind ...`: ranks out of step since before what the rings kept, and no call to name."""
    words = (
        f"{upper(ranks_words(p.other))} {verb(p.other, 'is', 'are')} {counted(p.length, 'call')} {where} since "
        "before the oldest call that the rings kept"
    )
    if p.against is not None:
        here, there = (lookup.group_words(facts, group) for group in (p.group, p.against))
        who, made = verb(p.other, "it has", "they have"), "fewer" if p.kind == "skipped" else "more"
        words += (
            f": at all {p.confirmed} calls on group {here} that can be compared, {who} made that many {made} there "
            f"than {ranks_words(p.normal)} by the same call on group {there}. Nobody has changed the order; where it "
            "began was not kept"
        )
    history = lost_words(facts.case, facts.call_table, p.group)
    return f"{words}: {history}." if history else f"{words}."


def or_otherwise(facts: Facts, p: DivergencePoint) -> tuple[Alternative, ...]:
    """What it may be as well, where two groups come by turns: by numbers alone, these are alike."""
    if not p.either or p.against is None:
        return ()
    more, cause = ("more", "extra_collective") if p.kind == "skipped" else ("fewer", "skipped_collective")
    group = lookup.group_words(facts, p.against)
    told = (
        (cause, f"It may be as many calls {more} on group {group} instead."),
        (
            "order_inversion",
            "They may come to the two groups in another order than the others in every round.",
        ),
    )
    decided_by = "the calls before those that were kept, or the source around both"
    return tuple(perhaps(cause, words, p.other, decided_by=decided_by) for cause, words in told)


def different_ways(ways: DivergingLines | None) -> Presumed | None:
    """`They go different ways in train, train.py, at lines 41 and 49.` Where the source has the condition, that is the
    one place."""
    if ways is None:
        return None
    one, other = ways.lines
    place = f"{ways.function}, {lookup.short_file(ways.file)}, at lines {one} and {other}"
    return Presumed(what="different ways", words=f"They go different ways in {place}.")


#: What decides between leaving a loop and a call of one's own in it.
BY_SOURCE = "the source around both calls"


def perhaps_left(ranks: Sequence[int]) -> Presumed:
    """Of ranks in a call that lies behind a round of the others, which those begin anew; the source shows by what they
    went different ways."""
    who = verb(ranks, "It", "They")
    return Presumed(
        what="perhaps left the loop",
        words=f"{who} may have left the loop that the others are in, or be in it still: the calls alone do not tell.",
    )


def ways_of(facts: Facts, p: DivergencePoint) -> DivergingLines | None:
    """Where the ways to the two calls part: by the dumps or, where those keep no frames, by the stacks of ranks that
    still wait in the calls."""
    if p.expected is None or p.came is None:
        return None
    stacks = [_stack(facts, row) for row in (p.expected, p.came)]
    return diverging_lines(facts.case, *stacks)


def left_block(facts: Facts, p: DivergencePoint) -> int | None:
    """The line of the `with` that the other side is leaving, and the normal side is still in; None where it is not."""
    ways = ways_of(facts, p)
    if ways is None or p.came is None or ways.lines[1] >= ways.lines[0]:
        return None
    frames = stack_of(facts.case, _stack(facts, p.came))
    inner = next((f[0] for outer, f in pairwise(frames) if outer[2] == ways.lines[1]), "")
    return ways.lines[1] if inner.rsplit(".", 1)[-1] in ("__exit__", "__aexit__") else None


def _stack(facts: Facts, row: Row) -> int | None:
    if row["stack"] is not None:
        return int(row["stack"])
    stand = facts.hosts.get(row["rank"])
    waits_in_it = row["open"] and stand is not None and not stand.died
    return stand.stack if waits_in_it and stand is not None and stand.activity == "collective" else None
