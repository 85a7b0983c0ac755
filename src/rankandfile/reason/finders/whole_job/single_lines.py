"""One line that carries a finding alone: the surest of what was read, by `reason/verdict/line_meanings.py`.

Or none any more: a warning of a wait behind which the same log shows work.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from rankandfile.model.column import Fields, Row
from rankandfile.model.diagnosis import Location, Missing
from rankandfile.model.events import event_id
from rankandfile.model.ranks import format_ranks
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.activity import is_library
from rankandfile.reason.ranks.did_instead import location_of
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.ranks.from_logs.caught import dealt_with, survivors
from rankandfile.reason.ranks.from_logs.over import BROKE_OFF, nobody_left, over_at_once
from rankandfile.reason.ranks.from_logs.proofs import caught_and_unproved, failed_or_stands
from rankandfile.reason.ranks.from_logs.watchdog_reports import frames
from rankandfile.reason.ranks.from_logs.watches import over
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.verdict.line_meanings import MEANINGS, Meaning, say
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, upper

_MOST = 4
_RAISED = ("traceback", "oom", "loader_raised")
_LONGEST = 240
#: What Ray says of a process that was killed, or crashed: it ended, and had told nobody.
_WITHOUT_A_WORD = ("SYSTEM_ERROR", "UNEXPECTED_SYSTEM_EXIT", "NODE_OUT_OF_MEMORY")
#: What ends a process from outside. A code is what its launcher exits with as well, after others have failed.
_BY_SYSTEM = ("SIGKILL", "SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE")


@finder(precedence=60, of="logs")
def single_lines(facts: Facts, _: WaitEnd) -> Finding | None:
    first = next(_meant(facts), None)
    return None if first is None else _finding(facts, *first)


def _meant(facts: Facts) -> Iterator[tuple[Meaning, list[Row]]]:
    """Lines that mean something alone, the surest first."""
    events = facts.case.events.with_columns(pl.col("kind").cast(pl.String), pl.col("role").cast(pl.String))
    told, went_on, past = set(events["kind"].unique().to_list()), caught_and_unproved(facts), over(events)
    after, proved, counted_on = _gave_up(events), failed_or_stands(facts), survivors(facts.case)
    for meaning in MEANINGS:
        if told.isdisjoint(meaning.kinds):
            continue
        rows = list(
            events.filter(pl.col("kind").is_in(list(meaning.kinds)) & (pl.col("role") != "echo"))
            .sort("log", "line")
            .iter_rows(named=True)
        )
        rows = [row for row in rows if not meaning.if_code or _failed(row, after)]
        rows = [row for row in rows if (row["log"], row["line"]) not in past]
        rows = [row for row in rows if row["kind"] not in _RAISED or _of_its_own(facts, row, went_on, proved)]
        rows = [row for row in rows if row["kind"] not in _RAISED or not counted_on(row)]
        if rows:
            yield meaning, rows


class Unclaimed(NamedTuple):
    """A failure that is told for sure, and of no rank."""

    cause: str
    words: str
    evidence: str
    unit: tuple[str, str] | None
    """What failed: a pod, a process or a host, and its name; None where nothing tells."""
    kind: str
    host: str | None
    place: Location | None = None
    log: int = 0
    uncaught: bool = False
    """Of an exception: it went up to where the program begins."""
    original: bool = False
    """It is the one that a worker raised, printed below that of its process."""
    raised: str = ""
    """The exception as it was printed; empty where it was none."""


def unclaimed(facts: Facts) -> list[Unclaimed]:
    """Of the surest meaning that such lines have; none where any of them is of a rank."""
    for meaning, rows in _meant(facts):
        if not meaning.sure or meaning.where != "writer":
            continue
        if any(_accused(meaning, row) for row in rows):
            return []
        return [
            Unclaimed(
                cause="killed" if meaning.cause == "exited" and row["signal"] else meaning.cause,
                words=say(meaning.words, _values(row)),
                evidence=event_id(row["log"], row["line"]),
                unit=_unit(row),
                kind=row["kind"],
                host=row["host"],
                place=_place(row),
                log=row["log"],
                uncaught=_went_up(row),
                original=bool(fields_of(row).get("original")),
                raised=say("{raised}", _values(row)) if meaning.cause == "raised" else "",
            )
            for row in rows
            if meaning.cause != "exited" or row["signal"] in _BY_SYSTEM
        ]
    return []


def _went_up(row: Row) -> bool:
    outermost = frames(fields_of(row))[-1:]
    return bool(outermost) and outermost[0].function.startswith("<module>")


def _unit(row: Row) -> tuple[str, str] | None:
    fields = fields_of(row)
    if fields.get("pod"):
        return "pod", str(fields["pod"])
    name = fields.get("bus") or row["pid"] or fields.get("tasks")
    if name:
        return "process", f"{row['host'] or ''} {name}"
    return ("host", row["host"]) if row["host"] else None


def _of_its_own(facts: Facts, row: Row, went_on: frozenset[int], proved: bool) -> bool:
    """Who waited in vain or lost a peer tells of another; and what the program dealt with ended nobody."""
    if row["role"] != "origin":
        return False
    return (
        row["rank"] not in went_on if row["rank"] is not None else proved or not dealt_with(facts.case, row)
    )


def _gave_up(events: pl.DataFrame) -> frozenset[int | None]:
    """Ranks that raised as they had waited in vain or lost a peer; and None: what is told of no rank may be theirs."""
    raised = events.filter((pl.col("kind") == "traceback") & pl.col("role").is_in(["messenger", "echo"]))
    ranks = frozenset(raised["rank"].drop_nulls().to_list())
    return ranks | {None} if ranks else frozenset()


def _failed(row: Row, gave_up: frozenset[int | None]) -> bool:
    """It ended badly, and neither because a launcher ended what was left, nor of having waited for others."""
    if row["signal"] in ("SIGTERM", "SIGINT", "SIGABRT"):
        return False
    if row["signal"] is None and row["exit_code"] == 1 and row["rank"] in gave_up:
        return False
    return row["signal"] is not None or (row["exit_code"] or 0) != 0 or row["kind"] == "ray_worker_exit"


def _finding(facts: Facts, meaning: Meaning, rows: list[Row]) -> Finding:
    # Who is known to be a rank says it before the same process under another name does.
    rows = [row for row in rows if row["rank"] is not None] or rows
    said = list(dict.fromkeys(say(meaning.words, _values(row)) for row in rows))
    accused = sorted({rank for row in rows for rank in _accused(meaning, row)})
    unheard = () if accused else _never_began(facts, rows)
    accused = accused or list(unheard)
    named = tuple(accused) if meaning.sure else ()
    place = next((fields_of(row).get("place") for row in rows if fields_of(row).get("place")), None)
    which = f"It is the one at {place}." if place else "Which rank that is, nothing here tells."
    open_ = "" if accused or not meaning.where else f" {which}"
    if unheard:
        open_ = f" All other ranks have said something: it is {ranks_words(unheard)}."
    more = f" ({len(said) - _MOST} more like it)" if len(said) > _MOST else ""
    ended = all(row["signal"] or fields_of(row).get("exit_type") in _WITHOUT_A_WORD for row in rows)
    cause = "killed" if meaning.cause == "exited" and ended else meaning.cause
    at_once = over_at_once(facts) or nobody_left(facts)
    if at_once:
        open_ += f" {BROKE_OFF}"
    return Finding(
        hang=None if at_once else True,
        cause=cause,
        confidence="supported" if meaning.sure else "hypothesis",
        sentence=f"{'. '.join(upper(words).rstrip('.') for words in said[:_MOST])}{more}.{open_}",
        culprits=named,
        doing=dict.fromkeys(named, said[0]),
        location=_place(rows[0]),
        evidence=tuple(event_id(row["log"], row["line"]) for row in rows[:_MOST]),
        contradicted_by="an earlier failure of another process",
        alternatives=()
        if named or not accused
        else (
            perhaps(
                cause,
                f"{upper(ranks_words(accused))} may be the first to look at.",
                accused,
                decided_by=say(meaning.next_step, _values(rows[0])),
            ),
        ),
        missing=(Missing(what="what this line leaves open", how=say(meaning.next_step, _values(rows[0]))),)
        if meaning.next_step
        else (),
        unadvised=("anti_advice", "probes"),
    )


def _never_began(facts: Facts, rows: list[Row]) -> tuple[int, ...]:
    """The ranks of which nothing is here, where they are as many as the pods that were never started."""
    if {row["kind"] for row in rows} != {"pod_unscheduled"}:
        return ()
    accounts, world = facts.accounts, facts.case.world_size or 0
    heard = {*facts.case.ranks_seen, *facts.hosts, *accounts.logged, *accounts.last_lines, *accounts.of_rank}
    silent = sorted(set(range(world)) - heard)
    pods = {unit[1] for row in rows if (unit := _unit(row)) is not None and unit[0] == "pod"}
    # A listing may show other jobs' pods as well: of this one are those that are named as its logs are.
    sources = " ".join(facts.case.logs["source"].to_list())
    ours = all(pod.rpartition("-")[0] and pod.rpartition("-")[0] in sources for pod in pods)
    return tuple(silent) if ours and len(silent) == len(pods) < world else ()


def _place(row: Row) -> Location | None:
    """The innermost line of the program; what is compiled is none."""
    own = (p for p in frames(fields_of(row)) if not is_library(p) and not p.file.endswith(".pyx"))
    return location_of(next(own, None))


def _accused(meaning: Meaning, row: Row) -> list[int]:
    if meaning.where == "about":
        return list(row["about"] or ()) if row["about_in"] != "group" or row["rank"] is None else []
    return [row["rank"]] if meaning.where == "writer" and row["rank"] is not None else []


def _values(row: Row) -> Row:
    """The line's columns and fields, and some words made of them."""
    fields = fields_of(row)
    values: Row = {name: value for name, value in row.items() if name != "fields"} | fields
    values["text"] = " ".join(str(row["text"] or "")[:_LONGEST].split())
    values["of_host"] = f" of {row['host']}" if row["host"] else ""
    values["who"] = _who(row, fields)
    values["waited"] = f"{row['waited_ms'] / 1000:g} s" if row["waited_ms"] else "minutes"
    values["timeout_s"] = f"{row['timeout_ms'] / 1000:g}" if row["timeout_ms"] else None
    values["waited_s"] = f"{row['waited_ms'] / 1000:g}" if row["waited_ms"] else None
    about = list(row["about"] or ())
    task = "task" if row["shape"] in ("J2", "J3") else "rank"
    values["abouts"] = f"{task}{'s' if len(about) > 1 else ''} {format_ranks(about)}" if about else "others"
    values["worker_or_about"] = fields.get("worker", format_ranks(about) or None)
    values["peer_or_text"] = row["peer"] or fields.get("server") or values["text"]
    values["arrived"] = fields.get("arrived", "not all")
    values["place"] = fields.get("place", "")
    values["processes"] = _processes(row, fields)
    place = _place(row)
    what = (
        ": ".join(str(fields[name]) for name in ("exception", "message") if fields.get(name))
        or values["text"]
    )
    values["raised"] = what.rstrip(".") + (f" at {place.file}:{place.line}" if place else "")
    values.setdefault("received", row["size_in"])
    values.setdefault("expected", row["size_out"])
    values["ended"] = _ended(row, fields)
    if "bus" not in fields:
        values["bus"] = "that it names"
    return values


def _who(row: Row, fields: Fields) -> str:
    if row["rank"] is not None:
        return ranks_words([row["rank"]])
    if fields.get("worker") is not None:
        return f"worker {fields['worker']}"
    if fields.get("tasks"):
        return f"task {format_ranks(fields['tasks'])}" + (f" of {row['host']}" if row["host"] else "")
    if fields.get("pod"):
        return f"the pod {fields['pod']}"
    if row["group_rank"] is not None:
        return f"rank {row['group_rank']} of its group"
    if row["local_rank"] is not None:
        return f"local rank {row['local_rank']}"
    where = f" of {row['host']}" if row["host"] else ""
    return f"process {row['pid']}{where}" if row["pid"] is not None else f"a process{where}"


def _processes(row: Row, fields: Fields) -> str:
    listed = [one for one in fields.get("processes") or () if isinstance(one, dict)]
    words = [
        f"process {one.get('pid')} on {one.get('host')}" + (f" (GPU {one['gpu']})" if one.get("gpu") else "")
        for one in listed
    ]
    if not words and row["group_rank"] is not None:
        words = [f"rank {row['group_rank']} of a communicator, process {row['pid']} on {row['host']}"]
    return ", ".join(words[:_MOST]) or "a process"


def _ended(row: Row, fields: Fields) -> str:
    if row["signal"]:
        return f"was ended by {row['signal']}"
    if row["exit_code"] is not None:
        return f"exited with code {row['exit_code']}"
    if fields.get("exit_type") in _WITHOUT_A_WORD:
        why = ": ".join(str(fields[name]) for name in ("exit_type", "detail") if fields.get(name))
        return f"died without a word of its own (Ray: {why})"
    return f"ended: {fields.get('exit_type') or row['text']}"
