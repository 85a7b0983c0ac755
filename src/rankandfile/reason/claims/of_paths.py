"""Checks of claims on the way that ranks took: a call left out, made too many, or in another's place; other arguments.

The reasoning aligns whole paths. Here calls are only counted: up to the number in question, whoever left a call out has
made it less often than who made it there.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.claims import Differs, ExtraCall, LeftOut, OfCall, OtherCall, ranks_of
from rankandfile.model.column import Row
from rankandfile.model.ranks import parse_ranks
from rankandfile.reason.calls.contracts import contract_of

from .asked_by_log import Asked, asked_by_log, asked_by_record
from .raw import Raw
from .seen import called_in, last_seen, stacks_with


def left_out(raw: Raw, claim: LeftOut) -> set[int]:
    """The claim's call is that of a rank which made it."""
    row, ranks = raw.row(claim), set(ranks_of(claim))
    if row is None or not raw.fits(claim, row):
        return set()
    counts = _counts(raw, claim, row, {row["rank"], *ranks})
    return {rank for rank in ranks if counts.get(rank, 0) < counts.get(row["rank"], 0)}


def extra_call(raw: Raw, claim: ExtraCall) -> set[int]:
    """The claim's call is that of one of its ranks; any member that made it less often will do."""
    row, ranks = raw.row(claim), set(ranks_of(claim))
    if row is None or not raw.fits(claim, row):
        return set()
    members = raw.members(row["group"])
    counts = _counts(raw, claim, row, {*members, *ranks})
    least = min((counts.get(rank, 0) for rank in members - ranks), default=0)
    return {rank for rank in ranks if counts.get(rank, 0) > least}


def other_call(raw: Raw, claim: OtherCall) -> set[int]:
    row, ranks = raw.row(claim), set(ranks_of(claim))
    if row is None:
        return _other_by_log(raw, claim, ranks) | _other_by_stack(raw, claim, ranks - raw.whole)
    if not raw.fits(claim, row):
        return set()
    there = raw.at(claim, row)
    made = raw.such(claim, there)
    # Not the line alone: a helper makes calls for everybody.
    same = made if row["stack"] is None else made.filter(pl.col("stack") == row["stack"])
    if set(there["rank"].to_list()) - set(same["rank"].to_list()):
        return set(made["rank"].to_list()) & ranks
    # Where records lack the others, or the ways to their calls, their watchdogs' lines are all there is.
    recorded, told = asked_by_record(raw, claim), asked_by_log(raw, claim)
    asked = {
        rank: one._replace(way=one.way or told[rank].way) if rank in told else one
        for rank, one in {**told, **recorded}.items()
    }
    return {
        rank
        for rank in set(made["rank"].to_list()) & ranks & recorded.keys()
        if any(_unlike(asked[rank], other) for of, other in asked.items() if of not in ranks)
    }


def _other_by_log(raw: Raw, claim: OtherCall, ranks: set[int]) -> set[int]:
    """Ranks whose lines name this operation at that number, from its line, where others made another call."""
    told = asked_by_log(raw, claim)
    mine = {rank for rank in ranks & told.keys() if _is_it(raw, claim, told[rank])}
    others = {rank: one for rank, one in {**told, **asked_by_record(raw, claim)}.items() if rank not in ranks}
    return {rank for rank in mine if any(_unlike(told[rank], other) for other in others.values())}


def _other_by_stack(raw: Raw, claim: OtherCall, ranks: set[int]) -> set[int]:
    """Ranks that left no whole record, and were at the claim's line when somebody looked last. None of those whose
    records of that number are unfinished came by that line, or their calls are of another name than is in the stack."""
    waiting = raw.at(claim, None).filter("open")
    if claim.file is None or not ranks:
        return set()
    there, last = stacks_with(raw.case, claim.file, claim.line), last_seen(raw.case)
    seen = {rank for rank in ranks if last.get(rank) in there}
    if not waiting.height:
        # Nobody's calls are recorded: then all others stand in calls, on other lines, and no log tells other numbers.
        others = {rank: stack for rank, stack in last.items() if rank not in ranks}
        apart = all(stack not in there and called_in(raw.case, stack) for stack in others.values())
        lines = raw.case.events.filter(pl.col("rank").is_in([*others]))
        numbers = {*lines["seq"].drop_nulls().to_list()}
        if not others or not apart or not numbers <= {claim.seq}:
            return set()
        return {rank for rank in seen if claim.op in called_in(raw.case, last[rank])}
    if not set(waiting["stack"].to_list()) & there:
        return seen
    asked = {contract_of(op).op for op in waiting["op"].cast(pl.String).to_list()}
    return {rank for rank in seen if claim.op in called_in(raw.case, last[rank]) - asked}


def _is_it(raw: Raw, claim: OtherCall, asked: Asked) -> bool:
    return raw.names(claim, asked.op) and (
        claim.file is None or not asked.way or (claim.file, claim.line) in asked.way
    )


def _unlike(one: Asked, other: Asked) -> bool:
    """Another operation; or the same one from other lines: of one way, sizes alone make no other call."""
    if one.op != other.op:
        return True
    if one.way and other.way:
        return not (one.way <= other.way or other.way <= one.way)
    return one.size is not None and other.size is not None and one.size != other.size


def differs(raw: Raw, claim: Differs) -> set[int]:
    """Of each side's first rank that has the call, the value is another than of every other side's; of a batch, the
    values of all its parts."""
    row, ranks = raw.row(claim), set(ranks_of(claim))
    if row is None:
        return ranks if _sizes_differ_by_log(raw, claim) else set()
    if claim.seq is not None and row["seq"] != claim.seq:
        return set()
    there = raw.at(claim, row)
    values = []
    for side in claim.values:
        own = there.filter(pl.col("rank").is_in(parse_ranks(side.ranks)))
        if not own.height:
            return set()
        # A batch has several records at one number: its value is that of all of them.
        parts = own.filter(pl.col("rank") == own["rank"][0]).sort("record").iter_rows(named=True)
        values.append(tuple(_value(raw, claim, part) for part in parts))
    known = not any(value is None for parts in values for value in parts)
    return ranks if known and len(set(values)) > 1 else set()


def _sizes_differ_by_log(raw: Raw, claim: Differs) -> bool:
    """Each rank of each side tells its size of this operation, and no two sides the same."""
    if claim.what != "size":
        return False
    asked = {**asked_by_log(raw, claim), **asked_by_record(raw, claim)}
    sides = [{asked.get(rank) for rank in parse_ranks(side.ranks)} for side in claim.values]
    told = [one for side in sides for one in side]
    if any(one is None or one.size is None or not raw.names(claim, one.op) for one in told):
        return False
    sizes = [{one.size for one in side if one is not None} for side in sides]
    return all(len(own) == 1 for own in sizes) and len(set().union(*sizes)) == len(sizes) > 1


def _value(raw: Raw, claim: Differs, row: Row) -> str | None:
    if claim.what == "op":
        return str(row["op"])
    if claim.what == "reduction":
        return str(row["name"]).partition(" ")[2] or None
    shape = raw.case.shapes.filter(pl.col("shape") == row["shape"])
    if claim.what == "root":
        told = row["root"] if row["root"] is not None else raw.asked_root(row["rank"], str(claim.op))
        # Of a gather, only its root has a place for what comes.
        return str(told if told is not None else bool(shape.height and shape["out_sizes"].to_list()[0]))
    if not shape.height:
        return None
    kind = "sizes" if claim.what == "size" else "dtypes"
    return str([shape[f"in_{kind}"].to_list(), shape[f"out_{kind}"].to_list()])


def _counts(raw: Raw, claim: OfCall, row: Row, ranks: set[int]) -> dict[int, int]:
    """Rank -> how often it made this call of the group, up to its number; from where all of them still tell."""
    rows = raw.of_group(row["group"]).filter(pl.col("rank").is_in(list(ranks)))
    if row["n"] is not None:
        rows = rows.filter(pl.col("n") <= row["n"])
        firsts = rows.group_by("rank").agg(pl.col("n").min())
        low = firsts.filter(pl.col("rank").is_in(list(raw.wrapped)))["n"].max()
        if low is not None:
            rows = rows.filter(pl.col("n") >= low)
    same = raw.such(claim, rows)
    if row["stack"] is not None:
        # Not the line alone: a helper makes calls for everybody.
        same = same.filter(pl.col("stack") == row["stack"])
    elif row["shape"] is not None:
        # Without frames, as in dumps written as JSON, what it asks for is all that tells one call from another.
        same = same.filter(pl.col("shape") == row["shape"])
    return dict(same.group_by("rank").len().iter_rows())
