"""The debug server's aggregated text (``fr_trace_*.txt``, ``torchcomms_fr_trace_*.txt``), as one dump per rank.

The server matches the ranks' calls itself and prints the result: a table of collectives, and one of the calls
that went into each. A call's row has no sequence number; it is found by following both tables in their order.
What the server prints of a call is what the *first* rank of its collective asked for; only what other ranks
asked for instead is printed beside it. So sizes that may legally differ between ranks are not taken over.
Times, dtypes, stacks and the ranks' own record numbers are not in it. The server leaves out what lies before the
latest beginning of all rings, so a rank's calls are numbered from the lowest record that is printed.
"""

from __future__ import annotations

import re
from typing import Any

from rankandfile.evidence.flight.plain_table import rows
from rankandfile.evidence.flight.table_calls import link
from rankandfile.evidence.flight.table_rows import (
    Called,
    Collective,
    Grouping,
    called,
    collectives,
    groupings,
)
from rankandfile.evidence.raw import RawNote

_SECTION = re.compile(r"^=== (.*?) ===$")
_TABLE = re.compile(r"^--- (.*?) ---$")
_PARTIAL = re.compile(r"^PARTIAL DATA: ([0-9]+)/([0-9]+) workers responded$")
_FAILED = re.compile(r"^  Rank ([0-9]{1,7}): (.*)$")

_LAST = "NCCL Calls"
"""The table that ends a section. A row of it that is cut off cannot pass for a whole one."""

_NOTES = 20
"""Failed workers that are named one by one."""

#: Ops in which ranks may have different sizes: those of one rank say nothing of another's.
_UNEVEN = re.compile(r":(all_to_all|scatter|gather|send|recv|coalesced)")


def decode(text: str) -> tuple[list[tuple[int | None, dict[str, Any]]], list[RawNote]]:
    """A dump per rank and recorder, in the shape of the recorder's own JSON, and notes on what is missing."""
    notes: list[RawNote] = []
    dumps: list[tuple[int | None, dict[str, Any]]] = []
    failed = _failed(text, notes)
    for section, tables in _sections(text):
        if not tables:
            notes.append(RawNote(section, "the debug server had no trace for this part"))
            continue
        dumps += _section(section, tables, failed, notes)
    if not dumps and not notes:
        notes.append(RawNote("", "no table of groups or calls in it"))
    return dumps, notes


def _failed(text: str, notes: list[RawNote]) -> set[int] | None:
    """Ranks that did not answer the server; None if it says nothing of any."""
    failed: set[int] = set()
    partial = False
    for number, line in enumerate(text.split("\n"), 1):
        if match := _PARTIAL.match(line):
            partial = True
            notes.append(RawNote(f"line {number}", f"only {match[1][:9]} of {match[2][:9]} ranks answered"))
        elif _SECTION.match(line):
            break
        elif partial and (match := _FAILED.match(line)):
            failed.add(int(match[1]))
            if len(failed) <= _NOTES:
                notes.append(RawNote(f"line {number}", f"rank {match[1]} did not answer: {match[2][:200]}"))
    if len(failed) > _NOTES:
        notes.append(RawNote("", f"{len(failed) - _NOTES} more ranks did not answer"))
    return failed if partial else None


def _sections(text: str) -> list[tuple[str, dict[str, list[str]]]]:
    """The lines of each table, by section and title."""
    sections: list[tuple[str, dict[str, list[str]]]] = []
    lines: list[str] = []
    for line in text.split("\n"):
        line = line.rstrip("\r")
        if match := _SECTION.match(line):
            sections.append((match[1][:80], {}))
            lines = []
        elif match := _TABLE.match(line):
            if not sections:
                sections.append(("FR Trace", {}))
            lines = sections[-1][1].setdefault(match[1][:80], [])
        elif line.strip():
            lines.append(line)
    if lines and not text.endswith("\n") and sections and _LAST not in sections[-1][1]:
        lines.pop()  # cut off within the line: what is left of it may read as something else
    return sections


def _section(
    section: str, tables: dict[str, list[str]], failed: set[int] | None, notes: list[RawNote]
) -> list[tuple[int | None, dict[str, Any]]]:
    parsed = {title: rows(lines) for title, lines in tables.items()}
    found, bad_collectives = collectives(parsed.get("Collectives", []))
    calls, bad_calls = called(parsed.get(_LAST, []))
    for title, bad in (("Collectives", bad_collectives), (_LAST, bad_calls)):
        if bad:
            notes.append(RawNote(f"{section}, {title}", f"rows that are damaged or cut off, left out: {bad}"))
        if title not in tables:
            notes.append(RawNote(f"{section}, {title}", "the table is missing: the file is cut off"))
    groups = groupings(parsed.get("Groups", []), parsed.get("Memberships", []), found)
    linked = link(found, calls, complete=failed is None)
    if linked.filled:
        notes.append(RawNote(section, f"{linked.filled} calls are taken from the table of collectives alone"))
    if linked.doubtful:
        notes.append(
            RawNote(section, f"{linked.doubtful} calls are printed under another rank's name; left out")
        )
    configs = _configs(groups)
    entries: dict[int, list[dict[str, Any]]] = {rank: [] for rank in configs if rank not in (failed or ())}
    unplaced = 0
    for call in linked.calls:
        if call.collective is None:
            unplaced += 1
        else:
            entries.setdefault(call.rank, []).append(_entry(call, call.collective))
    if unplaced:
        what = f"{unplaced} calls belong to no row of the collectives, so that their numbers are unknown; left out"
        notes.append(RawNote(section, what))
    first_record = max(0, min((collective.record for collective in found), default=0))
    for own in entries.values():
        for number, entry in enumerate(own, first_record):
            entry["record_id"] = number
        _retire(own)
    return [
        (rank, {"rank": rank, "pg_config": configs.get(rank, {}), "entries": own})
        for rank, own in sorted(entries.items())
    ]


def _configs(groups: list[Grouping]) -> dict[int, dict[str, Any]]:
    """Each rank's own groups, as its own dump would list them."""
    configs: dict[int, dict[str, Any]] = {}
    for group in groups:
        config = {"name": group.name, "desc": group.desc, "ranks": group.members}
        for rank in group.members:
            configs.setdefault(rank, {})[group.name] = config
    return configs


def _entry(call: Called, collective: Collective) -> dict[str, Any]:
    """The call as the recorder's JSON has it. Where the table has several ranks' values, this rank's own."""
    own = collective.others.get(call.rank, collective)
    alike = own is not collective or not _UNEVEN.search(own.name)
    return {
        "process_group": [own.group, own.desc],
        "profiling_name": own.name,
        "collective_seq_id": own.seq,
        "p2p_seq_id": own.p2p_seq,
        "input_sizes": own.input_sizes if alike else [],
        "output_sizes": own.output_sizes if alike else [],
        "state": own.state,
        "time_created_ns": 0,
        "retired": False,
    }


def _retire(entries: list[dict[str, Any]]) -> None:
    """gloo's calls stay ``scheduled``, and the table leaves out whether they ended.

    A rank that went on to the next call of the group had most likely ended the one before; without that, the
    first call of the job would look as if the job hung there.
    """
    latest: dict[str, int] = {}
    for entry in entries:
        group = entry["process_group"][0]
        latest[group] = max(latest.get(group, -1), entry["collective_seq_id"])
    for entry in entries:
        if entry["profiling_name"].startswith("gloo:"):
            entry["retired"] = entry["collective_seq_id"] < latest[entry["process_group"][0]]
