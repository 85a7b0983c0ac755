"""Whether a rank that waits in a transfer is past the call that others wait in, and has left it out.

gloo records no sends and receives, so whoever waits in one may be on its way to the call, held up by others. It is past
it in two cases, by the frames of its last call, of where it stands, and of the call of the others:

* Its last call is the one before in the group, and was made from a statement which it has left; the others made the
  next one from there, with no transfer between the two.
* It has made the call that the others made right before, by the same way and as often as they, be it in a group of its
  own; and it has come round a loop since, to a line before that call or on the way to it, while theirs lies behind it,
  in the loop as well.

Where records carry no frames, the source may tell the second of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from rankandfile.model.column import Row
from rankandfile.reason import lookup
from rankandfile.reason.divergence.code_paths import Frame, Stack, stack_of
from rankandfile.reason.facts import Facts

from .from_stacks.kinds import may_be_in_a_transfer
from .graph import Pending
from .in_words import pending_row
from .past_by_code import came_round_by_code

#: Where more are awaited, it is not one stage that left a call out.
_MOST = 64


class Past(NamedTuple):
    at: Frame
    """Of the way to the last call, in whose function the ranks have gone on since: the same for all."""
    last: Row
    """The last call of the first of them."""
    due: Row
    """The call that others wait in."""


def past_the_call(facts: Facts, ranks: Sequence[int], call: Pending) -> Past | None:
    """None where not all of them are, by one way."""
    due = pending_row(facts, call)
    before = _call_before(facts, due) if due is not None else None
    if due is None or before is None or not 0 < len(ranks) <= _MOST:
        return None
    first = lookup.last_call(facts, ranks[0])
    at = _left_at(facts, ranks[0], call, before, due)
    if first is None or at is None or any(_left_at(facts, r, call, before, due) != at for r in ranks[1:]):
        return None
    return Past(at, first, due)


def _left_at(facts: Facts, rank: int, call: Pending, before: Row, due_row: Row) -> Frame | None:
    """`before`: what who waits in the call made right before it."""
    stand, last = facts.hosts.get(rank), lookup.last_call(facts, rank)
    if stand is None or last is None or stand.moving or stand.died or not may_be_in_a_transfer(stand):
        return None
    if last["stack"] is None and before["stack"] is None:
        return came_round_by_code(facts, rank, call, before, last, due_row)
    if before["slot"] != last["slot"] or before["path"] != last["path"]:
        return None
    then, now, due = (
        stack_of(facts.case, number) for number in (last["stack"], stand.stack, due_row["stack"])
    )
    depth = _first_unlike(then, now, due)
    if depth is None:
        return None
    was, here, there = then[depth], now[depth], due[depth]
    if was.line == there.line != here.line:
        of_it = last["group"] == before["group"] == call.group and before["path"] != due_row["path"]
        return was if of_it and not _may_have_sent_between(facts, before, due_row) else None
    if here.line <= was.line < there.line and _in_one_loop(facts, here, there):
        if _sent_between(facts, before, due_row):
            # A round may go without the call before: the others have come round, too.
            return None
        came_round = here.line < was.line or _came_anew(facts, then[depth + 1 :], now[depth + 1 :])
        return was if came_round else None
    return None


def _first_unlike(*stacks: Stack) -> int | None:
    """The first depth at which the lines are not all one; None where that is in several functions."""
    for depth, frames in enumerate(zip(*stacks, strict=False)):
        if len({(frame.file, frame.function) for frame in frames}) > 1:
            return None
        if len({frame.line for frame in frames}) > 1:
            return depth
    return None


def _came_anew(facts: Facts, then: Stack, now: Stack) -> bool:
    """Whether it has come into the function once more: it is at an earlier line there, and no loop in it leads back."""
    depth = _first_unlike(then, now)
    if depth is None or now[depth].line > then[depth].line:
        return False
    was, here = ((frame.file, frame.line) for frame in (then[depth], now[depth]))
    known, loops = facts.code.lines, facts.code.loops
    return was in known and here in known and (loops.get(was) is None or loops.get(was) != loops.get(here))


def _call_before(facts: Facts, row: Row) -> Row | None:
    """What who waits in the call made right before it."""
    found = facts.call_table.of_rank(row["rank"]).filter(record=row["record"] - 1)
    return found.row(0, named=True) if found.height == 1 else None


def _may_have_sent_between(facts: Facts, before: Row, row: Row) -> bool:
    """Whether transfers of the group lie between, by the numbers that gloo gives to these as well as to calls. Where
    none were made in the round before, either, they tell nothing: they are made in another group."""
    earlier = facts.call_table.of_rank(row["rank"]).filter(
        pl.col("group") == row["group"], pl.col("path") == before["path"], pl.col("record") < before["record"]
    )
    if not earlier.height or not _sent_between(facts, earlier.sort("record").row(-1, named=True), before):
        return True
    return _sent_between(facts, before, row) is not False


def _sent_between(facts: Facts, before: Row, row: Row) -> bool | None:
    """None: no numbers tell."""
    made = facts.case.calls.filter(pl.col("rank") == row["rank"], pl.col("group") == row["group"])
    numbers = made.filter(pl.col("record").is_in([before["record"], row["record"]])).sort("record")
    if numbers.height != 2 or numbers.select("op_id", "seq").null_count().sum_horizontal()[0]:
        return None
    apart = numbers.select(pl.col("op_id", "seq").diff()).row(1)
    return bool(apart[0] > apart[1])


def _in_one_loop(facts: Facts, here: Frame, there: Frame) -> bool:
    """Behind the loop, who made the call is the one that has left."""
    loops = facts.code.loops
    around = loops.get((here.file, here.line))
    return around is not None and around == loops.get((there.file, there.line))
