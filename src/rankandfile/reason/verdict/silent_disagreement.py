"""Calls that have ended, and in which the members asked for different things: no hang, and no right numbers either."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Literal

import polars as pl

from rankandfile.model.claims import Differs, Value
from rankandfile.model.column import Row
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import lookup
from rankandfile.reason.divergence.no_harm import all_got_past
from rankandfile.reason.document import cohort, diverged
from rankandfile.reason.facts import Facts
from rankandfile.reason.words import counted, ranks_words

from .finding import Finding

What = Literal["size", "dtype", "root"]

_CAUSES: dict[What, str] = {
    "size": "size_mismatch",
    "dtype": "dtype_mismatch",
    "root": "root_mismatch",
}
_MOST_SIDES = 4
_MOST_ASKED = 64


def silent_disagreements(facts: Facts) -> list[Finding]:
    """At most one: the first such call, and how many more there are."""
    return [_finding(facts, made, root) for made, root in islice(_ended(facts), 1)]


def beside_a_wait(facts: Facts) -> list[Finding]:
    """The same where ranks wait for another reason: of a call that all made from one place, time after time, so that
    its number belongs to it on all of them."""
    of_one_place = (
        (made, root)
        for made, root in islice(_ended(facts), _MOST_ASKED)
        if made["stack"].n_unique() == 1
        and made["stack"][0] is not None
        and all_got_past(facts, made["group"][0], made["slot"][0])
    )
    return [_finding(facts, made, root) for made, root in islice(of_one_place, 1)]


def _ended(facts: Facts) -> Iterator[tuple[pl.DataFrame, bool]]:
    """The calls of each such number, and whether it is their roots that differ."""
    for group, slot, root in facts.mismatched.iter_rows():
        made = facts.call_table.calls.filter((pl.col("group") == group) & (pl.col("slot") == slot))
        # Two rows of one rank, or two operations, say that the numbers do not belong together: all of it has ended.
        one_each = made.height == made["rank"].n_unique()
        if one_each and not made["open"].any() and len(set(_ops(facts, made))) == 1:
            yield made, bool(root)


def _finding(facts: Facts, made: pl.DataFrame, root: bool) -> Finding:
    parts = [part for _, part in made.sort("rank").group_by("root" if root else "terms", maintain_order=True)]
    rows = [part.row(0, named=True) for part in parts[:_MOST_SIDES]]
    what = "root" if root else _what(facts, rows)
    sides = [(part["rank"].to_list(), row) for part, row in zip(parts, rows, strict=False)]
    values = [Value(ranks=format_ranks(ranks), value=_value(facts, what, row)) for ranks, row in sides]
    first, group = rows[0], int(rows[0]["group"])
    at = lookup.frame(facts.case, first["site"])
    told = "; ".join(f"{ranks_words(ranks)}: {_value(facts, what, row)}" for ranks, row in sides)
    others = facts.mismatched.height - 1
    more = f" So it is in {counted(others, 'later collective')}." if others else ""
    return Finding(
        hang=False,
        cause=_CAUSES[what],
        confidence="supported",
        sentence=(
            f"The job did not hang in it, yet the members of the {lookup.call_words(facts, first)} (group "
            f"{lookup.group_words(facts, group)}, seq {first['seq']}) did not ask for the same {what}: {told}. What "
            f"came of it cannot be right on all of them.{more}"
        ),
        divergence=diverged(
            facts,
            group,
            seq=first["seq"],
            kind="argument",
            cohorts=[cohort(facts, ranks, row, _value(facts, what, row)) for ranks, row in sides],
        ),
        location=lookup.location_of(facts, first),
        evidence=tuple(lookup.evidence_of(row) for row in rows),
        claims=(
            Differs(
                ranks=format_ranks(made["rank"].to_list()),
                group=lookup.group_words(facts, group),
                seq=first["seq"],
                op=lookup.op_of(facts, first),
                file=at["file"] if at else None,
                line=at["line"] if at else None,
                what=what,
                values=values,
                evidence=[lookup.evidence_of(row) for row in rows],
            ),
        ),
        contradicted_by="a contract of the operation that lets its members ask for different things",
    )


def _ops(facts: Facts, made: pl.DataFrame) -> list[str]:
    return [facts.call_table.terms[number].op for number in made["terms"].unique().to_list()]


def _what(facts: Facts, rows: list[Row]) -> What:
    terms = [facts.call_table.terms[row["terms"]] for row in rows]
    return "size" if len({one.size for one in terms}) > 1 else "dtype"


def _value(facts: Facts, what: What, row: Row) -> str:
    if what == "root":
        return f"root {row['root']}"
    return lookup.size_words(facts, row)
