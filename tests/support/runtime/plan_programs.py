"""What the ranks of the tests of plans run."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.algorithms.join import Join

from rankandfile.control import Plan
from rankandfile.runtime.plan.start import start

STEPS, WRONG_AT, WRONG = 8, 5, 1
LONG = 90


def join() -> int:
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    return int(dist.get_rank())


def train() -> None:
    ones = torch.ones(8)
    for _ in range(2):
        dist.all_reduce(ones)
    dist.broadcast(ones, 0)


def evaluate() -> None:
    dist.all_reduce(torch.ones(3), op=dist.ReduceOp.MAX)


def loop(how: str) -> list[Any]:
    """Declared steps; rank 1 does something else in step 5."""
    rank = join()
    plan = Plan()
    done = 0
    for n in range(STEPS):
        wrong = rank == WRONG and n == WRONG_AT
        if how == "leaves the loop" and wrong:
            break
        with plan.step(n):
            if how == "leaves the step" and wrong:
                break
            if how == "calls more" and wrong:
                dist.all_reduce(torch.ones(8))
            train()
            if how == "evaluates alone" and (wrong or n % 3 == 1):
                with plan.variant("evaluate"):
                    evaluate()
            if how == "goes" and wrong:
                dist.destroy_process_group()
                return []
            done += 1
    dist.barrier()
    return [done, plan._gate.failures if plan._gate else -1]


def messages(how: str) -> list[Any]:
    """Declared steps in which rank 0 sends to rank 1, which answers."""
    rank = join()
    plan = Plan()
    if how == "varies":
        plan.dynamic("send", "recv")
    for n in range(STEPS):
        wrong = rank == WRONG and n == WRONG_AT
        with plan.step(n):
            for _ in range(2 + (n % 3 if how == "varies" else 0)):
                if rank == 0:
                    dist.send(torch.ones(4), 1)
                    dist.recv(torch.ones(4), 1)
                if rank == 1:
                    dist.recv(torch.ones(4), 0)
                    dist.send(torch.ones(4), 0)
            if how == "sends more" and wrong:
                dist.isend(torch.ones(4), 0)
            dist.all_reduce(torch.ones(1))
    dist.barrier()
    return [plan._gate.failures if plan._gate else -1]


def decided() -> list[Any]:
    """Every wish is one rank's own; what comes of it is everybody's."""
    rank = join()
    plan = Plan(stop="any", ready="all", batches="min", most="max", save="lead")
    made: list[Any] = []
    for n in range(STEPS):
        mine = {"stop": rank == 1 and n == WRONG_AT, "ready": rank != 2 or n != 3}
        with plan.step(n, **mine, batches=2 + (rank + n) % 2, most=rank, save=rank > 0 or n == 2) as now:
            made.append(vars(now))
            if now.stop:
                break
            for _ in range(now.batches):
                train()
            if now.save:
                with plan.variant("save"):
                    dist.barrier()
    dist.barrier()
    return made


def measured(more_at: int) -> int:
    """Decisions of all forms: a list of modules, a number of something, and a loss that never comes twice."""
    rank = join()
    plan = Plan(modules="lead", n="min", loss="max")
    for n in range(STEPS):
        with plan.step(n, modules=["head"], n=3 + rank, loss=1.0 / (n + 1 + rank)) as now:
            assert (now.modules, now.n, now.loss) == (["head"], 3, 1.0 / (n + 1))
            train()
            if n == more_at:
                dist.all_reduce(torch.ones(8))
    return STEPS


def sizes(declared: bool) -> int:
    """The same on all ranks, and other ones in each step."""
    join()
    plan = Plan()
    if declared:
        plan.dynamic("all_reduce")
    for n in range(STEPS):
        with plan.step(n):
            dist.all_reduce(torch.ones(n + 1))
    return STEPS


def undeclared(program: str) -> Any:
    """No steps, no plan in the program: what `raf run --plan enforce` does."""
    rank = join()
    start()
    own: Callable[[int], Any] = globals()[f"_{program}"]
    return own(rank)


def _healthy(rank: int) -> int:
    """Evaluations now and then, a rank that logs through a line of its own, sizes that vary together, ragged ends."""
    for n in range(STEPS):
        train()
        dist.all_reduce(torch.ones(1 + n % 3))
        if n % 3 == 2:
            evaluate()
        if rank == 0:
            dist.broadcast(torch.ones(1), 0)
        else:
            dist.broadcast(torch.zeros(1), 0)
        if rank == 0:
            later = dist.irecv(torch.ones(2), 1)
            dist.send(torch.ones(2), 1)
            later.wait()
        elif rank == 1:
            later = dist.irecv(torch.ones(2), 0)
            time.sleep(0.8 if n == 3 else 0)
            dist.send(torch.ones(2), 0)
            later.wait()
        found = [None] * dist.get_world_size() if rank == 0 else None
        dist.gather_object({"rank": rank, "words": "x" * rank}, found)
        if n == 4:
            time.sleep(0.3 * rank)
    dist.barrier()
    return STEPS


def _empty_shares(rank: int) -> int:
    """Now and then a rank has nothing, and takes part by another line: long after the others are used to theirs."""
    for n in range(LONG):
        train()
        if n > LONG // 2 and n % 7 == rank:
            dist.all_reduce(torch.zeros(4))
        else:
            dist.all_reduce(torch.ones(4))
    dist.barrier()
    return STEPS


def _uneven(rank: int) -> int:
    """Under torch's `Join`, a rank that has no more inputs shadows what the others call."""
    torch.manual_seed(1)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1))
    for n in range(4):
        with Join([model]):
            for _ in range(LONG // 3 - 9 * (rank == n % 3)):
                model(torch.ones(2, 3)).sum().backward()
        dist.all_reduce(torch.ones(1))
    dist.barrier()
    return STEPS


def _pipeline(rank: int, short: bool = False, early: bool = False) -> int:
    """Activations go down the ranks, gradients come back, and nothing that is sent is waited for before the end."""
    last = dist.get_world_size() - 1
    for n in range(LONG):
        sent = []
        micro = 3 - (short and rank == WRONG and n == LONG - 2)
        for _ in range(micro):
            if rank > 0:
                dist.irecv(torch.ones(4), rank - 1).wait()
            if rank < last:
                sent.append(dist.isend(torch.ones(4), rank + 1))
        for _ in range(micro):
            if rank < last:
                dist.irecv(torch.ones(4), rank + 1).wait()
            if rank > 0:
                sent.append(dist.isend(torch.ones(4), rank - 1))
        for work in sent:
            work.wait()
        if early and rank == WRONG and n == LONG - 2:
            continue
        dist.broadcast(torch.ones(1), last)
        if n % 3 == 0:
            swap(rank, last)
    dist.barrier()
    return LONG


def swap(rank: int, last: int) -> None:
    """With both neighbours, in one batch."""
    there = [other for other in (rank - 1, rank + 1) if 0 <= other <= last]
    batch = [dist.P2POp(dist.isend, torch.ones(2), other) for other in there]
    batch += [dist.P2POp(dist.irecv, torch.ones(2), other) for other in there]
    for work in dist.batch_isend_irecv(batch):
        work.wait()


def _short_pipeline(rank: int) -> int:
    """A stage does one micro-batch less than its neighbours."""
    return _pipeline(rank, short=True)


def _early_pipeline(rank: int) -> int:
    """A stage leaves out the broadcast; the root of it waits, and it waits for the root's next message."""
    return _pipeline(rank, early=True)


def _sends_too_much(rank: int) -> None:
    """A message comes to a place that is too small for it: gloo would end the process."""
    for n in range(LONG):
        if rank == 0:
            dist.recv(torch.ones(2), WRONG) if n == LONG - 2 else dist.recv(torch.ones(4), WRONG)
        if rank == WRONG:
            time.sleep(0.5 * (n == LONG - 2))
            dist.send(torch.ones(4), 0)
        dist.all_reduce(torch.ones(2))


def _from_anybody(rank: int) -> int:
    """Rank 0 takes what comes first, and then what one rank sent; messages may be shorter than their place."""
    for _ in range(STEPS):
        if rank == 0:
            for _ in range(2):
                dist.recv(torch.ones(4))
            dist.recv(torch.ones(8), 1, tag=7)
        else:
            dist.send(torch.ones(4), 0)
        if rank == 1:
            dist.send(torch.ones(6), 0, tag=7)
        dist.all_reduce(torch.ones(2))
    return STEPS


def _inverts(rank: int) -> None:
    """Two groups of the same ranks, used in opposite order."""
    one, other = dist.new_group([0, 1]), dist.new_group([0, 1])
    for n in range(LONG):
        order = (other, one) if rank == WRONG and n == LONG - 2 else (one, other)
        for group in order:
            dist.all_reduce(torch.ones(2), group=group)


def _other_reduction(rank: int) -> None:
    """Nothing hangs, and the numbers are wrong."""
    for n in range(LONG):
        op = dist.ReduceOp.MAX if rank == WRONG and n == LONG - 2 else dist.ReduceOp.SUM
        dist.all_reduce(torch.ones(2), op=op)


def _skips(rank: int) -> None:
    """One of several equal calls is left out: the next one takes its place, without anything wrong with it."""
    for n in range(LONG):
        train()
        if not (rank == WRONG and n == LONG - 2):
            dist.all_reduce(torch.ones(8))
    dist.barrier()


def _sends_nothing(rank: int) -> None:
    """One message is left out; then they meet."""
    for n in range(LONG):
        if rank == WRONG and n != LONG - 2:
            dist.send(torch.ones(2), 0)
        if rank == 0:
            dist.recv(torch.ones(2), WRONG)
        dist.all_reduce(torch.ones(2))
