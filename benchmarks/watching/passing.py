"""Ranks that hand each other tensors, and go wrong on rank 1 in step 20: `passing.py HOW SECONDS`. It says when.

A pipeline (`left_out`, `wrong_peer`, `once_more`, `too_large`), a ring (`all_receive`), and an exchange that is begun
and then waited for (`begun`). With `healthy`, all of them go round until the seconds are over, and more that is legal:
a stage that takes long, a receive that is begun early, buffers with room to spare, tags, receives from anybody.
"""

import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist

how, seconds = sys.argv[1], float(sys.argv[2])
dist.init_process_group("gloo", timeout=timedelta(minutes=10))
rank, size = dist.get_rank(), dist.get_world_size()
before, after = (rank - 1) % size, (rank + 1) % size
MICRO_BATCHES = 4


def wrong(name, step):
    if how != name or rank != 1 or step != 20:
        return False
    print("WRONG", time.time(), flush=True)
    return True


def take(source):
    value = torch.empty(100)
    dist.recv(value, source)
    return value


def hand_on(value, target):
    dist.send(value, target)


def pipeline(step):
    """Activations go up, gradients come back; the last stage has the loss."""
    for batch in range(MICRO_BATCHES):
        value = torch.full((100,), float(step)) if rank == 0 else take(before)
        time.sleep(0.002)
        if rank < size - 1:
            if batch == 2 and wrong("left_out", step):
                continue
            target = before if batch == 2 and wrong("wrong_peer", step) else after
            hand_on(torch.ones(120) if batch == 2 and wrong("too_large", step) else value, target)
        if batch == 2 and wrong("once_more", step):
            take(before)
    for _ in range(MICRO_BATCHES):
        if rank < size - 1:
            take(after)
        if rank:
            hand_on(torch.zeros(100), before)
    dist.all_reduce(torch.ones(1))


def ring(step):
    """Even ranks send first; where all receive first, none is sent to."""
    value = torch.full((100,), float(step))
    wrong("all_receive", step)
    if rank % 2 == 0 and not (how == "all_receive" and step == 20):
        hand_on(value, after)
        take(before)
    else:
        take(before)
        hand_on(value, after)


def exchange(step):
    """All parts are begun, and then waited for; one rank leaves one out."""
    out = [torch.full((50,), float(step)) for _ in range(size)]
    got = [torch.empty(50) for _ in range(size)]
    left_out = after if wrong("begun", step) else None
    operations = []
    for other in range(size):
        if other == rank:
            continue
        operations.append(dist.P2POp(dist.irecv, got[other], other))
        if other != left_out:
            operations.append(dist.P2POp(dist.isend, out[other], other))
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    dist.all_reduce(torch.ones(1))


def slow_stage(step):
    """Who comes later waits for long, and that is how it is."""
    if step % 60 == 30:
        if rank == 1:
            time.sleep(4)
        if rank:
            take(before)
        if rank < size - 1:
            hand_on(torch.ones(100), after)


def early_receive(step):
    """The receive is begun long before its part is made; nobody waits for the send before the end of the step."""
    got, out = torch.empty(100), torch.ones(100)
    receive = dist.irecv(got, before, tag=7)
    time.sleep(3.5 if step % 60 == 40 else 0.001)
    send = dist.isend(out, after, tag=7)
    receive.wait()
    send.wait()


def uneven(step):
    """Stages make different numbers of transfers; the last batch is smaller than its buffer."""
    if rank == 0:
        for number in range(1 + step % 3):
            dist.send(torch.ones(10 - number), 1, tag=number)
    elif rank == 1:
        for number in range(1 + step % 3):
            dist.recv(torch.empty(10), 0, tag=number)


def anybody(_step):
    if rank == 0:
        for _ in range(size - 1):
            dist.recv(torch.empty(3), tag=9)
    else:
        dist.send(torch.ones(3), 0, tag=9)


PARTS = {
    **dict.fromkeys(("left_out", "wrong_peer", "once_more", "too_large"), (pipeline,)),
    "all_receive": (ring,),
    "begun": (exchange,),
    "healthy": (pipeline, ring, exchange, slow_stage, early_receive, uneven, anybody),
}
end, step, over = time.time() + seconds, 0, False
while not over:
    step += 1
    time.sleep(0.02)
    for part in PARTS[how]:
        part(step)
    if how == "healthy":
        told = torch.tensor([float(time.time() > end)])
        dist.all_reduce(told, dist.ReduceOp.MAX)
        over = bool(told.item())
dist.destroy_process_group()
