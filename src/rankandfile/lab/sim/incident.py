"""Lay out an incident's files as a real one would be found."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Mapping
from pathlib import Path

import msgspec

from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_json import write_json
from rankandfile.lab.flight_writer_types import Frame
from rankandfile.lab.sim import ras
from rankandfile.lab.sim.clocktext import node_name, pid
from rankandfile.lab.sim.host import Host, Signature
from rankandfile.lab.sim.layout import Layout
from rankandfile.lab.sim.logs import Lines, rank_log
from rankandfile.lab.sim.machine import SECOND
from rankandfile.lab.sim.machine_logs import kernel_lines, nccl_line, srun_lines
from rankandfile.lab.sim.recorder import dump_at
from rankandfile.lab.sim.scenario import Scenario
from rankandfile.lab.sim.sites import frames_of
from rankandfile.lab.sim.sources import RUN_FROM, write_tree
from rankandfile.lab.sim.torch_versions import RELEASES
from rankandfile.lab.sim.watchdog import Aftermath
from rankandfile.lab.truth import short_ranks

_TRACE_UP_TO = 32  # ranks: beyond that the trace of issued calls is larger than it is worth


def write(
    scenario: Scenario, layout: Layout, hosts: list[Host], end: Aftermath, out: Path
) -> tuple[set[int], list[str], int]:
    """Returns the ranks that have a dump, what was taken away, and the moment of the last dump."""
    evidence = out / "evidence"
    for name in ("dumps", "logs"):
        (evidence / name).mkdir(parents=True)
    lost = sorted(set(scenario.evidence.lost_dumps).intersection(end.dumps))
    removed = [f"dumps of ranks {short_ranks(lost)}"] if lost else []
    dumped = {rank: time for rank, time in end.dumps.items() if rank not in lost}
    _dumps(scenario, layout, hosts, dumped, evidence / "dumps")
    now = max(end.dumps.values(), default=end.ended_at)
    unreachable = {host.rank for host in hosts if host.ending is not None and host.ending.how == "vanished"}
    if scenario.evidence.logs == "none":
        removed.append("logs")
        (evidence / "logs").rmdir()
    else:
        _logs(scenario, layout, hosts, end, now, evidence / "logs")
        lines = srun_lines(end.exits, layout, unreachable) if end.stuck else []
        (evidence / "logs" / "srun.log").write_text("".join(f"{line}\n" for line in lines))
    _kernel(scenario, layout, hosts, evidence / "kernel")
    if scenario.evidence.stacks:
        _stacks(hosts, now, evidence / "stacks")
    if scenario.evidence.ras:
        gone = {h.rank for h in hosts if h.gone_at is not None and h.gone_at < now}
        (evidence / "ras").mkdir()
        (evidence / "ras" / "ncclras.txt").write_text(ras.text(hosts, layout, now - 20 * SECOND, gone))
        (evidence / "ras" / "ncclras.json").write_text(ras.document(hosts, layout, now - 20 * SECOND, gone))
    _exits(end.exits, unreachable, evidence / "exits.json")
    write_tree(out / "src", tuple(fault.place for fault in scenario.faults))
    if layout.world_size <= _TRACE_UP_TO:
        _calls(layout, hosts, out / "calls.jsonl")
    return set(dumped), removed, now


def _dumps(
    scenario: Scenario, layout: Layout, hosts: list[Host], dumped: Mapping[int, int], out: Path
) -> None:
    how = scenario.evidence
    version = RELEASES[how.torch].dumps
    for rank, time in dumped.items():
        dump = dump_at(hosts[rank], layout, scenario.patience, how.recording, time)
        name = how.dump_name.format(rank=rank, node=node_name(layout.node(rank)))
        target = out / (f"{name}.json" if how.json else name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if how.json:
            target.write_bytes(write_json(dump, version))
        else:
            target.write_bytes(write_pickle(dump, version, include_stacks=how.recording.frames))
        # When a dump was written is evidence of its own: how long the calls in it had been waiting by then.
        os.utime(target, ns=(time, time))


def _logs(scenario: Scenario, layout: Layout, hosts: list[Host], end: Aftermath, now: int, out: Path) -> None:
    torch = RELEASES[scenario.evidence.torch]
    library = next((fault for fault in scenario.faults if fault.library), None)
    nodes: dict[int, Lines] = {}
    for host in hosts:
        lines = rank_log(host, layout, scenario.patience, torch, end)
        if library is not None and _warns(library.library, host, library.ranks, layout):
            when = min(now, host.clock) + (32 * SECOND if library.library != "init" else 0)
            peer = library.ranks[0] if library.ranks else 0
            lines = sorted([*lines, (when, nccl_line(library.library, host.rank, peer, layout, when))])
        if scenario.evidence.logs == "per_node":
            tag = f"{host.rank}: "
            nodes.setdefault(layout.node(host.rank), []).extend((time, tag + line) for time, line in lines)
        else:
            (out / f"rank_{host.rank}.log").write_text("".join(f"{line}\n" for _, line in lines))
    for node, lines in nodes.items():
        (out / f"{node_name(node)}.log").write_text("".join(f"{line}\n" for _, line in sorted(lines)))


def _warns(kind: str, host: Host, culprits: tuple[int, ...], layout: Layout) -> bool:
    """Whose NCCL speaks: at start everyone who came; at a broken link its owner; else those on other nodes."""
    if kind == "init":
        return host.rank not in culprits
    if kind == "ib_error":
        return host.rank in culprits
    return host.rank not in culprits and layout.node(host.rank) != layout.node(culprits[0])


def _kernel(scenario: Scenario, layout: Layout, hosts: list[Host], out: Path) -> None:
    for fault in scenario.faults:
        if not fault.kernel:
            continue
        rank = fault.ranks[0]
        host = hosts[rank]
        when = host.gone_at or (host.device_error[0] if host.device_error else host.clock)
        out.mkdir(exist_ok=True)
        lines = kernel_lines(fault.kernel, rank, layout, when - 40_000_000)
        (out / f"{node_name(layout.node(rank))}.log").write_text("".join(f"{line}\n" for line in lines))


def _stacks(hosts: list[Host], now: int, out: Path) -> None:
    """faulthandler's text of the main thread of every process that still exists."""
    out.mkdir()
    for host in hosts:
        if host.gone_at is not None and host.gone_at <= now:
            continue
        where = host.where(now)
        frames = frames_of(where.site if where is not None else "step")
        lines = [f"Current thread 0x{0x7F8A00000000 + host.rank * 4096:016x} (most recent call first):"]
        lines += [f'  File "{frame.filename}", line {frame.line} in {frame.name}' for frame in frames]
        (out / f"faulthandler_rank_{host.rank}.txt").write_text("\n".join(lines) + "\n")


def _exits(exits: dict[int, int], unreachable: set[int], path: Path) -> None:
    """In the form of the lab's real half. Of a machine that is gone nobody knows how its ranks ended."""
    rows = []
    for rank, code in sorted(exits.items()):
        known = rank not in unreachable
        name = signal.Signals(-code).name if code < 0 and known else None
        rows.append(
            {
                "rank": rank, "pid": pid(rank), "state": "exited" if known else "unknown",
                "exitcode": code if known else None, "signal": name,
            }
        )  # fmt: skip
    path.write_text(json.dumps(rows, indent=1) + "\n")


def _calls(layout: Layout, hosts: list[Host], path: Path) -> None:
    """The simulation's own log of what each rank issued, in the form of the lab's real half."""
    encode = msgspec.json.encode
    lines = [
        encode({"kind": "group", "name": g.name, "desc": g.desc, "ranks": g.ranks}) for g in layout.groups
    ]
    told: dict[Signature, tuple[msgspec.Raw, msgspec.Raw]] = {}
    for host in hosts:
        for number, record in enumerate(host.records):
            what = record.what
            if what not in told:
                peer = re.search(r"(?:->|<-)(\d+)", what.op)
                told[what] = (
                    msgspec.Raw(
                        encode(
                            [_relative(f) for f in frames_of(what.site) if f.filename.startswith(RUN_FROM)]
                        )
                    ),
                    msgspec.Raw(encode(int(peer[1]) if peer else None)),
                )
            stack, other = told[what]
            lines.append(
                encode(
                    {
                        "kind": "call", "rank": host.rank, "n": number, "t": record.created / SECOND,
                        "op": what.op.split(" ")[0], "group": layout.groups[what.group].name,
                        "seq": 0 if what.is_p2p else record.collective_seq, "stack": stack, "peer": other,
                    }
                )
            )  # fmt: skip
    path.write_bytes(b"\n".join(lines) + b"\n")


def _relative(frame: Frame) -> tuple[str, int, str]:
    return frame.filename.removeprefix(f"{RUN_FROM}/"), frame.line, frame.name
