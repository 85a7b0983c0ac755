"""What NCCL's RAS service answered shortly before the end: counts of launches, per communicator.

It counts what the hosts have launched, not what the devices have done, and no sends; so a job whose ranks have all
joined is "OK" to it while it hangs.
"""

from __future__ import annotations

import json
from collections import Counter

from rankandfile.lab.sim.clocktext import address, pid
from rankandfile.lab.sim.host import Host
from rankandfile.lab.sim.layout import Group, Layout

_OPS = {
    "all_reduce": "AllReduce", "all_reduce_barrier": "AllReduce", "broadcast": "Broadcast",
    "_all_gather_base": "AllGather", "all_gather": "AllGather", "_reduce_scatter_base": "ReduceScatter",
    "reduce": "Reduce",
}  # fmt: skip


def _counts(hosts: list[Host], now: int) -> dict[int, dict[int, Counter[str]]]:
    """Group -> rank -> launches by operation."""
    out: dict[int, dict[int, Counter[str]]] = {}
    for host in hosts:
        for record in host.records:
            name = _OPS.get(record.what.op)
            if name and record.created <= now:
                out.setdefault(record.what.group, {}).setdefault(host.rank, Counter())[name] += 1
    return {index: out[index] for index in sorted(out)}


def _commid(group: Group) -> str:
    return f"{0x5C1E77AA02B9D314 ^ (group.index * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF:016x}"


def text(hosts: list[Host], layout: Layout, now: int, gone: set[int]) -> str:
    counts = _counts(hosts, now)
    world = layout.world_size
    nodes = len({layout.node(rank) for rank in range(world)})
    out = [
        "NCCL version 2.27.5 compiled with CUDA 12.9", "CUDA runtime version 12090, driver version 12090", "",
        "Job summary", "===========", "",
        "  Nodes  Processes         GPUs  Processes     GPUs",
        "(total)   per node  per process    (total)  (total)",
        f"{nodes:7d} {min(layout.gpus_per_node, world):10d} {1:12d} {world:10d} {world:8d}",
        "", f"Communicators... (0.{now % 100:02d}s)", "=============", "",
        "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors",
        "    #  in group  per comm  per node  per comm  in group",
    ]  # fmt: skip
    warnings: list[str] = []
    for number, (index, ranks) in enumerate(counts.items()):
        group = layout.groups[index]
        lines = _mismatch(group, ranks, layout)
        lost = sorted(gone.intersection(group.ranks))
        state = "INCOMPLETE" if lost else "MISMATCH" if lines else "OK"
        span = len({layout.node(rank) for rank in group.ranks})
        out.append(
            f"{number:5d} {1:9d} {span:9d} {group.size // span:9d} {group.size:9d} {group.size:9d}   RUNNING  {state}"
        )
        if lost:
            out_of = "\n".join(
                f"  Process {pid(r)} on node {address(layout.node(r))} managing GPU {_gpu(r, layout)}"
                for r in lost
            )
            warnings.append(
                f"#{number}-0 ({_commid(group)}) INCOMPLETE\n  Missing communicator data from {len(lost)} job process"
                f"{'es' if len(lost) > 1 else ''}\n{out_of}\n"
            )
        elif lines:
            warnings.append("\n".join([f"#{number}-0 ({_commid(group)}) MISMATCH", *lines, ""]))
    return "\n".join([*out, "", "Errors", "======", "", "Warnings", "========", "", *warnings]) + "\n"


def _mismatch(group: Group, ranks: dict[int, Counter[str]], layout: Layout) -> list[str]:
    lines = []
    for name in sorted({name for counter in ranks.values() for name in counter}):
        values = {rank: ranks.get(rank, Counter())[name] for rank in group.ranks}
        common = Counter(values.values()).most_common()
        if len(common) == 1:
            continue
        lines.append(f"  Communicator ranks have different {name} operation counts")
        for value, how_many in common:
            launched = f"launched up to operation {value}" if value else "not launched any operations"
            if how_many > 1:
                lines.append(f"  {how_many} ranks have {launched}")
            if how_many > 1 and (how_many > group.size // 4 or how_many > 10):
                continue
            for rank in (r for r, v in values.items() if v == value):
                alone = f" has {launched}" if how_many == 1 else ""
                lines.append(
                    f"  Rank {layout.inside(group, rank)}{alone} -- GPU {_gpu(rank, layout)} managed by process "
                    f"{pid(rank)} on node {address(layout.node(rank))}"
                )
    return lines


def _gpu(rank: int, layout: Layout) -> int:
    return rank % layout.gpus_per_node


def document(hosts: list[Host], layout: Layout, now: int, gone: set[int]) -> str:
    """The JSON form of NCCL 2.28.7 and later."""
    status = {
        "init_state": 0,
        "async_error": 0,
        "finalize_called": False,
        "destroy_flag": False,
        "abort_flag": False,
    }
    communicators = []
    for index, ranks in _counts(hosts, now).items():
        group = layout.groups[index]
        present, missing = [], []
        for inside, rank in enumerate(group.ranks):
            who = {
                "rank": inside, "host": address(layout.node(rank)), "pid": pid(rank),
                "cuda_dev": _gpu(rank, layout), "nvml_dev": _gpu(rank, layout),
            }  # fmt: skip
            if rank in gone:
                missing.append({**who, "status": {"unresponsive": True, "considered_dead": True}})
            else:
                present.append(
                    {**who, "status": status, "collective_counts": dict(ranks.get(rank, Counter()))}
                )
        communicators.append(
            {
                "hash": _commid(group), "size": group.size, "ranks_count": len(present),
                "missing_ranks_count": len(missing), "ranks": present, "missing_ranks": missing,
            }
        )  # fmt: skip
    return json.dumps({"nccl_version": "2.28.7", "communicators": communicators}, indent=1) + "\n"
