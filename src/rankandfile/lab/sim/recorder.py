"""A rank's Flight Recorder at one moment, as its torch would have kept it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rankandfile.lab.flight_writer_types import Dump, Entry, GroupConfig, GroupStatus, Kind
from rankandfile.lab.sim.host import Host, Signature
from rankandfile.lab.sim.layout import Layout
from rankandfile.lab.sim.sites import frames_of, thread_of
from rankandfile.lab.sim.watchdog import Patience, poll_after


@dataclass(frozen=True)
class Recording:
    """How the recorder was set up."""

    ring: int = 2000
    timing: bool = False
    frames: bool = True
    library: str = "2.27.5"


def dump_at(host: Host, layout: Layout, patience: Patience, how: Recording, now: int) -> Dump:
    """Everything issued by then, the last `ring` of it; what is done only as far as the watchdog had looked."""
    own = layout.groups_of(host.rank)
    numbers = {group.index: i for i, group in enumerate(own)}
    kinds: dict[Signature, int] = {}
    entries: list[Entry] = []
    status: dict[int, list[int]] = {}
    issued = [record for record in host.records if record.created <= now]
    for number, record in enumerate(issued):
        node = record.node
        started = completed = duration = None
        retired = False
        if node is not None:
            if node.done is not None and node.done <= now:
                looked = poll_after(host.rank, node.done)
                retired = looked <= now
                completed = min(looked, now)
                if how.timing:
                    started, duration = completed - 310, (node.done - node.ready_at) / 1e6
            elif how.timing and node.ready and node.ready_at <= now:
                started = now
            seq = record.p2p_seq if record.what.is_p2p else record.collective_seq
            _count(status.setdefault(numbers[record.what.group], [-1, -1, -1]), seq, started, retired)
        if number >= len(issued) - how.ring:
            kind = kinds.setdefault(record.what, len(kinds))
            entries.append(
                Entry(
                    kind, number, record.collective_seq, record.p2p_seq, record.op_id, record.created,
                    started, completed, retired, duration if retired else None,
                )
            )  # fmt: skip
    kind_of = _kinds(host.rank, layout, patience, how.frames, numbers)
    return Dump(
        kinds=[kind_of(what) for what in kinds],
        entries=entries,
        pg_config={group.name: GroupConfig(group.name, group.desc, group.ranks) for group in own},
        pg_status={str(number): GroupStatus(*values) for number, values in sorted(status.items())},
        comm_lib_version=how.library,
    )


def _count(status: list[int], seq: int, started: int | None, retired: bool) -> None:
    status[0] = max(status[0], seq)
    if started is not None:
        status[1] = max(status[1], seq)
    if retired:
        status[2] = max(status[2], seq)


def _kinds(
    rank: int, layout: Layout, patience: Patience, frames: bool, numbers: dict[int, int]
) -> Callable[[Signature], Kind]:
    def kind(what: Signature) -> Kind:
        group = layout.groups[what.group]
        return Kind(
            pg_id=numbers[what.group],
            group=group.name,
            desc=group.desc,
            op=f"nccl:{what.op}",
            input_sizes=what.inputs,
            input_dtypes=(what.dtype,) * len(what.inputs),
            output_sizes=what.outputs,
            output_dtypes=(what.dtype,) * len(what.outputs),
            timeout_ms=patience.timeout_ms,
            is_p2p=what.is_p2p,
            frames=frames_of(what.site) if frames else (),
            thread_name=thread_of(what.site),
            thread_id=str(140_231_845_000_000 + rank * 4096 + (thread_of(what.site) != "pt_main_thread")),
        )

    return kind
