"""Small real jobs with torch and gloo, healthy and hung, whose ranks dump what their recorders hold.

Run as ``python torch_jobs.py FOLDER SCENARIO...``: imports torch once, then forks four ranks for each scenario.
Every rank leaves ``FOLDER/SCENARIO/nccl_trace_rank_R`` and ``...rank_R.json`` in ``json/``, unless the scenario
ends it before it can. No process outlives this one.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
import torch.distributed.fsdp  # not in each rank: others, too, load much of it when they first need it
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel

WORLD = 4
#: How long a rank may be stuck before it dumps: the others need no more than a fraction of it.
PATIENCE = 3.0
TOGETHER = 4
LONGEST = 300.0

ones = torch.ones


def sleep_for_ever() -> None:
    while True:
        time.sleep(1)


def warm_up(rank: int) -> None:
    for n in range(3):
        dist.all_reduce(ones(8 + n))


def ok_everything(rank: int) -> None:
    """Each collective once, with its odd sizes: empty lists, scalars, sizes that only the root has."""
    mine = ones(4, 3) * rank
    dist.all_reduce(mine)
    dist.all_reduce(torch.tensor(2.0), op=dist.ReduceOp.MAX)
    dist.all_reduce(ones(3, dtype=torch.bfloat16))
    dist.broadcast(ones(5, dtype=torch.int64), src=1)
    dist.reduce(ones(2, 2), dst=2)
    dist.all_gather([ones(3) for _ in range(WORLD)], ones(3))
    dist.all_gather_into_tensor(ones(WORLD * 4), ones(4))
    dist.gather(ones(4), [ones(4) for _ in range(WORLD)] if rank == 0 else None, dst=0)
    dist.scatter(ones(4), [ones(4) for _ in range(WORLD)] if rank == 3 else None, src=3)
    dist.reduce_scatter_tensor(ones(2), ones(WORLD * 2))
    dist.reduce_scatter(ones(2), [ones(2) for _ in range(WORLD)])
    dist.all_to_all_single(ones(WORLD), ones(WORLD))
    sizes = [1, 2, 3, 4]
    dist.all_to_all_single(ones(sizes[rank] * WORLD), ones(sum(sizes)), [sizes[rank]] * WORLD, sizes)
    dist.all_reduce(ones(7), async_op=True).wait()
    dist.barrier()


def ok_objects(rank: int) -> None:
    found: list[object] = [None] * WORLD
    dist.all_gather_object(found, {"rank": rank, "text": "ä" * rank})
    dist.broadcast_object_list([rank, "x"], src=2)
    dist.gather_object(rank, found if rank == 1 else None, dst=1)
    dist.scatter_object_list([None], [1, 2, 3, 4] if rank == 0 else None, src=0)
    if rank == 0:
        dist.send_object_list(["hello"], dst=3)
    if rank == 3:
        dist.recv_object_list([None], src=0)
    dist.barrier()


def ok_groups(rank: int) -> None:
    """Groups by every way: by number, by members, by local agreement, with descriptions that are not ASCII."""
    halves = [dist.new_group([0, 1], group_desc="first half ½"), dist.new_group([2, 3])]
    local = dist.new_group([0, 2] if rank % 2 == 0 else [1, 3], use_local_synchronization=True)
    pairs, _ = dist.new_subgroups(2)
    for group in (halves[rank // 2], local, pairs):
        dist.all_reduce(ones(2), group=group)
    dist.barrier()


def ok_mesh(rank: int) -> None:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    for _ in range(3):
        dist.all_reduce(ones(16), group=mesh.get_group("tp"))
        dist.all_reduce(ones(4), group=mesh.get_group("dp"))
    dist.all_reduce(ones(1))


def ok_functional(rank: int) -> None:
    group = dist.group.WORLD
    funcol.all_reduce(ones(3), "sum", group).sum().item()
    funcol.all_gather_tensor(ones(2, 2), 0, group).sum().item()
    funcol.reduce_scatter_tensor(ones(8), "sum", 0, group).sum().item()
    dist.barrier()


def ok_coalesced(rank: int) -> None:
    with dist._coalescing_manager():
        dist.all_reduce(ones(3))
        dist.all_reduce(ones(5, 2))
    with dist._coalescing_manager():
        for n in (1, 2):
            dist.all_gather_into_tensor(ones(WORLD * n), ones(n))
    dist.barrier()


def ok_monitored_barrier(rank: int) -> None:
    dist.all_reduce(ones(1))
    dist.monitored_barrier()
    dist.all_reduce(ones(1))


def model() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))


def ok_ddp(rank: int) -> None:
    wrapped = DistributedDataParallel(model())
    for _ in range(3):
        wrapped(ones(2, 8)).sum().backward()


def ok_fsdp2(rank: int) -> None:
    mesh = init_device_mesh("cpu", (WORLD,), mesh_dim_names=("dp",))
    sharded = torch.distributed.fsdp.fully_shard(model(), mesh=mesh)
    for _ in range(2):
        sharded(ones(2, 8)).sum().backward()


def fsdp2_hang(rank: int) -> None:
    mesh = init_device_mesh("cpu", (WORLD,), mesh_dim_names=("dp",))
    sharded = torch.distributed.fsdp.fully_shard(model(), mesh=mesh)
    for step in range(3):
        if step == 1 and rank == 1:
            sleep_for_ever()
        sharded(ones(2, 8)).sum().backward()


def hung_rank(rank: int) -> None:
    warm_up(rank)
    if rank == 2:
        sleep_for_ever()
    dist.all_reduce(ones(4))


def early_return(rank: int) -> None:
    warm_up(rank)
    if rank == 3:
        return
    dist.barrier()


def early_exit_process(rank: int) -> None:
    warm_up(rank)
    if rank == 3:
        time.sleep(0.2)
        os._exit(0)
    dist.all_reduce(ones(4))


def mismatched_op(rank: int) -> None:
    warm_up(rank)
    if rank == 1:
        dist.broadcast(ones(4), src=1)
    else:
        dist.all_reduce(ones(4))
    dist.barrier()


def swapped_ops(rank: int) -> None:
    warm_up(rank)
    ops: list[Callable[[], object]] = [
        lambda: dist.all_reduce(ones(4)),
        lambda: dist.broadcast(ones(4), src=0),
    ]
    for op in reversed(ops) if rank == 1 else ops:
        op()


def swapped_groups(rank: int) -> None:
    first, second = dist.new_group([0, 1, 2, 3]), dist.new_group([0, 1, 2, 3])
    for group in (second, first) if rank == 0 else (first, second):
        dist.all_reduce(ones(4), group=group)


def ddp_unused(rank: int) -> None:
    wrapped = DistributedDataParallel(model())
    for step in range(4):
        if rank == 0 and step == 2:
            continue
        wrapped(ones(2, 8)).sum().backward()
    dist.barrier()


def missing_sub_member(rank: int) -> None:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    for step in range(6):
        if not (rank == 1 and step == 4):
            dist.all_reduce(ones(16), group=mesh.get_group("tp"))
    dist.all_reduce(ones(4), group=mesh.get_group("dp"))
    dist.all_reduce(ones(1))


def p2p_deadlock(rank: int) -> None:
    warm_up(rank)
    if rank < 2:
        dist.recv(ones(4), src=1 - rank)
    dist.barrier()


def batch_p2p_missing(rank: int) -> None:
    warm_up(rank)
    right, left = (rank + 1) % WORLD, (rank - 1) % WORLD
    batch = [dist.P2POp(dist.irecv, ones(4), left)]
    if rank != 2:
        batch.append(dist.P2POp(dist.isend, ones(4), right))
    for work in dist.batch_isend_irecv(batch):
        work.wait()
    dist.barrier()


def wraparound(rank: int) -> None:
    for step in range(60):
        if rank == 2 and step == 50:
            sleep_for_ever()
        dist.all_reduce(ones(1 + step % 3))


def mismatched_shape(rank: int) -> None:
    warm_up(rank)
    dist.all_reduce(ones(2500 if rank == 3 else 2000))


def mismatched_dtype(rank: int) -> None:
    warm_up(rank)
    dist.all_reduce(ones(2000, dtype=torch.float64 if rank == 3 else torch.float32))


def a2a_split_mismatch(rank: int) -> None:
    warm_up(rank)
    mine = [1, 1, 1, 2 if rank == 2 else 1]
    dist.all_to_all_single(ones(WORLD), ones(sum(mine)), [1] * WORLD, mine)


def two_threads(rank: int) -> None:
    """Calls from a named thread besides the main one, on a group of its own."""
    side = dist.new_group(list(range(WORLD)), group_desc="side")

    def work() -> None:
        for _ in range(5):
            dist.all_reduce(ones(2), group=side)

    thread = threading.Thread(target=work, name="prefetch")
    thread.start()
    for _ in range(5):
        dist.all_reduce(ones(3))
    thread.join()


SCENARIOS: dict[str, Callable[[int], None]] = {
    scenario.__name__: scenario
    for scenario in (
        ok_everything,
        ok_objects,
        ok_groups,
        ok_mesh,
        ok_functional,
        ok_coalesced,
        ok_monitored_barrier,
        ok_ddp,
        ok_fsdp2,
        fsdp2_hang,
        hung_rank,
        early_return,
        early_exit_process,
        mismatched_op,
        swapped_ops,
        swapped_groups,
        ddp_unused,
        missing_sub_member,
        p2p_deadlock,
        batch_p2p_missing,
        wraparound,
        mismatched_shape,
        mismatched_dtype,
        a2a_split_mismatch,
        two_threads,
    )
}


def dump(folder: Path, rank: int) -> None:
    recorder = torch._C._distributed_c10d
    # JSON first, in a folder of its own; the pickle takes a second the first time. Files appear whole.
    for path, data in (
        (folder / "json" / f"nccl_trace_rank_{rank}.json", recorder._dump_fr_trace_json()),
        (folder / f"nccl_trace_rank_{rank}", recorder._dump_fr_trace()),
    ):
        path.parent.mkdir(exist_ok=True)
        part = path.with_name(f".{path.name}")
        part.write_bytes(data)
        part.rename(path)


def rank_main(name: str, rank: int, folder: Path) -> None:
    torch.set_num_threads(1)
    if name == "wraparound":
        os.environ["TORCH_FR_BUFFER_SIZE"] = "16"
    dumped = threading.Lock()

    def finish() -> None:
        with dumped:
            dump(folder, rank)
            # Whoever leaves first breaks the others' connections, and their calls would end before their dump.
            for _ in range(200):
                if len(list(folder.glob("nccl_trace_rank_*"))) == WORLD:
                    break
                time.sleep(0.01)
            os._exit(0)

    def when_stuck() -> None:
        time.sleep(PATIENCE)
        finish()

    store = f"file://{folder}/store"
    dist.init_process_group(
        "gloo", init_method=store, rank=rank, world_size=WORLD, timeout=timedelta(seconds=60)
    )
    if not name.startswith("ok_"):
        threading.Thread(target=when_stuck, daemon=True).start()
    try:
        SCENARIOS[name](rank)
    except Exception:
        (folder / f"rank_{rank}.log").write_text(traceback.format_exc())
    if name.startswith("ok_"):
        dist.barrier()
        finish()
    sleep_for_ever()


def start(name: str, folder: Path) -> list[int]:
    folder.mkdir(parents=True)
    pids = []
    for rank in range(WORLD):
        pid = os.fork()
        if pid == 0:
            try:
                os.dup2(os.open(folder / f"rank_{rank}.err", os.O_WRONLY | os.O_CREAT), 2)
                rank_main(name, rank, folder)
            finally:
                os._exit(1)
        pids.append(pid)
    return pids


def main(folder: Path, names: list[str]) -> None:
    waiting = list(names)
    running: dict[int, float] = {}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        while waiting or running:
            while waiting and len(running) <= WORLD * (TOGETHER - 1):
                name = waiting.pop(0)
                running |= dict.fromkeys(start(name, folder / name), time.monotonic() + LONGEST)
            for pid, deadline in list(running.items()):
                if os.waitpid(pid, os.WNOHANG)[0]:
                    del running[pid]
                elif time.monotonic() > deadline:
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
    finally:
        for pid in running:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or list(SCENARIOS))
