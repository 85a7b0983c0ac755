"""Whom others wait for in a call, and that itself waits in a transfer beyond it: it has left that call out.

Sends and receives are in no record of gloo's, and who waits in one may be on its way to the call, held up by others.
Not where it has left the statement that leads to the call: its last call was made from there, as by the others, who
made the next one from there, too. It stands further down, or at an earlier line, and then in a later turn.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.heuristics import heuristic
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.divergence.code_paths import Frame, stack_of
from rankandfile.reason.document import cited, not_come, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, first_pending, pending_row, waiting_sentence
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.words import ranks_words, upper, verb


@finder(precedence=235)
@heuristic(
    "past the call", "who waits in a transfer beyond the statement that leads to a call has left it out"
)
def went_past(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end)
    if wait_end.kind != "absent" or call is None or call.slot is None:
        return None
    if patience(facts, call) in (Patience.NOT_YET, Patience.UNKNOWN):
        return None
    left = {rank: at for rank in wait_end.ranks if (at := _left_at(facts, rank, call)) is not None}
    if left.keys() != {*wait_end.ranks}:
        return None
    culprits = wait_end.ranks
    # One against one: as well the call may have been made where nobody was to make it.
    most = len(call.waiting) > len(culprits)
    row, last = pending_row(facts, call), lookup.last_call(facts, culprits[0])
    stand, at = facts.hosts[culprits[0]], left[culprits[0]]
    those = ranks_words(culprits)
    return Finding(
        cause="skipped_collective",
        confidence="supported" if most else "hypothesis",
        sentence=told(
            f"{upper(those)} left out the {call_phrase(facts, call)}. {verb(culprits, 'Its', 'Their')} last call, the "
            f"{lookup.call_words(facts, last) if last else ''}, was made from {lookup.short_file(at.file)}:{at.line} "
            f"in {at.function}, where the others still are; {those} {verb(culprits, 'is', 'are')} past that, "
            f"{stand.phrase}.",
            waiting_sentence(facts, wait_end, culprits, named=True),
        ),
        culprits=culprits,
        doing={rank: f"{facts.hosts[rank].phrase}, past that call" for rank in culprits},
        divergence=not_come(facts, call, row, culprits, call.waiting),
        location=lookup.location_of(facts, row),
        evidence=(*cited(row, last), *(i for rank in culprits[:4] for i in facts.hosts[rank].evidence[:1])),
        contradicted_by=f"a record of the call on {those}",
        alternatives=(
            perhaps(
                "extra_collective",
                f"{upper(ranks_words(call.waiting))} may have made that call where nobody was to make it.",
                call.waiting,
                decided_by="the source: which ranks are to make it",
            ),
        ),
    )


def _left_at(facts: Facts, rank: int, call: Pending) -> Frame | None:
    """The frame of the way to its last call that it has left since, and in which the others made the next call."""
    stand, last = facts.hosts.get(rank), lookup.last_call(facts, rank)
    row = pending_row(facts, call)
    if stand is None or last is None or row is None or stand.activity != "p2p" or stand.moving or stand.died:
        return None
    then, now, due = (stack_of(facts.case, number) for number in (last["stack"], stand.stack, row["stack"]))
    for depth, (before, here, there) in enumerate(zip(then, now, due, strict=False)):
        if (before.file, before.function) != (there.file, there.function) or before.line != there.line:
            return None
        if (before.file, before.function) != (here.file, here.function):
            return None
        if before.line != here.line:
            return before if _in_one_go(facts, row, last, depth) else None
    return None


def _in_one_go(facts: Facts, row: lookup.Row, last: lookup.Row, depth: int) -> bool:
    """Whether who waits in the call has made it right behind a call like this one, and from the statement in one go.

    Of the calls that it makes from there with none in between, no two are ever alike, and others lie between.
    """
    made = facts.call_table.of_rank(row["rank"]).filter(pl.col("record") <= row["record"]).sort("record")
    before = made.filter(record=row["record"] - 1)
    if before.height != 1 or before["path"][0] != last["path"] or before["kind"][0] != last["kind"]:
        return False
    frames = {stack: stack_of(facts.case, stack) for stack in made["stack"].drop_nulls().unique()}
    from_there = frames.get(row["stack"], [])[: depth + 1]
    run: set[object] = set()
    between = False
    for stack, path in made.select("stack", "path").iter_rows():
        if frames.get(stack, [])[: depth + 1] != from_there:
            run, between = set(), True
        elif path in run:
            return False
        else:
            run.add(path)
    return between
