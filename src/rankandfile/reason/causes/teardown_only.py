"""The work is done: all others have ended well, and a rank does not come out of its teardown. Nobody waits for it."""

from __future__ import annotations

import re

from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Missing, Remedy
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import Facts, Stand, WaitEnd, activities, event_id, fields_of, late_to_end, pl
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, shortened, upper, verb

CAUSE = Cause(
    word="teardown_only",
    family="start_and_end",
    place=20,
    meaning="The work is done; a process does not end.",
    help="No training is lost. A thread or child process keeps the program alive, or its end waits for "
    "something.",
    remedies=(
        Remedy(
            title="End what still runs before the process ends",
            text="Join or mark as daemons the threads and child processes that the program started; end the reader "
            "of a queue between processes after the last put; synchronise before destroy_process_group.",
        ),
    ),
    anti_advice=("Do not look for a fault in the training: it had ended well.",),
    did="finished, but the process did not end",
    title="The work is done; a process does not end",
    page="""
## How it comes about

All steps were made, the checkpoint is written, and a process stays: a thread of an uploader, a loader's worker, a
`destroy_process_group` that waits for an unfinished call. Nothing is lost but machine time. Find what still runs with
a stack of that process.
""",
    scenario="teardown-stuck",
)


#: In these nothing gets on unless somebody else wakes it.
_FOR_EVER = ("lock", "queue", "thread", "idle", "teardown")
_ON_ITS_HOST = ("lock", "queue", "thread", "subprocess")
_LOOK_AGAIN = "py-spy dump --pid PID some seconds later: the same? --hung if you know that it hung"
_NUMBERS = re.compile(r"\d+")
#: What a program says of all of its work.
_FINISHED = re.compile(r"(?i)\b(?:finished|done|over|ended|completed?)\b")
_LONG_NS, _MOST_QUOTED = 60_000_000_000, 160


@finder(precedence=10, of="job")
def others_ended_well(facts: Facts, _: WaitEnd) -> Finding | None:
    ends = facts.accounts.ends
    finished = {rank for rank, end in ends.items() if end.kind == "finished"}
    left = tuple(sorted(ends.keys() - finished))
    if not finished or not left or not all(facts.accounts.alive(rank) for rank in left):
        return None
    if facts.accounts.gave_up or not all(_done(facts, rank, finished) for rank in left):
        return None
    stands = [facts.hosts[rank] for rank in left if rank in facts.hosts]
    doing = {rank: _doing(facts, rank) for rank in left}
    at_work = "" if late_to_end(facts) else _at_work(facts, left)
    ends_not = "had not ended when somebody looked" if at_work else f"{verb(left, 'does', 'do')} not end"
    return Finding(
        cause=CAUSE.word,
        confidence="hypothesis" if at_work else "supported",
        sentence=(
            f"{upper(ranks_words(sorted(finished)))} ended well; {ranks_words(left)} "
            f"{verb(left, 'has', 'have')} {_state(facts, left)}, and {ends_not}: {doing[left[0]]}{at_work}. "
            "No rank waits for another."
        ),
        culprits=left,
        doing=doing,
        location=stands[0].location if stands else None,
        evidence=tuple(
            dict.fromkeys(
                [
                    *(i for stand in stands for i in stand.evidence),
                    *(i for rank in left for i in ends[rank].evidence),
                    *ends[min(finished)].evidence,
                ]
            )
        ),
        contradicted_by="work of the program that the rank had not done",
        missing=(Missing(what="whether it goes on", how=_LOOK_AGAIN),) if at_work else (),
    )


def _at_work(facts: Facts, left: tuple[int, ...]) -> str:
    """What a thread of theirs does that may come to an end by itself: who sends, computes or sleeps, and does not wait
    for somebody who is no more there to wake it."""
    case = facts.case
    rows = case.snapshots.filter(
        pl.col("rank").is_in(list(left))
        & (pl.col("shows").cast(pl.String) == "now")
        & (pl.col("role").cast(pl.String) == "other")
        & pl.col("stack").is_not_null()
    )
    known = activities(rows, case.stacks, case.frames, facts.code.lines)
    doings = known.filter(~pl.col("activity").is_in(list(_FOR_EVER)) & (pl.col("waits") != "ranks"))
    phrases = doings.sort("stack")["phrase"].unique(maintain_order=True).to_list()
    return f"; another thread of it was {phrases[0]}, which may end by itself" if phrases else ""


def _done(facts: Facts, rank: int, finished: set[int]) -> bool:
    """It is on its way out, or it said last what those said last that have ended."""
    stand = facts.hosts.get(rank)
    if stand is not None:
        return _leaves(stand) or _kept_waiting(facts, stand)
    lines = facts.accounts.last_lines
    said = {_said(lines[other]) for other in finished if other in lines}
    return rank in lines and said == {_said(lines[rank])}


def _leaves(stand: Stand) -> bool:
    return stand.activity == "teardown" or stand.within == "teardown"


def _kept_waiting(facts: Facts, stand: Stand) -> bool:
    """It waits for something on its host, and has made no call for longer than the whole job took before."""
    return stand.activity in _ON_ITS_HOST and not stand.moving and late_to_end(facts)


def _state(facts: Facts, left: tuple[int, ...]) -> str:
    stands = [facts.hosts[rank] for rank in left if rank in facts.hosts]
    waits = stands and not all(map(_leaves, stands))
    return "no call open, has made none for longer than the job took before" if waits else "done the work too"


def _said(line: str) -> str:
    return _NUMBERS.sub("0", line)


def _doing(facts: Facts, rank: int) -> str:
    stand = facts.hosts.get(rank)
    if stand is not None:
        return stand.words
    return f"its last words are those of the others, '{shortened(facts.accounts.last_lines[rank], 80)}'"


@finder(precedence=55, of="job")
def all_said_that_it_was_done(facts: Facts, _: WaitEnd) -> Finding | None:
    """Every rank has said that the training is finished, most fell silent with the same words, and few still spoke long
    after that: they have not ended."""
    if facts.call_table.calls.height or facts.hosts or facts.accounts.gave_up or facts.accounts.raised:
        return None
    events = facts.case.events.with_columns(pl.col("kind").cast(pl.String))
    done = {
        row["rank"]: event_id(row["log"], row["line"])
        for row in events.filter(pl.col("kind") == "said_leaving").iter_rows(named=True)
        if row["rank"] is not None and _FINISHED.search(str(fields_of(row).get("what", "")))
    }
    last = _last(facts, events)
    if len(done) < 3 or done.keys() != last.keys() or done.keys() != set(range(max(done) + 1)):
        return None
    shapes = [_said(words) for words, _ in last.values()]
    usual = max(set(shapes), key=shapes.count)
    left = tuple(sorted(rank for rank, (words, _) in last.items() if _said(words) != usual))
    silent = max(ns for rank, (_, ns) in last.items() if rank not in left)
    if not left or 2 * len(left) >= len(last) or any(last[r][1] - silent < _LONG_NS for r in left):
        return None
    rest = sorted(last.keys() - set(left))
    after = min(last[rank][1] for rank in left) - silent
    doing = {rank: f'its last line is "{last[rank][0][:_MOST_QUOTED]}"' for rank in left}
    return Finding(
        cause=CAUSE.word,
        confidence="supported",
        sentence=(
            f"All {len(last)} ranks said that the work is finished; {ranks_words(rest)} said last "
            f'"{last[rest[0]][0][:_MOST_QUOTED]}", and {ranks_words(left)} still spoke {after / 1e9:,.0f} s after '
            f"that: {doing[left[0]]}."
        ),
        culprits=left,
        doing=doing,
        evidence=tuple(done[rank] for rank in (*left, *rest[:1])),
        contradicted_by="work of the program that the rank had not done",
        missing=(Missing(what="what keeps it from ending", how="py-spy dump --pid PID of its process"),),
    )


def _last(facts: Facts, events: pl.DataFrame) -> dict[int, tuple[str, int]]:
    """What each rank said last and when, in a log of several or in its own."""
    rows = events.filter((pl.col("kind") == "last_said") & pl.col("time_ns").is_not_null())
    found: dict[int, tuple[str, int]] = {}
    for row in rows.sort("log", "line").iter_rows(named=True):
        rank = row["rank"] if row["rank"] is not None else fields_of(row).get("speaker")
        if isinstance(rank, int):
            found[rank] = " ".join(str(row["text"]).split()), row["time_ns"]
    own = facts.case.logs.select("rank", "last_line", "last_ns").drop_nulls()
    return {**{rank: (words, ns) for rank, words, ns in own.iter_rows()}, **found}
