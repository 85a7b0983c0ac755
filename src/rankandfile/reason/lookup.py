"""Looking things up in the facts: a call by rank, group and slot; its words; its evidence id."""

from __future__ import annotations

from pathlib import PurePosixPath

import polars as pl

from rankandfile.model.case import Case, group_label
from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Call, Location
from rankandfile.model.ledger import call_id, dump_id, group_id
from rankandfile.model.ranks import format_ranks

from .calls.call_table import BATCH, COLLECTIVE, TRANSFER
from .calls.contracts import Terms
from .waits.facts import WaitFacts

_MOST_PARTS = 6


def call_at(facts: WaitFacts, rank: int, group: int, slot: int) -> Row | None:
    """The call of a rank by group and slot."""
    return _row(
        facts.call_table.of_rank(rank).filter((pl.col("group") == group) & (pl.col("slot") == slot)),
        first=True,
    )


def last_call(facts: WaitFacts, rank: int, group: int | None = None) -> Row | None:
    """The rank's last call of its own: a collective, a transfer or a batch; on one group, or on any."""
    wanted = pl.col("kind").is_in([COLLECTIVE, TRANSFER, BATCH])
    if group is not None:
        wanted &= pl.col("group") == group
    return _row(facts.call_table.of_rank(rank).filter(wanted), first=False)


def call_of_record(facts: WaitFacts, rank: int, record: int) -> Row | None:
    """The call of a rank by its place in the rank's dump."""
    return _row(facts.call_table.of_rank(rank).filter(pl.col("record") == record), first=True)


def _row(rows: pl.DataFrame, first: bool) -> Row | None:
    return rows.row(0 if first else -1, named=True) if rows.height else None


def made_alike(facts: WaitFacts, ranks: tuple[int, ...], row: Row) -> tuple[int, ...]:
    """Those of the ranks that made this very call at its number: with its operation, from its line. All of them where
    the call has no number that agrees across ranks, or none of them made it."""
    if row["slot"] is None:
        return ranks
    calls = facts.call_table.calls.filter(
        (pl.col("group") == row["group"])
        & (pl.col("slot") == row["slot"])
        & pl.col("rank").is_in(list(ranks))
        & pl.col("site").eq_missing(row["site"])
    )
    ops = [i for i, terms in enumerate(facts.call_table.terms) if terms.op == op_of(facts, row)]
    return tuple(calls.filter(pl.col("terms").is_in(ops))["rank"].unique().sort().to_list()) or ranks


def op_of(facts: WaitFacts, row: Row) -> str:
    """The operation of a call, by its one name."""
    return facts.call_table.terms[row["terms"]].op


def evidence_of(row: Row) -> str:
    return call_id(row["dump"], row["record"])


def dump_of(facts: WaitFacts, rank: int) -> int | None:
    """The number of the dump that a rank's calls are from."""
    rows = facts.case.dumps_used.filter(pl.col("rank") == rank)
    return int(rows["dump"][0]) if rows.height else None


def standing_evidence(facts: WaitFacts, rank: int, group: int) -> list[str]:
    """What the rank's dump says of the group, or of itself."""
    dump = dump_of(facts, rank)
    if dump is None:
        return []
    has = facts.progress.filter((pl.col("rank") == rank) & (pl.col("group") == group)).height
    return [group_id(dump, group) if has else dump_id(dump)]


def frame(case: Case, site: int | None) -> Row | None:
    if site is None:
        return None
    # Frames are numbered as they are listed: the number is the row, and a search would cost every rank one.
    if site < case.frames.height and case.frames["frame"][site] == site:
        return case.frames.row(site, named=True)
    rows = case.frames.filter(pl.col("frame") == site)
    return rows.row(0, named=True) if rows.height else None


def short_file(path: str) -> str:
    return PurePosixPath(path.replace("\\", "/")).name


def place_words(case: Case, site: int | None) -> str:
    """' at trainer.py:88', or nothing where no stack was recorded."""
    at = frame(case, site)
    return f" at {short_file(at['file'])}:{at['line']}" if at else ""


def call_words(facts: WaitFacts, row: Row) -> str:
    """`all_reduce at train.py:12`."""
    return f"{op_of(facts, row)}{place_words(facts.case, row['site'])}"


def size_words(facts: WaitFacts, row: Row) -> str:
    """The sizes of what a call gave, and their dtypes."""
    # A row of the case itself has no terms.
    terms = facts.call_table.terms[row["terms"]] if "terms" in row else None
    if terms is not None and terms.op.startswith("coalesced "):
        return _parts_words(terms)
    found = facts.case.shapes.filter(pl.col("shape") == row["shape"])
    if not found.height:
        return "sizes not recorded"
    shape = found.row(0, named=True)
    side, dtypes = ("in_sizes", "in_dtypes") if shape["in_sizes"] else ("out_sizes", "out_dtypes")
    sizes = shape[side] or []
    tensors = [list(t) for t in sizes[:3]]
    more = ", ..." if len(sizes) > 3 else ""
    words = ", ".join(str(t) for t in tensors) + more
    return f"{words} {' '.join(sorted(set(shape[dtypes] or ())))}".strip() or "no tensor"


def _parts_words(terms: Terms) -> str:
    """Of a batch: how many elements each of its calls is about."""
    sizes = [f"{size:,}" for size in terms.size[:_MOST_PARTS]]
    more = " + ..." if len(terms.size) > _MOST_PARTS else ""
    return f"{' + '.join(sizes)}{more} elements of {' '.join(terms.dtype)}" if sizes else "sizes not recorded"


def as_call(facts: WaitFacts, row: Row, detail: str | None = None) -> Call:
    """A row of the table as a call of the document."""
    at = frame(facts.case, row["site"])
    return Call(
        op=op_of(facts, row),
        # Of a send or a receive that counts the collectives before it.
        seq=row["seq"] if row["kind"] == COLLECTIVE else None,
        file=at["file"] if at else None,
        line=at["line"] if at else None,
        function=at["function"] if at else None,
        detail=detail,
        evidence=[evidence_of(row)],
        group=group_words(facts, row["group"]),
    )


def location_of(facts: WaitFacts, row: Row | None) -> Location | None:
    at = frame(facts.case, row["site"]) if row else None
    return Location(file=at["file"], line=at["line"], function=at["function"]) if at else None


def group_words(facts: WaitFacts, group: int) -> str:
    row = facts.case.groups.filter(pl.col("group") == group).row(0, named=True)
    return group_label(row["name"], row["desc"], facts.membership.members.get(group))


def kind_of_group(facts: WaitFacts, group: int) -> str:
    """What it has in common with its like: `mesh_dp`."""
    row = facts.case.groups.filter(pl.col("group") == group).row(0, named=True)
    return str(row["desc"] or row["name"])


def members_text(facts: WaitFacts, group: int) -> str | None:
    """The members of a group in short form, `0-7`; None where none is known."""
    members = facts.membership.members.get(group)
    return format_ranks(members) if members else None
