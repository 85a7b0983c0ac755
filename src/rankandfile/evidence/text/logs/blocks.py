"""Shapes of more than one line: issued-from stacks, desync reports, torchrun's table."""

from __future__ import annotations

import re

from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event, clean, integer
from rankandfile.evidence.text.logs.ranklists import parse as ranks_in
from rankandfile.evidence.text.stamps import stamp

_ISSUED = re.compile(r"^#(\d{1,4}) (.{1,300}?) from (.{1,1000}):(\d{1,9})\s*$")

#: Frames kept of one stack.
FRAMES = 100


def issued_from(event: Event, context: Context) -> None:
    """Where the call of a failed collective was made, innermost first.

    The frames carry no prefix, so ranks on one pipe cut into each other's lists. Frame numbers tell: a list whose
    numbers do not follow each other is kept up to there and marked.
    """
    frames: list[list[object]] = []
    for _, bare in context.following():
        match = _ISSUED.match(bare.body)
        if match is None:
            if not bare.body.strip() or bare.layers or frames:
                break
            continue
        if int(match[1]) != len(frames):
            event.fields["cut"] = True
            break
        if len(frames) < FRAMES:
            frames.append([clean(match[2], 200), clean(match[3], 400), integer(match[4])])
    event.fields["frames"] = frames


#: The call and its line, the group's counters, and the stack's title.
_TO_THE_STACK = 8
#: What a backend may carry out as another operation, by the functions of torch that ask for it.
_CARRIED_OUT_AS = {"ALLREDUCE": re.compile(r"_?reduce_scatter\w*$")}


def asked_for(event: Event, context: Context) -> None:
    """What the program asked for, where the stack below names it: gloo reduces and scatters by an all_reduce."""
    asks = _CARRIED_OUT_AS.get(event.op or "")
    above = ""
    for _, bare in context.following(_TO_THE_STACK) if asks is not None else ():
        match = _ISSUED.match(bare.body)
        if match is not None:
            ours = "Stack trace of the failed" in above and match[3].endswith("distributed_c10d.py")
            if ours and asks is not None and asks.match(match[2]):
                event.op = "REDUCE_SCATTER"
            return
        above = bare.body


_LAGGING = re.compile(r"ranks \[([\d, ]+)\] are the lagging ranks")
_JOINED = re.compile(r"\[([\d, ]+)\] joined but didn't finish collective #(\d{1,18})")
_NOT_JOINED = re.compile(
    r"\[([\d, ]+)\] finished collective #(\d{1,18}), but didn't join collective #(\d{1,18})"
)
_SNAPSHOT = re.compile(r"#(\d{1,18}) (started|finished) ranks:|\[([\d, ]+)\] (started|finished) (\w+)")
_OF_REPORT = re.compile(
    r"^\s*-? ?(?:To our best|Snapshot of|#\d+ (?:started|finished)|\[[\d, ]+\]|- \[|ranks \[)|^\s+\S"
)


def desync_report(event: Event, context: Context) -> None:
    """Who joined what, by counters of the store. They are not sequence numbers, so `seq` stays empty."""
    text = [context.bare.body]
    for offset, bare in context.following(60):
        if not _OF_REPORT.match(bare.body):
            break
        context.consumed.add(offset)
        text.append(bare.body)
    report = " ".join(" ".join(text)[:20_000].split())
    not_joined = [
        {"ranks": ranks_in(m[1]), "finished": int(m[2]), "missing": int(m[3])}
        for m in _NOT_JOINED.finditer(report)
    ]
    never = [rank for m in _LAGGING.finditer(report) for rank in ranks_in(m[1])]
    event.about = sorted({*never, *(rank for part in not_joined for rank in part["ranks"])}) or None  # type: ignore[attr-defined]
    event.about_in = "group" if event.about else None
    event.fields["not_joined"] = not_joined
    event.fields["never_joined"] = never
    event.fields["joined_unfinished"] = [
        {"ranks": ranks_in(m[1]), "number": int(m[2])} for m in _JOINED.finditer(report)
    ]
    event.fields["snapshot"] = _snapshot(report)


def _snapshot(report: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    number = None
    for match in _SNAPSHOT.finditer(report):
        if match[1]:
            number = int(match[1])
        elif number is not None:
            found.append({"number": number, "ranks": ranks_in(match[3]), "state": match[4], "op": match[5]})
    return found


_RANK = re.compile(r"^\s*rank\s*: (\d{1,7})(?: \(local_rank: (\d{1,7})\))?")
_HOST = re.compile(r"^\s*host\s*: (\S+)")
_TIME = re.compile(r"^\s*time\s*: (\d{4})-(\d\d)-(\d\d)_(\d\d:\d\d:\d\d)")
_INDEX = re.compile(r"^\s*\[(\d{1,6})\]:")
_MORE = re.compile(r"^\s*(error_file|traceback)\s*: ?(.*)")
_TABLE_END = re.compile(r"^\s*(?:\[\d+\]:|={3,}|-{3,}|Root Cause)")


def failure_row(event: Event, context: Context) -> None:
    """One row of torchrun's table: the lines above say who, the lines below say why."""
    event.rank = None
    indexed = False
    for bare in context.preceding(6):
        body = bare.body
        if indexed:
            event.fields["root_cause"] = "Root Cause" in body
            break
        if match := _RANK.match(body):
            event.rank, event.rank_from = int(match[1]), "line"
            event.local_rank = integer(match[2], narrow=True) if match[2] else None
        elif match := _HOST.match(body):
            event.host = clean(match[1], 200)
        elif match := _TIME.match(body):
            if time := stamp(int(match[1]), int(match[2]), int(match[3]), match[4]):
                event.time_ns, event.time_quality = time
        elif match := _INDEX.match(body):
            event.fields["index"] = int(match[1])
            indexed = True
    told: list[str] = []
    for offset, bare in context.following(200):
        if _TABLE_END.match(bare.body):
            break
        # A traceback in this table is told a second time, by somebody else.
        context.consumed.add(offset)
        match = _MORE.match(bare.body)
        if match and match[1] == "error_file":
            event.fields["error_file"] = clean(match[2], 400)
        elif match or told:
            told.append(match[2] if match else bare.body)
    event.fields["traceback"] = clean("\n".join(told)[-1000:], 1000)
