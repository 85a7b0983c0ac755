"""Checks of claims on calls: each returns those of the claim's ranks for which the tables show the same."""

from __future__ import annotations

import polars as pl

from rankandfile.model.claims import InCall, Issued, Joined, NeverIssued, OfCall, Unseen, ranks_of
from rankandfile.model.column import Row
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.divergence.code_paths import stack_of

from .raw import Raw
from .seen import called_in, last_seen, seen_at


def _numbered(raw: Raw, claim: OfCall) -> tuple[Row | None, pl.DataFrame] | None:
    """The call that a claim was read from and its like on all members; None where that call is another one."""
    if raw.cites_another(claim):
        return None
    row = raw.row(claim)
    return row, raw.at(claim, row)


def in_call(raw: Raw, claim: InCall) -> set[int]:
    """A rank's own record of the call is unfinished; or it ended although a member never came; or its log says so."""
    found = _numbered(raw, claim)
    if found is None:
        return set()
    row, there = found
    ranks = raw.belong(claim)
    if row is not None and row["is_p2p"]:
        # Every rank waits in a send or receive of its own: what is said of several is said of as many records.
        there = raw.of_group(row["group"]).filter("is_p2p")
    own = raw.such(claim, there.filter(pl.col("rank").is_in(list(ranks))))
    waits = set(own.filter("open")["rank"].to_list())
    if row is not None and row["n"] is not None and (rest := set(own["rank"].to_list()) - waits):
        waits |= rest if _cannot_have_ended(raw, row, there) else set()
    unrecorded = ranks - set(there["rank"].to_list())
    if not unrecorded:
        return waits
    with_others = there.filter("open")["rank"].to_list()
    unrecorded -= _logged_another(raw, claim, unrecorded)
    seen = _stands_with(raw, unrecorded, with_others)
    return waits | _waits_by_log(raw, claim, unrecorded) | seen | _in_its_last(raw, claim, unrecorded)


def _cannot_have_ended(raw: Raw, row: Row, there: pl.DataFrame) -> bool:
    came = set(raw.of_group(row["group"]).filter(pl.col("n") >= row["n"])["rank"].to_list())
    return bool(raw.members(row["group"]) - came) or there["rank"].n_unique() < 2


def _waits_by_log(raw: Raw, claim: OfCall, ranks: set[int]) -> set[int]:
    lines = raw.told(claim, ranks)
    if claim.seq is not None:
        lines = lines.filter(pl.col("seq") == claim.seq)
    ops = [op for op in lines["op"].cast(pl.String).unique().to_list() if op is None or raw.names(claim, op)]
    return set(lines.filter(pl.col("op").cast(pl.String).is_in(ops, nulls_equal=True))["rank"].to_list())


def _in_its_last(raw: Raw, claim: OfCall, ranks: set[int]) -> set[int]:
    """Those whose log counts so many calls and no more, the last of them not done, and who stood in a collective when
    somebody looked last."""
    if claim.op is not None or claim.seq is None or not ranks:
        return set()
    far, done = pl.max_horizontal("enqueued", "seq").max(), pl.col("completed").max()
    lines = raw.told(claim, ranks).group_by("rank").agg(far.alias("far"), done)
    open_ = (pl.col("far") == claim.seq) & (pl.col("completed").fill_null(-1) < claim.seq)
    last = last_seen(raw.case)
    ops = {r: called_in(raw.case, last[r]) for r in lines.filter(open_)["rank"].to_list() if r in last}
    return {rank for rank, names in ops.items() if any(contract_of(op).agree != "name" for op in names)}


def _logged_another(raw: Raw, claim: OfCall, ranks: set[int]) -> set[int]:
    """Those whose own log names another operation at that number: whatever their stacks are like."""
    if claim.seq is None or claim.op is None:
        return set()
    lines = raw.told(claim, ranks).filter((pl.col("seq") == claim.seq) & pl.col("op").is_not_null())
    ops = [op for op in lines["op"].cast(pl.String).unique().to_list() if not raw.names(claim, op)]
    return set(lines.filter(pl.col("op").cast(pl.String).is_in(ops))["rank"].to_list())


def issued(raw: Raw, claim: Issued) -> set[int]:
    found = _numbered(raw, claim)
    if found is None:
        return set()
    row, there = found
    ranks = set(ranks_of(claim))
    if row is not None and row["is_p2p"]:
        there = raw.of_group(row["group"]).filter("is_p2p")
    made = set(raw.such(claim, there)["rank"].to_list()) & ranks
    if row is not None and (abroad := ranks - made - raw.members(row["group"])):
        made |= _in_like_groups(raw, claim, row, abroad)
    unrecorded = ranks - made - set(there["rank"].to_list())
    if not unrecorded:
        return made
    with_others = there.filter("open")["rank"].to_list()
    unrecorded -= _logged_another(raw, claim, unrecorded)
    seen = _stands_there(raw, claim, unrecorded) | _stands_with(raw, unrecorded, with_others)
    return made | _waits_by_log(raw, claim, unrecorded) | seen


def _in_like_groups(raw: Raw, claim: Issued, row: Row, ranks: set[int]) -> set[int]:
    """Each rank of a family of groups makes the call in its own."""
    rows = [raw.of_group(group) for group in raw.like(row["group"])]
    return {
        rank
        for part in rows
        for rank in raw.such(claim, part.filter(pl.col("n") == row["n"]))["rank"].to_list()
        if rank in ranks
    }


def _stands_there(raw: Raw, claim: OfCall, ranks: set[int]) -> set[int]:
    """Ranks whose stacks have the line of the call."""
    if claim.file is None or not ranks:
        return set()
    return ranks & set(seen_at(raw.case, claim.file, claim.line)["rank"].to_list())


def _stands_with(raw: Raw, ranks: set[int], others: list[int]) -> set[int]:
    """Ranks without a whole dump whose stack, when someone looked last, was that of one of the others."""
    last = last_seen(raw.case)
    ways = [stack_of(raw.case, stack) for stack in {last.get(rank) for rank in others} - {None}]
    return {rank for rank in ranks - raw.whole if (way := stack_of(raw.case, last.get(rank))) and way in ways}


def joined(raw: Raw, claim: Joined) -> set[int]:
    row, ranks = raw.row(claim), raw.belong(claim)
    if raw.cites_another(claim):
        return set()
    if row is not None and row["is_p2p"]:
        return {rank for rank in ranks if rank == row["rank"] or _other_half(raw, row, rank) is not False}
    if row is not None and row["n"] is not None:
        came = set(raw.of_group(row["group"]).filter(pl.col("n") >= row["n"])["rank"].to_list())
    else:
        came = set(raw.at(claim, row)["rank"].to_list())
    rest = ranks - came
    lines = raw.told(claim, rest).filter(pl.max_horizontal("enqueued", "seq") >= claim.seq) if rest else None
    return (ranks & came) | (set(lines["rank"].to_list()) if lines is not None else set())


def never_issued(raw: Raw, claim: NeverIssued) -> set[int]:
    row, ranks = raw.row(claim), raw.belong(claim)
    if raw.cites_another(claim):
        return set()
    if claim.wanted_by is not None:
        if row is None or row["rank"] != claim.wanted_by:
            return set()
        return {rank for rank in ranks if _other_half(raw, row, rank) is False}
    if row is not None and row["n"] is None:
        return ranks - set(raw.at(claim, row)["rank"].to_list())
    number = row["n"] if row is not None else claim.seq
    if number is None:
        return set()
    groups = [row["group"]] if row is not None else raw.groups(claim.group)
    came = {r for g in groups for r in raw.of_group(g).filter(pl.col("n") >= number)["rank"].to_list()}
    rest = ranks - came
    unseen = rest - raw.whole
    return (rest & raw.whole) | (_not_by_log(raw, claim, unseen, number) if unseen else set())


def _not_by_log(raw: Raw, claim: OfCall, ranks: set[int], number: int) -> set[int]:
    """Those whose log counts fewer calls than that; or whose process is gone, with no line that tells of the call."""
    lines = (
        raw.told(claim, ranks).group_by("rank").agg(pl.max_horizontal("enqueued", "seq").max().alias("far"))
    )
    far: dict[int, int] = dict(lines.filter(pl.col("far").is_not_null()).iter_rows())
    gone = set(raw.case.exits["rank"].drop_nulls().to_list()) | set(
        raw.case.snapshots["rank"].drop_nulls().to_list()
    )
    logged = set(raw.case.logs["rank"].drop_nulls().to_list()) | set(
        raw.case.events["rank"].drop_nulls().to_list()
    )
    return {rank for rank in ranks if (far[rank] < number if rank in far else rank in gone | logged)}


def unseen(raw: Raw, claim: Unseen) -> set[int]:
    """Neither does a whole record show that it came no further, nor any record that it came."""
    row, ranks = raw.row(claim), set(ranks_of(claim))
    if row is None or row["is_p2p"] or row["n"] is None:
        return ranks
    came = set(raw.of_group(row["group"]).filter(pl.col("n") >= row["n"])["rank"].to_list())
    return ranks - came


def _other_half(raw: Raw, row: Row, peer: int) -> bool | None:
    """Whether the peer made the send or receive that belongs to this call; None where that cannot be counted."""
    rows = raw.of_group(row["group"]).filter(pl.col("is_p2p") & pl.col("src").is_not_null())
    mine = rows.filter((pl.col("rank") == row["rank"]) & (pl.col("record") <= row["record"]))
    theirs = rows.filter(pl.col("rank") == peer)
    if raw.wrapped & {row["rank"], peer}:
        # The start is lost: from the last collective on that both have made, if there is one.
        since = raw.last_common(row["rank"], peer, row["record"])
        if since is None:
            return None
        mine, theirs = mine.filter(pl.col("record") > since[0]), theirs.filter(pl.col("record") > since[1])
    told = [
        _count(mine, a, b) <= _count(theirs, a, b)
        for a, b in ((row["rank"], peer), (peer, row["rank"]))
        if _of_this_call(mine, row, a, b)
    ]
    return all(told) if told else None


def _count(rows: pl.DataFrame, source: int, to: int) -> int:
    return rows.filter((pl.col("src") == source) & (pl.col("dst") == to)).height


def _of_this_call(mine: pl.DataFrame, row: Row, source: int, to: int) -> bool:
    """Whether the call is a transfer this way, or a batch with one in it."""
    same = (
        pl.col("record") == row["record"]
        if row["src"] is not None
        else (pl.col("p2p_seq") == row["p2p_seq"]) & (pl.col("seq") == row["seq"])
    )
    return mine.filter(same & (pl.col("src") == source) & (pl.col("dst") == to)).height > 0
