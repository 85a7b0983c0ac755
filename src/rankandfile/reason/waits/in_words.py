"""The waits of a wait end in words and in the document: who waits, for whom, in which call."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec
import polars as pl
from msgspec.structs import replace

from rankandfile.model.claims import Claim, InCall, Joined, NeverIssued, Unseen, ranks_of
from rankandfile.model.column import Row
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import Clause
from rankandfile.reason import lookup
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.calls.order_across_groups import PlaceInOrder
from rankandfile.reason.claims.in_words import left_of, who_waits
from rankandfile.reason.claims.wait_row import Awaited, WaitRow
from rankandfile.reason.facts import Facts
from rankandfile.reason.words import ranks_words, upper, verb

from .graph import Pending, WaitEnd
from .seen_waiting import ways_to_waits

_MOST_WAITS = 8
#: Of so many ranks the calls are looked up one by one: a job has thousands of small groups.
_FEW = 16
#: Calls of which it is checked that ranks wait in them in turn.
_MOST_IN_TURN = 32
_HOST_BACKENDS = {"gloo"}


def first_pending(facts: Facts, wait_end: WaitEnd) -> Pending | None:
    """The call that a wait end is about: of those that end in it, the one that comes first in the program; of whoever
    has not come, one of which that is proved."""
    calls = [facts.waits.pending[i] for i in wait_end.pending]
    if wait_end.kind == "absent":
        calls = [call for call in calls if {*call.lacking} & {*wait_end.ranks}] or calls
    if not calls:
        return None
    numbered = [c for c in calls if c.slot is not None]
    if not numbered:
        return calls[0]
    return min(
        numbered, key=lambda call: (_later_than(facts, call, numbered), -len(call.waiting), call.group)
    )


def _later_than(facts: Facts, call: Pending, others: list[Pending]) -> int:
    """How many of the others the program comes to before this one."""
    if len(others) > 12:
        return 0
    count = 0
    for other in others:
        if other is call or other.slot is None or call.slot is None:
            continue
        here, there = PlaceInOrder(call.group, call.slot), PlaceInOrder(other.group, other.slot)
        before, after = facts.order.votes(there, here, frozenset())
        count += before > after
    return count


def pending_row(facts: Facts, call: Pending) -> Row | None:
    """The call of one of the ranks that wait in it."""
    for rank in call.waiting:
        row = (
            lookup.call_at(facts, rank, call.group, call.slot)
            if call.slot is not None
            else lookup.call_of_record(facts, rank, call.record or 0)
        )
        if row is not None:
            return row
    return None


def call_phrase(facts: Facts, call: Pending) -> str:
    """'all_reduce at trainer.py:88 (group mesh_tp [2,3], seq 50)'."""
    row = pending_row(facts, call)
    name = lookup.call_words(facts, row) if row else "call"
    number = f", seq {row['seq']}" if row and call.slot is not None else ""
    return f"{name} (group {lookup.group_words(facts, call.group)}{number})"


def waiting_sentence(
    facts: Facts, wait_end: WaitEnd, culprits: tuple[int, ...], named: bool = False
) -> Clause | None:
    """'Ranks 0-2 wait for it in the all_reduce ...; ranks 4-7 wait in turn.' `named`: the call was just named."""
    call = first_pending(facts, wait_end)
    if call is None:
        return None
    ways = ways_in(facts, call)
    if set(ways[0].ranks) <= set(culprits):
        return None
    calls = in_calls(facts, call, culprits, ways)
    proved = call.lacking and set(call.lacking) <= set(culprits)
    whom = f" for {verb(culprits, 'it', 'them')}" if proved else ""
    others = set(wait_end.victims) - set(call.waiting) - set(culprits)
    in_turn = _in_turn(facts, others)
    unclaimed = others - {rank for claim in in_turn for rank in ranks_of(claim)}

    def words(held: Sequence[Claim]) -> str:
        here, elsewhere = left_of(calls, held), left_of(in_turn, held)
        rest = sorted(unclaimed | {rank for claim in elsewhere for rank in ranks_of(claim)})
        parts = [who_waits(here, whom, named)] if here else []
        parts += [f"{ranks_words(rest)} {verb(rest, 'waits', 'wait')} too"] if rest else []
        return f"{upper('; '.join(parts))}."

    return Clause(claims=(*calls, *in_turn), words=words)


def in_calls(
    facts: Facts, call: Pending, but: Collection[int] = (), ways: Sequence[Way] = ()
) -> list[InCall]:
    """Who waits there, by what each rank's own record says that the call is for it; without those ranks. `ways`: those
    into the call, where the caller has them."""
    ways = ways or ways_in(facts, call)
    group, named = lookup.group_words(facts, call.group), ways[0].op
    rest = tuple(rank for rank in call.waiting if rank not in but)
    if rest != call.waiting:
        ways = ways_in(facts, replace(call, waiting=rest)) if rest else []
    found = []
    for way in sorted(ways, key=lambda way: way.op != named):
        at = lookup.frame(facts.case, way.row["site"]) if way.row and way.one_place else None
        found.append(
            InCall(
                ranks=format_ranks(way.ranks),
                group=group,
                seq=way.seq,
                op=way.op,
                file=at["file"] if at else None,
                line=at["line"] if at else None,
                evidence=list(way.told),
            )
        )
    return found


def _in_turn(facts: Facts, ranks: set[int]) -> list[InCall]:
    """The calls that these are in, each rank in the first of its own; of very many, the first."""
    first = {rank: facts.waits.of_rank[rank][0] for rank in ranks if facts.waits.of_rank.get(rank)}
    found: list[InCall] = []
    for index in sorted(set(first.values()))[:_MOST_IN_TURN]:
        there = {rank for rank, own in first.items() if own == index}
        call = facts.waits.pending[index]
        found += in_calls(facts, call, set(call.waiting) - there)
    return found


class Way(NamedTuple):
    """Ranks that stand at one pending call, and what their own records say that it is for them."""

    ranks: tuple[int, ...]
    row: Row | None
    """The call of the first of them; None where only a log tells that they are in it."""
    op: str | None
    seq: int | None
    """None: they number it differently."""
    told: tuple[str, ...]
    one_place: bool = False
    """All of them made it from one line."""


def ways_in(facts: Facts, call: Pending) -> list[Way]:
    """Whoever waits at one number need not wait in the same operation: that is told by each rank's own record."""
    key = (
        (pl.col("group") == call.group) & (pl.col("slot") == call.slot)
        if call.slot is not None
        else pl.col("record") == (call.record or 0)
    )
    few = len(call.waiting) <= _FEW
    parts = [facts.call_table.of_rank(rank) for rank in call.waiting] if few else [facts.call_table.calls]
    made = (
        pl.concat(parts)
        .filter(key & pl.col("rank").is_in(list(call.waiting)))
        .unique(["rank", "group", "slot"], keep="first", maintain_order=True)
    )
    ways: list[Way] = []
    for _, part in made.group_by("terms", maintain_order=True):
        row = part.row(0, named=True)
        op, ranks = lookup.op_of(facts, row), tuple(part["rank"].sort().to_list())
        same = part["seq"].n_unique() == 1 and call.slot is not None
        known = next((i for i, way in enumerate(ways) if way.op == op), None)
        if known is None:
            told, seq = (lookup.evidence_of(row),), row["seq"] if same else None
            ways.append(Way(ranks, row, op, seq, told, part["site"].n_unique() == 1))
        else:
            way = ways[known]
            same = same and way.seq == row["seq"]
            ways[known] = way._replace(
                ranks=tuple(sorted((*way.ranks, *ranks))),
                seq=way.seq if same else None,
                one_place=way.one_place and part["site"].unique().to_list() == [way.row and way.row["site"]],
            )
    unrecorded = set(call.waiting) - set(made["rank"].to_list())
    unrecorded -= _add_seen(facts, ways, unrecorded, _logged(facts, call, unrecorded))
    return sorted(ways, key=lambda way: call.waiting[0] not in way.ranks) + _by_logs(facts, call, unrecorded)


def _logged(facts: Facts, call: Pending, ranks: set[int]) -> dict[int, str]:
    """The operation that a rank's own log names at the number of the call."""
    return {
        rank: contract_of(report.op).op
        for rank in ranks
        for report in facts.accounts.of_rank.get(rank, ())
        if report.seq == call.slot and report.op and call.slot is not None
    }


def _add_seen(facts: Facts, ways: list[Way], ranks: set[int], logged: dict[int, str]) -> set[int]:
    """Those without a record of the call whose stacks are those of ranks that have one: each goes to its like. A stack
    has no numbers: it may be that of another call, which the rank's own log tells."""
    found: set[int] = set()
    seen = ways_to_waits(facts.case, facts.hosts, sorted(ranks))
    for i, way in enumerate(ways) if seen else ():
        theirs = list(ways_to_waits(facts.case, facts.hosts, way.ranks).values())
        alike = {
            rank
            for rank in seen.keys() - found
            if seen[rank] in theirs and logged.get(rank) in (None, contract_of(way.op).op if way.op else None)
        }
        ways[i] = way._replace(ranks=tuple(sorted({*way.ranks, *alike})))
        found |= alike
    return found


def _by_logs(facts: Facts, call: Pending, ranks: set[int]) -> list[Way]:
    """Ranks without a record of the call, of which a log tells that they are in it."""
    ways: dict[str | None, Way] = {}
    for rank in sorted(ranks):
        report = next((r for r in facts.accounts.of_rank.get(rank, ()) if r.seq == call.slot), None)
        op = contract_of(report.op).op if report and report.op else None
        told = (report.evidence,) if report else ()
        way = ways.setdefault(op, Way((), None, op, call.slot, told))
        ways[op] = way._replace(ranks=(*way.ranks, rank))
    return list(ways.values())


def wait_list(facts: Facts, wait_end: WaitEnd) -> list[WaitRow]:
    first = first_pending(facts, wait_end)
    calls = [facts.waits.pending[i] for i in wait_end.pending]
    concerned = set(wait_end.victims) | set(wait_end.ranks)
    rest = [c for c in facts.waits.pending if c not in calls and concerned & set(c.waiting)]
    rest.sort(key=lambda c: (-len(c.waiting), c.group, c.slot or 0))
    ordered = ([first] if first else []) + [c for c in calls if c is not first] + rest
    return [row for call in ordered[:_MOST_WAITS] for row in _rows(facts, call)][:_MOST_WAITS]


def _rows(facts: Facts, call: Pending) -> list[WaitRow]:
    out: list[WaitRow] = []
    ways = ways_in(facts, call)
    by_ranks = {format_ranks(way.ranks): way for way in ways}
    for here in in_calls(facts, call, ways=ways):
        way = by_ranks[here.ranks]
        host = way.row is not None and _backend(facts, way.row) in _HOST_BACKENDS
        awaited = _awaited(facts, call, way, here.group)
        out.append(WaitRow(here=here, awaited=awaited, by="host" if host else "device"))
    return out


def _awaited(facts: Facts, call: Pending, way: Way, group: str) -> Awaited | None:
    """Those that the call lacks; else those that come to it later; else those of which nothing is known."""
    # What cannot be waited out waits for nobody.
    unknown = () if call.mismatched else call.unknown
    kinds = ((NeverIssued, call.lacking), (Joined, call.behind or call.busy), (Unseen, unknown))
    kind, ranks = next(((kind, ranks) for kind, ranks in kinds if ranks), (Unseen, ()))
    if not ranks:
        return None
    ids = [i for rank in ranks[:2] for i in lookup.standing_evidence(facts, rank, call.group)]
    awaited = kind(ranks=format_ranks(ranks), group=group, seq=way.seq, op=way.op, evidence=[*way.told, *ids])
    if isinstance(awaited, NeverIssued) and call.slot is None:
        return msgspec.structs.replace(awaited, wanted_by=call.waiting[0])
    return awaited


def _backend(facts: Facts, row: Row) -> str | None:
    dumps = facts.case.dumps.filter(facts.case.dumps["dump"] == row["dump"])
    return dumps["backend"][0] if dumps.height else None
