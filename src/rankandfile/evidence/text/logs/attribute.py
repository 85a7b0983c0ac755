"""What one line of a process says of another.

The group of a timeout stands in the line below it, the operation of that line in the one above.
"""

from __future__ import annotations

from collections.abc import Hashable

from rankandfile.evidence.text.logs.event import Event

#: Events of one process between a timeout and the line that names its group.
_NEAR = 12


def attribute(events: list[Event]) -> None:
    """Give each timeout the group of its progress line, and each progress line and stack the operation."""
    timeouts: dict[Hashable, list[Event]] = {}
    progress: dict[Hashable, Event] = {}
    for event in events:
        writer = event.writer
        if event.kind == "watchdog_timeout":
            open_ones = timeouts.setdefault(writer, [])
            open_ones.append(event)
            del open_ones[:-_NEAR]
        elif event.kind == "watchdog_progress":
            progress[writer] = event
            for timeout in timeouts.get(writer, ()):
                if timeout.seq == event.seq and (timeout.pg_id is None or timeout.pg_id == event.pg_id):
                    _name_group(timeout, event)
                    event.op = event.op or timeout.op
        elif event.kind in ("failed_stack", "failed_stack_missing") and writer in progress:
            line = progress[writer]
            _name_group(event, line)
            event.seq, event.op = line.seq, line.op
        elif event.kind in ("failed_stack", "failed_stack_missing") and timeouts.get(writer):
            event.seq, event.op = timeouts[writer][-1].seq, timeouts[writer][-1].op


def _name_group(event: Event, line: Event) -> None:
    if event.pg_id is not None or event.group_name is not None:
        return
    event.pg_id, event.group_name = line.pg_id, line.group_name
    event.group_desc, event.group_rank = line.group_desc, line.group_rank
    event.fields["group_line"] = line.line
