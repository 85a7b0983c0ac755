"""Nothing hangs: every recorded call has ended; or logs say that a job went to its end, or was ended while it moved.

Of recorded calls it is found by `too_short_timeout` where no watchdog gave up, and where nothing that was recorded
waits; of logs alone below.
"""

from __future__ import annotations

from datetime import datetime, timezone

from rankandfile.model.causes import Cause
from rankandfile.model.column import Row
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import (
    Counter,
    Facts,
    WaitEnd,
    anybody_waited,
    call_phrase,
    cited,
    counters,
    event_id,
    fields_of,
    first_pending,
    pending_row,
    perhaps,
    pl,
    survived,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, shortened, verb

CAUSE = Cause(
    word="no_hang",
    family="not_a_fault",
    place=20,
    meaning="No rank waits for another.",
    help="Every call that was recorded has ended, or the job went on afterwards.",
    title="Nobody waits",
    page="""
## How it comes about

Dumps are also written by jobs that work, and by jobs that were stopped on purpose. Where every call has ended, that is
what the verdict says, and the exit status is 0.
""",
    scenario="healthy-3d",
)


_CANCELLED = ("slurm_cancelled", "job_cancelled", "agent_signalled")
#: What a Python process prints that was interrupted, and the signal.
_INTERRUPTED, _INTERRUPT = "KeyboardInterrupt", ("SIGINT", "2")
#: What of the driver and the kernel stands beside any job.
_BESIDE = ("xid", "pcie_error", "link_down", "ib_link_event", "gpu_lost", "memory_fault", "machine_check")


@finder(precedence=5)
def went_on_after(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    """Whoever watched the job saw that the call in which others waited ended after all."""
    call = first_pending(facts, wait_end)
    later = {rank: seen for rank, seen in facts.accounts.work.items() if seen.work.went_on_s is not None}
    if call is None or not later.keys() & {*call.waiting}:
        return None
    after = min(seen.work.went_on_s or 0.0 for seen in later.values())
    late = wait_end.ranks if wait_end.kind == "absent" else ()
    who = f"; {ranks_words(late)} {verb(late, 'was', 'were')} late, and not stuck" if late else ""
    waiting = sorted({*call.waiting} & later.keys())
    return Finding(
        cause=CAUSE.word,
        confidence="established",
        hang=False,
        sentence=(
            f"The {call_phrase(facts, call)}, in which {ranks_words(waiting)} waited, ended {after:.0f} s after the "
            f"job was looked at{who}."
        ),
        evidence=(*cited(pending_row(facts, call)), *(i for rank in waiting for i in later[rank].evidence)),
        contradicted_by="a record of the call that it failed",
    )


@finder(precedence=10, of="ended job")
def went_to_its_end(facts: Facts, _: WaitEnd) -> Finding | None:
    """Its launcher's own word, with no word of a failure beside it."""
    if _more_is_told(facts) or _failures(facts, beside=True) or anybody_waited(facts):
        return None
    rows = _rows(facts, ("job_ended_well",)) or _all_processes(facts)
    if not rows:
        return None
    noted = _rows(facts, ("xid_information", *_BESIDE))
    beside = (
        "" if not noted else f' What else was read belongs to no fault of this job: "{_short(noted[0])}".'
    )
    return Finding(
        hang=False,
        cause="no_hang",
        confidence="supported",
        sentence=f'The job went to its end: "{_short(rows[-1])}".{beside}',
        evidence=(_id(rows[-1]), *(_id(row) for row in noted[:1])),
        contradicted_by="a process of it that is still there",
    )


@finder(precedence=20, of="ended job")
def ended_while_it_moved(facts: Facts, _: WaitEnd) -> Finding | None:
    """Its scheduler ended it, or a signal from outside, and up to then its log had counted on."""
    rows = [*_rows(facts, _CANCELLED), *_interrupts(facts)]
    if not rows or _more_is_told(facts) or _failures(facts, beside=False) or anybody_waited(facts):
        return None
    reason = next((r for row in rows if (r := fields_of(row).get("reason"))), None)
    if (reason is not None and "NODE" in str(reason)) or _a_task_failed(facts):
        return None
    told = [*rows, *_rows(facts, ("agent_closing",))]
    at = min((t for row in told if (t := _at(row)) is not None), default=None)
    moved = [one for one in counters(facts.case) if one.moved_until(at)]
    if not moved and str(reason) != "PREEMPTION":
        return None
    earlier = _rows(facts, ("earlier_attempt",))
    by = "it was ended from outside"
    if reason:
        by = f"its scheduler ended it ({str(reason).lower()})"
    elif cancelled := next(
        (row for row in rows if row["kind"] != "agent_signalled" and row["kind"] in _CANCELLED), None
    ):
        who = fields_of(cancelled).get("by") or next(
            (w for row in rows if (w := fields_of(row).get("by"))), None
        )
        why = fields_of(cancelled).get("why")
        by = f"it was cancelled{f' by user {who}' if who else ''}{f' ({why})' if why else ''}"
    elif _interrupts(facts) or any(row["signal"] in _INTERRUPT for row in rows):
        by = "somebody interrupted it (Ctrl-C, SIGINT)"
    return Finding(
        hang=False,
        cause="no_hang",
        confidence="supported" if moved else "hypothesis",
        sentence=f"The job did not hang: {by}{_until(moved[-1]) if moved else ''}.{_earlier(earlier)}",
        evidence=(_id(rows[0]), *(one.evidence for one in moved[-1:]), *(_id(row) for row in earlier[-1:])),
        contradicted_by="the log of another rank, which stood still before",
        alternatives=(
            ()
            if moved
            else (
                perhaps("network_stalled", "It may have stood before: no line tells.", decided_by="its logs"),
            )
        ),
    )


def _a_task_failed(facts: Facts) -> bool:
    """A task with a code of its own, where others were ended: its scheduler may have ended them for it."""
    coded = (pl.col("kind").cast(pl.String) == "slurm") & (pl.col("role").cast(pl.String) == "fact")
    return bool(facts.case.exits.filter(coded & (pl.col("exit_code").fill_null(0) != 0)).height)


def _interrupts(facts: Facts) -> list[Row]:
    return [row for row in _rows(facts, ("traceback",)) if row["text"] == _INTERRUPTED]


def _earlier(rows: list[Row]) -> str:
    if not rows:
        return ""
    return f' An earlier attempt had failed ("{_short(rows[0])}"), and the ranks were started anew.'


def _until(counter: Counter) -> str:
    every = f" every {counter.every_ms / 1000:g} s" if counter.every_ms else ""
    return f', and up to then its log had counted on{every}, at last "{counter.words}"'


def _more_is_told(facts: Facts) -> bool:
    """Recorded calls, stacks and the person's word are better witnesses."""
    looked = facts.case.snapshots.filter(
        (pl.col("shows") != "raised")
        & pl.col("error").ne_missing(_INTERRUPTED)
        & pl.col("rank").is_not_null()
    )
    looked_at = bool(facts.hosts) and bool(looked.height)
    return bool(facts.call_table.calls.height or looked_at or facts.hung or facts.accounts.gave_up)


def _failures(facts: Facts, *, beside: bool) -> bool:
    """A fault of the program's own; `beside`: also an end with another code than zero, and not what merely stands
    beside a job that ended well."""
    kind, role = pl.col("kind").cast(pl.String), pl.col("role").cast(pl.String)
    found = facts.case.events.filter((role == "origin") & ~(kind.is_in(list(_BESIDE)) & pl.lit(beside)))
    uncaught = found.filter(~(pl.col("rank").is_in(list(facts.accounts.caught)).fill_null(False)))
    uncaught = uncaught.filter(~survived(facts.case, uncaught))
    badly = facts.case.exits.filter((pl.col("exit_code").fill_null(0) != 0) | pl.col("signal").is_not_null())
    return bool(uncaught.height) or (beside and bool(badly.height))


def _all_processes(facts: Facts) -> list[Row]:
    """Each process by itself, where they are as many as the job has ranks."""
    rows = _rows(facts, ("process_ended_well",))
    world = facts.case.world_size
    return rows if world and len({(row["host"], row["pid"]) for row in rows}) >= world else []


def _rows(facts: Facts, kinds: tuple[str, ...]) -> list[Row]:
    found = facts.case.events.filter(pl.col("kind").cast(pl.String).is_in(list(kinds)))
    return list(found.sort("log", "line").iter_rows(named=True))


def _at(row: Row) -> int | None:
    """When, by the scheduler's own words or by the line."""
    said = fields_of(row).get("at")
    if isinstance(said, str):
        try:
            return int(datetime.fromisoformat(said).replace(tzinfo=timezone.utc).timestamp()) * 1_000_000_000
        except ValueError:
            pass
    time_ns = row["time_ns"]
    return time_ns if isinstance(time_ns, int) else None


def _short(row: Row) -> str:
    return shortened(str(row["text"] or ""), 160)


def _id(row: Row) -> str:
    return event_id(row["log"], row["line"])
