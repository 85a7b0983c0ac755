"""What stands below a RAS heading: rows of communicators, counts per rank, processes that do not answer."""

from __future__ import annotations

import re

from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event, clean
from rankandfile.evidence.text.logs.ranklists import parse as ranks_in

ROW = re.compile(
    r"^\s*(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})\s+([\d-]{1,20})\s+([\d-]{1,20})\s+(\d{1,9})"
    r"\s+([A-Z,]{2,80})\s+([A-Z,]{2,80})\s*$"
)
HEADING = re.compile(r"#(\d{1,9})-(\d{1,9}) \(([0-9a-f]{1,32})\) ([A-Z]+)")
_DID = r"(?:have|has) (?:launched up to operation (\d{1,18})|(not launched any operations)|status (\w+))"
MANY = re.compile(rf"^\s*(\d{{1,9}}) ranks? {_DID}")
ONE = re.compile(
    rf"^\s*Ranks? (\d[\d, -]*) {_DID}"
    r"(?: -- GPUs? (\S+(?: \(NVML [\d,]+\))?) managed by process (\d{1,10}) on node (\S+))?"
)
LISTED = re.compile(
    r"^\s*Rank (\d{1,9}) -- GPUs? (\S+(?: \(NVML [\d,]+\))?) managed by process (\d{1,10}) on node (\S+)"
)
_TOTAL = re.compile(r"^\s*\d{1,9}\s+[\d-]{1,20}\s+[\d-]{1,20}\s+\d{1,9}\s+(\d{1,9})\s*$")
PROCESS = re.compile(r"^\s*Process (\d{1,10}) on node (\S+) managing GPUs? ([\d,]+)")

#: Rows kept of one answer. A 16k-rank job has thousands of communicators, in a few groups.
_ROWS = 200


def rows(event: Event, context: Context) -> None:
    """The table of communicators: how many, how large, and what RAS thinks of them."""
    found: list[dict[str, object]] = []
    for _, bare in context.following():
        match = ROW.match(bare.body)
        if match is None:
            if found or not bare.body.lstrip().startswith("#"):
                break
            continue
        if len(found) < _ROWS:
            found.append(
                {"group": int(match[1]), "communicators": int(match[2]), "ranks": match[5], "status": match[7],
                 "errors": match[8]}
            )  # fmt: skip
    event.fields["rows"] = found
    total = next((match[1] for bare in context.preceding(12) if (match := _TOTAL.match(bare.body))), None)
    if total is not None:
        # One GPU per rank, unless a process manages several: either way the number of ranks.
        event.fields["nranks"] = int(total)


def counted(event: Event, context: Context) -> None:
    """Who has launched how much. Members are listed only where they are few; the rest are a number."""
    # An empty line stands between two operations of one communicator.
    _communicator(event, context, behind_blanks=True)
    majority: list[dict[str, object]] = []
    listed: list[dict[str, object]] = []
    ranks: list[int] = []
    for _, bare in context.following():
        if match := MANY.match(bare.body):
            majority.append({"ranks": int(match[1]), **_how_far(match[2], match[4])})
        elif match := ONE.match(bare.body):
            for rank in ranks_in(match[1]):
                ranks.append(rank)
                place = (
                    {"gpu": match[5], "pid": int(match[6]), "host": clean(match[7], 200)} if match[6] else {}
                )
                listed.append({"rank": rank, **_how_far(match[2], match[4]), **place})
        elif (match := LISTED.match(bare.body)) and majority:
            # Members are listed below the line that counts them; only outliers are.
            last = majority[-1]
            ranks.append(int(match[1]))
            far = {name: value for name, value in last.items() if name != "ranks"}
            place = {"gpu": match[2], "pid": int(match[3]), "host": clean(match[4], 200)}
            listed.append({"rank": int(match[1]), **far, **place})
        else:
            break
    counts = {one.get("count") for one in listed}
    majority = [one for one in majority if one.get("count") not in counts or "status" in one]
    event.fields["majority"], event.fields["listed"] = majority, listed
    # Two answers with other counts are two answers, not one told twice.
    event.fields["counts"] = " ".join(str(one.get("count")) for one in (*majority, *listed))
    event.about = ranks or None
    event.about_in = "group" if event.about else None


def _how_far(count: str | None, status: str | None) -> dict[str, object]:
    return {"status": status} if status else {"count": int(count or 0)}


def gone(event: Event, context: Context) -> None:
    """Processes that RAS cannot reach: ended, stopped, or cut off."""
    _communicator(event, context)
    processes: list[tuple[int, str]] = []
    gpus: list[str] = []
    for _, bare in context.following():
        match = PROCESS.match(bare.body)
        if match is None:
            break
        processes.append((int(match[1]), clean(match[2], 200)))
        gpus.append(match[3])
    event.fields["processes"] = [
        {"pid": pid, "host": host, "gpu": gpu} for (pid, host), gpu in zip(processes, gpus, strict=True)
    ]
    if len(processes) == 1:
        event.pid, event.host = processes[0]


_THE_MISSING = re.compile(r"^\s*The missing ranks?: (\d[\d, -]*)")
_SIZES = 80


def missing_ranks(event: Event, context: Context) -> None:
    """Which numbers of one communicator do not answer, and how many it has, by the table above."""
    _communicator(event, context)
    ranks: list[int] = []
    for _, bare in context.following():
        if match := _THE_MISSING.match(bare.body):
            ranks += ranks_in(match[1])
        elif match := LISTED.match(bare.body):
            ranks.append(int(match[1]))
        else:
            break
    event.about = sorted(set(ranks)) or None
    event.about_in = "group" if event.about else None
    group = str(event.fields.get("group", "")).partition("-")[0]
    for bare in context.preceding(_SIZES):
        if (match := ROW.match(bare.body)) and match[1] == group:
            event.fields["size"] = int(match[5])
            return


def _communicator(event: Event, context: Context, behind_blanks: bool = False) -> None:
    """The heading above says which communicator; it is NCCL's commId."""
    for bare in context.preceding(40):
        if match := HEADING.search(bare.body):
            event.fields["comm_id"] = match[3]
            event.fields["group"] = f"{match[1]}-{match[2]}"
            return
        if not bare.body.strip() and not behind_blanks:
            return
