"""What the ranks of the tests of guards run. Each function is one small training program."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from rankandfile import guard


def rank() -> int:
    return int(os.environ["RANK"])


@contextlib.contextmanager
def job(seconds: float = 40) -> Any:
    dist.init_process_group("gloo", timeout=timedelta(seconds=seconds))
    yield
    # Rank 0 serves the store: the others must have read what they came for.
    time.sleep(0.2 if rank() == 0 else 0)
    dist.destroy_process_group()


def decisions() -> dict[str, Any]:
    with job():
        found = {
            "any": guard.agree(rank() == 1),
            "all": guard.agree(rank() == 1, how="all"),
            "none": guard.agree(False),
            "every": guard.agree(True, how="all"),
            "same": guard.agree(True, how="same"),
            "value": guard.same({"lr": 0.1, "shape": (3, 4)}, "config"),
            "tensor": guard.same(torch.arange(3), "tensor").tolist(),
            "shared": guard.share(rank() + 100, src=1),
            "asked": guard.share(lambda: {"rank": rank()}, src=2),
        }
        for i in range(50):
            assert guard.agree(rank() == i % 3, name="again")
        return found


def unlike_values() -> None:
    with job(), guard.step(7):
        guard.same(rank() == 2, "should_stop")


def unlike_flags() -> None:
    with job():
        guard.agree(rank() != 0, how="same")


def unlike_halves() -> None:
    with job():
        guard.same(rank() % 2, "half")


def keeps_going_after_disagreement() -> int:
    caught = 0
    with job():
        for i in range(4):
            try:
                guard.same(rank() if i % 2 else 0, "value")
            except guard.Disagreement:
                caught += 1
        assert guard.agree(True, how="all")
    return caught


def skips_a_step() -> None:
    """Rank 1 leaves step 2 out: at the next guard it is a step ahead."""
    with job():
        for n in range(5):
            if n == 2 and rank() == 1:
                continue
            guard.step(n)
            guard.agree(False, name="stop")


def takes_the_other_branch() -> None:
    with job():
        if rank() == 0:
            guard.agree(True, name="save")
        else:
            guard.agree(True, name="evaluate")


def never_comes(how: str) -> None:
    with job():
        guard.agree(False, name="warm up")
        if rank() == 2:
            if how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(2.5)
        guard.agree(False, name="stop", timeout=1.5 if how == "asleep" else 30)


def late_rank() -> None:
    """Rank 1 comes when the others have given up: it must not wait for them."""
    with job():
        guard.agree(False, name="warm up")
        if rank() == 1:
            time.sleep(2.5)
        try:
            guard.agree(False, name="stop", timeout=1)
        finally:
            time.sleep(2.5 if rank() == 0 else 0)


def store_dies() -> None:
    dist.init_process_group("gloo", timeout=timedelta(seconds=30))
    guard.agree(False)
    if rank() == 0:
        os._exit(0)
    time.sleep(0.3)
    guard.agree(False)


def slow_but_fine() -> bool:
    with job():
        if rank() == 1:
            time.sleep(2.5)
        return guard.agree(True, how="all")


def subgroups() -> Any:
    """Two pairs and the world, used crosswise; a rank outside of a group has nobody to agree with."""
    with job():
        pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
        mine = pairs[rank() // 2]
        found = [guard.agree(rank() in (0, 3), group=mine, name="pair") for _ in range(10)]
        found.append(guard.agree(rank() == 3, name="pair"))
        found.append(guard.agree(rank() == 0, group=pairs[0], name="first pair only"))
        overlapping = dist.new_group([1, 2])
        if rank() in (1, 2):
            found.append(guard.same(rank() * 0, "middle", group=overlapping) == 0)
        guard.same(rank() // 2, "stage", group=mine)
    return found


def subgroup_differs() -> None:
    with job():
        mine = [dist.new_group([0, 2], group_desc="even"), dist.new_group([1, 3], group_desc="odd")][
            rank() % 2
        ]
        guard.same(rank() == 3, "flag", group=mine)


def nested() -> Any:
    found = []
    with job():
        for epoch in range(2):
            with guard.step(epoch), guard.collective_finally():
                for i, batch in enumerate(guard.uneven(range(3 + rank()))):
                    with guard.step(i):
                        found.append((batch, guard.agree(batch == 1)))
                with guard.solo() as mine:
                    if mine:
                        time.sleep(0.05)
    return found


def guard_inside_solo() -> None:
    """The one rank at work waits for the others, who wait for it."""
    with job(), guard.solo(name="prepare") as mine:
        if mine:
            guard.agree(True, name="inner")


def threads() -> int:
    """Four threads, each with a guard of its own, beside collectives in the main thread."""
    wrong: list[int] = []

    def vote(number: int) -> None:
        votes = [guard.agree(rank() == i % 3, name=f"thread {number}") for i in range(40)]
        wrong.extend(i for i, vote in enumerate(votes) if not vote)

    with job():
        workers = [threading.Thread(target=vote, args=(n,)) for n in range(4)]
        for worker in workers:
            worker.start()
        for _ in range(40):
            dist.all_reduce(torch.ones(1))
        for worker in workers:
            worker.join()
        assert guard.agree(not wrong, how="all")
    return len(wrong)


def while_a_collective_hangs() -> bool:
    """A guard in a thread works while the main thread sits in a collective."""
    found: list[bool] = []
    with job():
        thread = threading.Thread(target=lambda: found.append(guard.agree(rank() == 0, name="aside")))
        if rank() == 0:
            thread.start()
            dist.all_reduce(torch.ones(1))
        else:
            time.sleep(0.3)
            thread.start()
            thread.join()
            dist.all_reduce(torch.ones(1))
        thread.join()
    return found[0]


def after_destroy(ports: list[int]) -> Any:
    """Three lives, the last one on the port of the first: nothing of guards may keep it taken."""
    found = []
    for life, port in enumerate([ports[0], ports[1], ports[0]]):
        os.environ["MASTER_PORT"] = str(port)
        with job():
            # A different number of uses per life, and none at all in the first.
            found += [guard.agree(rank() == 1, name="stop") for _ in range(3 * life)]
            dist.barrier()
            time.sleep(0.2 if rank() else 0)
        found.append(guard.agree(rank() == 1, name="stop"))
        guard.same(rank(), "now alone")
    return found


def same_store_again() -> Any:
    """The store outlives the group, as with an agent's store; new groups find old keys in it."""
    store = dist.TCPStore(
        "127.0.0.1", int(os.environ["MASTER_PORT"]), 2, rank() == 0, timeout=timedelta(seconds=40)
    )
    found = []
    for life in range(3):
        prefixed = dist.PrefixStore(f"life {life}" if life else "", store)
        dist.init_process_group("gloo", store=prefixed, rank=rank(), world_size=2)
        found += [guard.agree(rank() == 1, name="stop") for _ in range(2)]
        dist.barrier()
        time.sleep(0.2)
        dist.destroy_process_group()
    return found


def world_of_one() -> Any:
    with job():
        return [guard.agree(True), guard.same(3), list(guard.uneven([1, 2])), guard.share(lambda: 4)]


def alone() -> Any:
    """No process group at all."""
    with guard.solo() as mine, guard.collective_finally(), guard.step(1):
        return [mine, guard.agree(False), guard.same("x"), guard.share(5), list(guard.uneven(range(2)))]


def switched_off() -> Any:
    with job():
        with guard.solo() as mine:
            pass
        with guard.collective_finally():
            pass
        guard.about_to_call("nothing")
        length = len(list(guard.uneven(range(rank() + 1))))
        return [guard.agree(rank() == 1), guard.same(rank()), guard.share(rank()), length, mine]


def forked_child() -> Any:
    """A data loader's worker that comes across a guard does not speak for its rank."""
    with job():
        guard.agree(True)
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(write, b"1" if guard.agree(rank() == 1) else b"0")
            os._exit(0)
        answer = os.read(read, 1).decode()
        os.waitpid(pid, 0)
        return [answer, guard.agree(rank() == 1)]


def uneven_any() -> Any:
    with job():
        return list(guard.uneven(range(3 + 2 * rank())))


def uneven_all() -> Any:
    with job():
        filled = list(guard.uneven(range(1 + rank()), end="all", fill=lambda last: -1))
        repeated = list(guard.uneven(range(1 + rank()), end="all"))
        empty = list(guard.uneven(range(2 * rank()), end="all", fill=lambda last: last))
        return [filled, repeated, empty]


def uneven_raises() -> None:
    def batches() -> Any:
        yield 1
        if rank() == 1:
            raise ValueError("shard 7 is corrupt")
        yield 2

    with job():
        for _ in guard.uneven(batches()):
            pass


def leaves_the_loop() -> None:
    with job():
        for batch in guard.uneven(range(6), timeout=20):
            if batch == 2 and rank() == 0:
                break
        if rank() == 0:
            time.sleep(2)


def solo_work() -> Any:
    with job(seconds=30):
        path = os.environ["FLAG"]
        with guard.solo(rank=1, timeout=20) as mine:
            if mine:
                time.sleep(1.5)
                with open(path, "w") as file:  # noqa: PTH123
                    file.write("ready")
        with open(path) as file:  # noqa: PTH123
            return [mine, file.read()]


def solo_fails(how: str) -> None:
    with job(), guard.solo(timeout=20, name="prepare") as mine:
        if mine:
            if how == "raises":
                raise FileNotFoundError("no such bucket")
            time.sleep(0.2)


def solo_dies() -> None:
    with job(), guard.solo(rank=1, timeout=30, name="prepare") as mine:
        if mine:
            os.kill(os.getpid(), signal.SIGKILL)


def solo_too_long() -> None:
    with job(), guard.solo(rank=1, timeout=0.5, name="prepare") as mine:
        if mine:
            time.sleep(2)


def failure_before_a_barrier() -> None:
    """Without the guard the barrier would hang for as long as the group's timeout."""
    with job():
        with guard.collective_finally("epoch"):
            if rank() == 1:
                raise ZeroDivisionError("division by zero")
        dist.barrier()


def failure_before_an_inner_guard() -> None:
    with job(), guard.collective_finally("epoch"):
        if rank() == 1:
            raise ZeroDivisionError("division by zero")
        guard.agree(False, name="stop", timeout=20)


def failure_that_is_handled() -> Any:
    with job():
        for attempt in range(3):
            try:
                with guard.collective_finally("epoch"):
                    if attempt < 2 and rank() == attempt:
                        raise ValueError("bad batch")
            except (ValueError, guard.PeerFailed):
                # Ranks come back at different times.
                time.sleep(1.3 * (rank() == attempt))
                continue
            break
        guard.agree(True, how="all")
        return attempt


def announces() -> None:
    with job(), guard.step(3):
        guard.about_to_call("all_reduce", torch.ones(4, 2 + rank() // 2), bucket=1)
        guard.about_to_call("broadcast", torch.ones(2) * rank(), src=0)


def cleans_up() -> int:
    """Keys in the store after many uses of many guards."""
    from torch.distributed import distributed_c10d as c10d

    with job():
        dist.barrier()
        for i in range(60):
            guard.agree(False, name=f"guard {i}")
            guard.share(i, name=f"share {i}")
            with guard.solo(name=f"solo {i}"):
                pass
        guard.agree(False)
        time.sleep(0.2)
        return sum(b"raf-guards" in str(key).encode() for key in c10d._get_default_store().list_keys())
