"""What ranks that hand each other tensors may legally do, over and over: `passing_legal.py all SECONDS`, or one of the
functions by its name. Four ranks."""

import sys
import threading
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe

what, seconds = sys.argv[1], float(sys.argv[2])
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
before, after = (rank - 1) % size, (rank + 1) % size
turned = dist.new_group(list(reversed(range(size))), sort_ranks=False)
others = dist.new_group(list(range(size)))
stage = PipelineStage(nn.Linear(8, 8), rank, size, torch.device("cpu"))
schedules = [kind(stage, 4, loss_fn=nn.functional.mse_loss) for kind in (ScheduleGPipe, Schedule1F1B)]


def now_and_then(step, seconds, phase):
    """Some rank takes much longer in some steps."""
    if step % 20 == phase and rank == step // 20 % size:
        time.sleep(seconds)


def slow_stages(step):
    """In a row, and back: whoever comes later waits, and nobody is at fault."""
    value = torch.full((50,), float(step))
    if rank:
        dist.recv(value, before)
    now_and_then(step, 5, 3)
    if rank < size - 1:
        dist.send(value, after)
        dist.recv(value, after)
    now_and_then(step, 5, 4)
    if rank:
        dist.send(value, before)


def long_open(step):
    """A receive is begun and served only at the end, behind calls of all kinds in which everybody waits meanwhile."""
    got, asked = torch.empty(20), dist.irecv
    receive = asked(got, before, tag=11)
    dist.all_reduce(torch.ones(1))
    now_and_then(step, 6, 7)
    for other in (receive_all(step), exchanged(step)):
        assert other is None
    dist.barrier()
    send = dist.isend(torch.ones(20), after, tag=11)
    now_and_then(step, 4, 8)
    receive.wait()
    send.wait()


def receive_all(step):
    """All that may come is received by one, from whomever, in any order."""
    if rank == step % size:
        receives = [dist.irecv(torch.empty(4), other, tag=12) for other in range(size) if other != rank]
        for receive in reversed(receives):
            receive.wait()
    else:
        dist.send(torch.ones(4), step % size, tag=12)


def exchanged(step):
    """All at once, with neighbours; some are later."""
    out, got = torch.full((3000,), float(step)), [torch.empty(3000) for _ in range(2)]
    now_and_then(step, 3, 9)
    works = dist.batch_isend_irecv(
        [
            dist.P2POp(dist.isend, out, after), dist.P2POp(dist.irecv, got[0], before),
            dist.P2POp(dist.isend, out, before), dist.P2POp(dist.irecv, got[1], after),
        ]
    )  # fmt: skip
    now_and_then(step, 3, 10)
    for work in works:
        work.wait()


def not_waited_for(_step):
    """Whether a send is over is asked by nobody before the next step: two of them stay behind all along."""
    kept.append(dist.isend(torch.ones(5), after, tag=13))
    dist.recv(torch.empty(5), before, tag=13)
    if len(kept) > 2:
        kept.pop(0).wait()


kept = []


def of_a_group_in_another_order(step):
    """Its first member is the last rank: rank 1 waits for rank 0, which computes, and rank 3 for rank 1."""
    value = torch.ones(6)
    if rank == 0:
        if step % 20 == 12:
            time.sleep(5)
        dist.send(value, 1, group=turned)
    elif rank == 1:
        dist.recv(value, 0, group=turned)
        dist.send(value, 3)
    elif rank == 3:
        dist.recv(value, 1)


def in_threads(step):
    """One sends, another receives, in one group."""
    thread = threading.Thread(target=lambda: dist.recv(torch.empty(8), before, group=others))
    thread.start()
    now_and_then(step, 4, 14)
    dist.send(torch.ones(8), after, group=others)
    thread.join()


def large(step):
    if step % 10 == 5:
        value = torch.ones(4 << 20)
        works = [dist.isend(value, after, tag=15), dist.irecv(torch.empty(4 << 20), before, tag=15)]
        now_and_then(step, 3, 15)
        for work in works:
            work.wait()


def objects(step):
    if rank == 0:
        now_and_then(step, 4, 16)
        dist.send_object_list([{"step": step, "words": "x" * (step % 100)}], 1)
    elif rank == 1:
        dist.recv_object_list([None], 0)


def of_torch(step):
    """Torch's own pipelines, whose last stage has the loss."""
    schedule = schedules[step % 2]
    now_and_then(step, 4, 17)
    if rank == 0:
        schedule.step(torch.randn(8, 8))
    elif rank == size - 1:
        schedule.step(target=torch.randn(8, 8), losses=[])
    else:
        schedule.step()


def holds_the_lock(step):
    """For some seconds no other thread of Python runs, right behind a transfer."""
    if rank == 2:
        dist.send(torch.ones(3), 3, tag=18)
        if step % 20 == 18:
            sum(range(60_000_000))
        dist.recv(torch.empty(3), 3, tag=18)
    elif rank == 3:
        dist.recv(torch.empty(3), 2, tag=18)
        dist.send(torch.ones(3), 2, tag=18)


# Alone, as the other ones are not counted then: `of_a_group_in_another_order`, `in_threads`.
ALL = (
    slow_stages, long_open, receive_all, exchanged, not_waited_for, large, objects, of_torch, holds_the_lock,
)  # fmt: skip
end, step = time.time() + seconds, 0
while True:
    for part in ALL if what == "all" else (globals()[what],):
        part(step)
    step += 1
    told = torch.tensor([float(time.time() > end)])
    dist.all_reduce(told, dist.ReduceOp.MAX)
    if told.item():
        break
for send in kept:
    send.wait()
dist.destroy_process_group()
