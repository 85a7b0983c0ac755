"""What is not printed by torch: the kernel, NCCL's own warnings, the scheduler."""

from __future__ import annotations

from rankandfile.lab.sim.clocktext import address, node_name, pid, since_boot, stamp
from rankandfile.lab.sim.layout import Layout

_KERNEL = {
    "oom": (
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=pod{node},mems_allowed=0-1,"
        "oom_memcg=/kubepods/pod{node},task_memcg=/kubepods/pod{node}/c1,task=python3,pid={pid},uid=1000",
        "Memory cgroup out of memory: Killed process {pid} (python3) total-vm:91234567kB, anon-rss:60123456kB, "
        "file-rss:0kB, shmem-rss:1024kB, UID:1000 pgtables:120000kB oom_score_adj:0",
    ),
    "xid_79": ("NVRM: Xid (PCI:0000:{bus}:00): 79, pid={pid}, name=python3, GPU has fallen off the bus.",),
    "xid_31": (
        "NVRM: Xid (PCI:0000:{bus}:00): 31, pid={pid}, name=python3, Ch 00000008, intr 00000000. MMU Fault: ENGINE "
        "GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f3a_c2000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
    ),
    "link_down": ("mlx5_core 0000:{bus}:00.0 mlx5_{local}: Link down",),
}
_NCCL = {
    "ib_error": "NCCL WARN NET/IB : mlx5_{local}:1 Got async event : port error",
    "ib_timeout": (
        "NCCL WARN NET/IB : Got completion from peer {peer}<41872> with status=12 opcode=0 len=0 vendor err 129 (Recv) "
        "localGid ::ffff:{here} remoteGids::ffff:{peer}"
    ),
    "init": (
        "NCCL INFO ncclCommInitRankConfig comm 0x5581{rank:04x} rank {rank} nranks {world} cudaDev {local} "
        "nvmlDev {local} busId {bus}000 commId 0x8f31c2a70b11d0e4 - Init START"
    ),
}


def bus(rank: int, layout: Layout) -> str:
    return f"{0x1B + 0x10 * (rank % layout.gpus_per_node):02x}"


def kernel_lines(kind: str, rank: int, layout: Layout, time: int) -> list[str]:
    local = rank % layout.gpus_per_node
    values = {"pid": pid(rank), "bus": bus(rank, layout), "local": local, "node": layout.node(rank)}
    return [
        f"{since_boot(time + i * 90_000)} {line.format(**values)}" for i, line in enumerate(_KERNEL[kind])
    ]


def nccl_line(kind: str, rank: int, peer: int, layout: Layout, time: int) -> str:
    """One line as NCCL puts it before the rest of a rank's output."""
    local = rank % layout.gpus_per_node
    text = _NCCL[kind].format(
        local=local, peer=address(layout.node(peer)), here=address(layout.node(rank)), rank=rank,
        world=layout.world_size, bus=bus(rank, layout),
    )  # fmt: skip
    return f"[{stamp(time)}] {node_name(layout.node(rank))}:{pid(rank)}:{pid(rank) + 400} [{local}] {text}"


_NAMES = {
    -6: "Aborted (core dumped)",
    -9: "Killed",
    -15: "Terminated",
    -11: "Segmentation fault (core dumped)",
}


def srun_lines(exits: dict[int, int], layout: Layout, unreachable: set[int]) -> list[str]:
    """The scheduler's view, in the order in which it heard of the ends: the odd ones first."""
    lines = [
        f"srun: error: Node failure on {node_name(node)}"
        for node in sorted({layout.node(r) for r in unreachable})
    ]
    odd = [rank for rank, code in exits.items() if code not in (0, -6, -15)]
    for rank in [*odd, *(r for r in exits if r not in odd)]:
        code = exits[rank]
        if rank in unreachable or code == 0:
            continue
        what = _NAMES.get(code, f"Exited with exit code {code}")
        lines.append(f"srun: error: {node_name(layout.node(rank))}: task {rank}: {what}")
    return lines
