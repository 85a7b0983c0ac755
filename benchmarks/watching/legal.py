"""What ranks may legally do differently, over and over: `legal.py all SECONDS`, or one of the functions by its name."""

import os
import sys
import threading
import time

import torch
import torch.distributed as dist

what, seconds = sys.argv[1], float(sys.argv[2])
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
halves = [dist.new_group([one for one in range(size) if one % 2 == side]) for side in range(2)]
alone = [dist.new_group([one]) for one in range(size)]


def reduce_mean(value):
    dist.all_reduce(value)
    return value / size


def in_turn(step):
    """Each rank has its turn, on a line of its own."""
    for owner in range(size):
        if owner == rank:
            dist.all_reduce(torch.full((3,), float(step)))
        else:
            dist.all_reduce(torch.zeros(3))


def log_on_main(value):
    return reduce_mean(value)


def main_logs(step):
    value = torch.full((1,), float(step))
    reduce_mean(value)
    if rank == 0:
        log_on_main(value)
    else:
        reduce_mean(value)
    reduce_mean(value)


def roots(step):
    for root in range(size):
        if rank == root:
            dist.broadcast(torch.full((5,), float(step)), root)
        else:
            dist.broadcast(torch.empty(5), root)


def uneven(step):
    own = torch.ones(step % 3 + rank + 1)
    counts = [torch.zeros(1, dtype=torch.long) for _ in range(size)]
    dist.all_gather(counts, torch.tensor([own.numel()]))
    most = max(int(count) for count in counts)
    padded = torch.zeros(most)
    padded[: own.numel()] = own
    dist.all_gather([torch.zeros(most) for _ in range(size)], padded)
    dist.all_gather_object([None] * size, {"words": "x" * (10 * rank + 1)})
    dist.gather(torch.ones(2), [torch.zeros(2) for _ in range(size)] if rank == 0 else None, dst=0)
    dist.scatter(torch.zeros(2), [torch.ones(2)] * size if rank == 0 else None, src=0)


def pipeline(step):
    value = torch.full((4,), float(step))
    if rank > 0:
        dist.recv(value, rank - 1)
    if rank < size - 1:
        dist.send(value, rank + 1)
    dist.all_reduce(value)


def subgroups(step):
    for _ in range(3 + 4 * (rank % 2)):
        dist.all_reduce(torch.ones(2 + rank % 2), group=halves[rank % 2])
    for _ in range(5 * (rank == 1) + step % 2):
        dist.all_reduce(torch.ones(9), group=alone[rank])
    dist.all_reduce(torch.ones(1))


def main_evaluates(step):
    dist.barrier()
    if rank == 0:
        time.sleep(6 if step % 40 == 20 else 0.01)
    dist.barrier()
    reduce_mean(torch.ones(2))


def two_threads(step):
    """One group each: what the threads call comes in any order."""
    group, value = halves[rank % 2], torch.full((7,), float(step))
    thread = threading.Thread(target=lambda: dist.all_reduce(value, group=group))
    thread.start()
    dist.all_reduce(torch.ones(1))
    thread.join()


def asynchronous(step):
    """Two groups in another order on each half, and waited for much later."""
    small, large = torch.ones(2), torch.ones(3)
    calls = [(small, halves[rank % 2]), (large, None)]
    works = [
        dist.all_reduce(value, group=group, async_op=True) for value, group in calls[:: 1 if rank % 2 else -1]
    ]
    if step % 30 == 15:
        time.sleep(2.5 * (rank + 1) / size)
    for work in works:
        work.wait()


def exchanged(step):
    own = [(rank + other + step) % 3 + 1 for other in range(size)]
    theirs = [(other + rank + step) % 3 + 1 for other in range(size)]
    dist.all_to_all_single(torch.empty(sum(theirs)), torch.ones(sum(own)), theirs, own)


def main_first(step):
    if step % 10 == 0:
        if rank != 0:
            dist.barrier()
        else:
            time.sleep(0.2)
            dist.barrier()
    reduce_mean(torch.ones(2))


def objects(step):
    dist.broadcast_object_list([{"step": step}] if rank == 0 else [None], 0)
    reduce_mean(torch.ones(2))


def lines_swapped(_step):
    """The same two calls, on two lines that the main rank has the other way round."""
    value = torch.ones(2)
    if rank == 0:
        dist.all_reduce(value)
        reduce_mean(value)
    else:
        reduce_mean(value)
        dist.all_reduce(value)


def made_anew(step):
    """Alone only: the job's groups do not outlive it."""
    dist.all_reduce(torch.ones(1))
    if step % 20 == 19:
        dist.destroy_process_group()
        port = int(os.environ["MASTER_PORT"]) + 1 + step
        dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=size)


ALL = (
    in_turn, main_logs, roots, uneven, pipeline, subgroups, main_evaluates, two_threads, asynchronous, exchanged,
    main_first, objects, lines_swapped,
)  # fmt: skip
end, step = time.time() + seconds, 0
while True:
    for part in ALL if what == "all" else (globals()[what],):
        part(step)
    time.sleep(0.02)
    step += 1
    over = torch.tensor([float(time.time() > end)])
    dist.all_reduce(over, dist.ReduceOp.MAX)
    if over.item():
        break
dist.destroy_process_group()
