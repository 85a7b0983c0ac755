"""No call is recorded, and no line decides: what was read, what was not understood, and the one next step."""

from __future__ import annotations

import polars as pl

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Missing
from rankandfile.model.events import event_id
from rankandfile.model.log_shapes import WORTH_OF_ROLE
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.ranks.from_logs.ras_counts import launches
from rankandfile.reason.words import counted, ranks_words, shortened
from rankandfile.recorder_names import BEFORE, RING

from .finding import Finding
from .unowned_stacks import unowned_stacks
from .unused_dumps import unused_dumps

_MOST_READ, _MOST_UNREAD, _LONGEST = 6, 3, 140
_UNREAD = "unread"

#: Lines of setup and of bookkeeping, which say nothing of a fault.
_PLAIN = (
    "nccl_call",
    "nccl_init",
    "nccl_version",
    "dump_started",
    "dump_written",
    "agent_finished",
    "thread_stack",
    "ras_summary",
    "ras_communicator",
    "proxy_noise",
    "faulthandler_timer",
    "xla_unstuck",
    "group_not_destroyed",
    "progress",
    "work_goes_on",
    "work_late",
    "work_before_signal",
    "last_said",
    "tries_again",
    "pod_listed",
    "said_waiting",
    "said_leaving",
    "said_no_data",
    "rank_on_host",
    "nccl_address",
    "nccl_connected",
    "xid_information",
)

_STACKS = "stacks of all ranks, twice, some seconds apart: `py-spy dump --pid PID` for each"
_WHOSE = (
    "the rank in each file's name, or a line `rank N` above each stack: "
    "`tr '\\0' '\\n' < /proc/PID/environ | grep RANK` tells it"
)
_RECORDER = f"set {RING}=2000 ({BEFORE}) and a dump path"


def nothing_recorded(facts: Facts) -> Finding:
    events = facts.case.events.with_columns(pl.col("kind").cast(pl.String), pl.col("role").cast(pl.String))
    rows = [row for row in events.sort("log", "line").iter_rows(named=True) if row["kind"] not in _PLAIN]
    read = sorted(
        (row for row in rows if row["kind"] != _UNREAD), key=lambda row: WORTH_OF_ROLE.get(row["role"], 9)
    )
    unread = [row for row in rows if row["kind"] == _UNREAD][-_MOST_UNREAD:]
    shown = list({(row["kind"], row["rank"], _short(row)): row for row in read}.values())
    aside, unnamed = unused_dumps(facts.case)
    sentence = "Nobody can be named: no call is recorded, and no line that was read decides."
    if aside:
        sentence = f"{aside} No line that was read names anybody."
    if shown:
        more = f", and {len(shown) - _MOST_READ} more" if len(shown) > _MOST_READ else ""
        sentence += f" Read: {'; '.join(_told(row) for row in shown[:_MOST_READ])}{more}."
    if unread:
        sentence += f" Not understood, and looking like a failure: {'; '.join(_told(row) for row in unread)}."
        went_on = next(
            (row for row in _work(events) if any(row["log"] == one["log"] for one in unread)), None
        )
        if went_on is not None:
            sentence += f' Behind such a line its log goes on with work, up to "{_short(went_on)}".'
    counts = launches(facts.case, facts.accounts, world_of(facts))
    if len({count.usual for count in counts}) > 1:
        sentence += (
            " NCCL's RAS counted more launches in one answer than in another: the job moved between them."
        )
    if not rows:
        sentence = f"{aside} That leaves" if aside else "There is"
        sentence += f" not a single recorded call to decide on{_without_a_line(facts)}."
    stand, stacks = unowned_stacks(facts.case)
    if stand:
        # Where processes stand is worth more than that nobody recorded what they called.
        sentence = stand if not rows else f"{sentence} {stand}"
    return Finding(
        hang=bool(facts.accounts.watched),
        cause="undetermined",
        confidence="hypothesis",
        sentence=sentence,
        evidence=(*stacks, *(event_id(row["log"], row["line"]) for row in (*shown[:_MOST_READ], *unread))),
        missing=(
            *unnamed,
            *((Missing(what="whose processes these are", how=_WHOSE),) if stand else ()),
            Missing(what="where each rank stands", how=_STACKS),
            Missing(what="flight-recorder dumps with calls", how=_RECORDER),
        ),
        unadvised=("anti_advice", "probes"),
    )


def _work(events: pl.DataFrame) -> list[Row]:
    return list(events.filter(pl.col("kind") == "work_goes_on").sort("log", "line").iter_rows(named=True))


def _without_a_line(facts: Facts) -> str:
    """Of files that were read, and hold neither calls nor words of a fault."""
    case = facts.case
    files = ", ".join(
        words
        for number, words in (
            (case.dumps_used.height, counted(case.dumps_used.height, "dump")),
            (case.logs.height, counted(case.logs.height, "log")),
            (case.stack_files.height, f"{counted(case.stack_files.height, 'file')} of stacks"),
        )
        if number
    )
    return f", and no line of a fault, in {files}" if files else ""


def _short(row: Row) -> str:
    fields = fields_of(row)
    what = ": ".join(str(fields[name]) for name in ("exception", "message") if fields.get(name)) or str(
        row["text"] or row["kind"]
    )
    return shortened(what, _LONGEST)


def _told(row: Row) -> str:
    who = f"{ranks_words([row['rank']])}: " if row["rank"] is not None else ""
    times = f" ({row['repeats']} times)" if (row["repeats"] or 1) > 1 else ""
    return f'{who}"{_short(row)}"{times}'
