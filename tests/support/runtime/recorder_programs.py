"""What the ranks of the tests of the recorder run."""

from __future__ import annotations

import functools
import mmap
import os
import random
import signal
import struct
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import all_reduce as bound_early

from rankandfile import guard
from rankandfile.runtime.recorder import current, native
from rankandfile.runtime.recorder.start import start
from rankandfile.wire import layout, reading


def rank() -> int:
    return int(os.environ["RANK"])


def begin(seconds: float = 60) -> Any:
    path = start()
    dist.init_process_group("gloo", timeout=timedelta(seconds=seconds))
    return path


def end() -> None:
    dist.barrier()
    time.sleep(0.3 if rank() == 0 else 0)


def has_native() -> bool:
    return native.library().is_file()


def every_caller() -> list[str]:
    """Ring path; the test reads what was seen."""
    path = begin()
    one = torch.ones(4)
    dist.all_reduce(one)
    bound_early(one)
    with torch.inference_mode():
        dist.broadcast(torch.ones(3), src=1)
    if rank() == 0:
        time.sleep(3.2)  # long enough for a pulse of each: one is at work, and one waits
        dist.send(one, dst=1, tag=3)
    else:
        dist.recv(one, src=0, tag=3)
    import torch.distributed._functional_collectives as functional

    functional.all_reduce(torch.ones(5), "max", dist.group.WORLD).sum()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
    model(torch.ones(1, 3)).sum().backward()
    dist.monitored_barrier()
    pair = dist.new_group([0, 1], group_desc="pair")
    dist.all_gather([torch.ones(2), torch.ones(2)], torch.ones(2), group=pair)
    with guard.step(11):
        guard.agree(rank() == 1, name="stop")
        dist.all_reduce(torch.ones(13, dtype=torch.int64))
    end()
    return [str(path), "native" if current.now.native else "python"]


def disagrees(in_what: str) -> str:
    """Rank 1 makes one call otherwise than the others. On gloo, a job hangs of another root, and of nothing else."""
    path = begin(3)
    odd, values = rank() == 1, torch.full((4,), float(rank()))
    if in_what == "root":
        dist.broadcast(values, src=1 if odd else 0)
    if in_what == "reduction":
        dist.all_reduce(values, op=dist.ReduceOp.MAX if odd else dist.ReduceOp.SUM)
    if in_what == "dtype":
        dist.broadcast(values.to(torch.int32) if odd else values, src=0)
    if in_what == "size":
        dist.broadcast(torch.ones(8) if odd else values, src=0)
    if in_what == "nothing":
        dist.broadcast(values, src=2)
        dist.reduce(values, dst=2, op=dist.ReduceOp.MAX)
    end()
    return str(path)


HANGS = ("killed", "gil", "receive")


def all_stuck(folder: str) -> None:
    """One job of two ranks for each way to hang, side by side; killed from outside, nothing is dumped by anybody."""
    how = HANGS[rank() // 2]
    os.environ |= {"RANK": str(rank() % 2), "WORLD_SIZE": "2", "RAF_RING_DIR": f"{folder}/{how}"}
    start()
    store = dist.FileStore(f"{folder}/{how}.store", 2)
    dist.init_process_group("gloo", store=store, rank=rank(), world_size=2, timeout=timedelta(seconds=60))
    stuck(how)


def stuck(how: str) -> None:
    one = torch.ones(4)
    for _ in range(3):
        dist.all_reduce(one)
    dist.broadcast(one, src=0)
    if how == "receive" and rank() == 1:
        dist.recv(one, src=0)
    if rank() == 1:
        if how == "killed":
            # Its sockets stay open, as those of an NCCL peer would: gloo's peers would notice the end.
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "gil":
            import ctypes

            ctypes.PyDLL(None).sleep(30)
        time.sleep(30)
    dist.all_reduce(one)


def falls_silent() -> str:
    """The main thread sleeps while another one tells where it is, twice."""
    path = begin()
    dist.all_reduce(torch.ones(4))
    told = threading.Thread(target=_tell_twice)
    told.start()
    _sleep_until_joined(told)
    return str(path)


def _tell_twice() -> None:
    assert current.now.recorder is not None
    time.sleep(0.3)
    current.now.recorder.pulse()
    current.now.recorder.pulse()


def _sleep_until_joined(thread: threading.Thread) -> None:
    thread.join()


def threads_and_forks() -> list[str]:
    path = begin()
    groups = [dist.new_group([0, 1]) for _ in range(3)]

    def work(group: Any) -> None:
        for _ in range(50):
            dist.all_reduce(torch.ones(2), group=group)

    workers = [threading.Thread(target=work, args=(group,)) for group in groups]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    pid = os.fork()
    if pid == 0:
        # A child without calls leaves no ring; one with a group of its own gets its own.
        mine = current.now.recorder is None
        dist.group.WORLD = None
        dist.distributed_c10d._world.pg_map.clear()
        _fake_group()
        dist.all_reduce(torch.ones(1))
        child = current.now.recorder
        os._exit(0 if mine and child is not None and child.ring.path != path else 3)
    _, status = os.waitpid(pid, 0)
    end()
    return [str(path), str(os.waitstatus_to_exitcode(status))]


def _fake_group() -> None:
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)


def broken() -> list[Any]:
    """A ring that raises at every turn does not disturb the job."""
    begin()
    dist.all_reduce(torch.ones(1))
    recorder = current.now.recorder
    assert recorder is not None

    def fails(*_: object) -> Any:
        raise OSError("no space")

    recorder.ring.put = fails  # type: ignore[method-assign]
    recorder.ring.add = fails  # type: ignore[method-assign]
    one = torch.ones(3)
    dist.all_reduce(one)
    with guard.step(4):
        decided = guard.agree(rank() == 0)
    end()
    return [one.tolist(), decided, recorder.failures > 0]


def broken_from_the_start() -> list[Any]:
    """Nothing can be described from the first call on, whoever writes."""
    from rankandfile.runtime.recorder.recorder import Recorder
    from rankandfile.runtime.recorder.stacks import Stacks

    def fails(*_: object, **__: object) -> Any:
        raise RuntimeError("a fault of the recorder")

    Recorder.learn_shape = fails  # type: ignore[method-assign]
    Recorder.learn_thread = fails  # type: ignore[method-assign]
    Stacks.of = fails  # type: ignore[method-assign]
    begin()
    one = torch.ones(3)
    dist.all_reduce(one)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
    model(torch.ones(1, 3)).sum().backward()
    recorder = current.now.recorder
    assert recorder is not None
    library = current.now.native
    end()
    return [one.tolist(), (library.failures() if library else recorder.failures) > 0]


def newer_callers() -> str:
    """Whatever makes calls without `torch.distributed`'s functions: a compiled graph, DTensor, FSDP2."""
    import torch.distributed._functional_collectives as functional
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import DTensor, Partial, Replicate

    path = begin()

    def reduced(value: torch.Tensor) -> torch.Tensor:
        return functional.all_reduce(value, "sum", dist.group.WORLD) * 2

    torch.compile(reduced, backend="aot_eager", fullgraph=True)(torch.ones(21))
    mesh = init_device_mesh("cpu", (2,))
    DTensor.from_local(torch.ones(22), mesh, [Partial()]).redistribute(placements=[Replicate()])
    model = torch.nn.Linear(5, 8, bias=False)
    fully_shard(model, mesh=mesh)
    model(torch.ones(1, 5)).sum().backward()
    end()
    return str(path)


def parts() -> None:
    """Two calls alike, the second of them in a step, then each rank its own."""
    begin()
    dist.all_reduce(torch.ones(2), op=dist.ReduceOp.MAX)
    with guard.step(7):
        dist.all_reduce(torch.ones(2))
        guard.agree(True, name="stop")
    if rank() == 0:
        dist.all_reduce(torch.ones(2), async_op=True)
    else:
        dist.broadcast(torch.ones(2), src=0, async_op=True)
    time.sleep(0.2)


#: An exit handler makes calls, and so does an object that is freed while the modules are.
ENDING = """
import atexit
import torch, torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore
from rankandfile.runtime.recorder.start import start
def calls(times, reduce=dist.all_reduce, tensor=torch.ones(2)):
    for _ in range(times):
        reduce(tensor)
class Late:
    def __del__(self, calls=calls):
        calls(20)
atexit.register(calls, 20)
start()
dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
calls(100)
late = Late()
"""


class _Graph:
    """Stands in for torch.cuda.graphs.CUDAGraph, which cannot be made without a GPU."""

    def capture_begin(self) -> None: ...

    def capture_end(self) -> None: ...

    def replay(self) -> None: ...


def captured() -> str:
    import torch.cuda.graphs

    torch.cuda.graphs.CUDAGraph = _Graph  # type: ignore[misc,assignment]
    path = begin()
    dist.all_reduce(torch.ones(30))
    graph = _Graph()
    graph.capture_begin()
    dist.all_reduce(torch.ones(31))
    graph.capture_end()
    for _ in range(2):
        graph.replay()
    dist.all_reduce(torch.ones(32))
    end()
    return str(path)


def ragged() -> list[Any]:
    """More kinds of stack, size and group than are kept."""
    from rankandfile.runtime.recorder import stacks, tables

    stacks.MOST, tables.MOST_SHAPES, tables.MOST_GROUPS = 4, 5, 2
    begin()
    for size in range(12):
        # Code that is made up as it goes has a stack of its own each time.
        exec(compile("dist.all_reduce(torch.ones(size))", f"made{size}.py", "exec"))
    for _ in range(3):
        dist.all_reduce(torch.ones(1), group=dist.new_group([0, 1]))
    recorder = current.now.recorder
    assert recorder is not None
    kept = [len(recorder.stacks._known), len(recorder._shapes), len(recorder._groups)]
    if current.now.native is not None:
        kept = list(current.now.native.remembered())
    end()
    return [str(recorder.ring.path), kept]


def spawns() -> list[str]:
    """A child that is started anew has a ring of its own."""
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    said = context.SimpleQueue()
    path = start()
    child = context.Process(target=_in_spawned, args=(said,))
    child.start()
    theirs = said.get()
    child.join()
    return [str(path), theirs, str(child.exitcode)]


def _in_spawned(said: Any) -> None:
    path = start()
    _fake_group()
    dist.all_reduce(torch.ones(17))
    said.put(str(path))


def cannot_hook() -> Any:
    """A torch that lets nobody see its calls."""
    from rankandfile.runtime.recorder import kernels

    def fails(*_: object) -> Any:
        raise RuntimeError("no such dispatch key")

    kernels.install = fails
    return turned_off()


def turned_off() -> Any:
    path = begin()
    dist.all_reduce(torch.ones(1))
    end()
    return path is None


def torture(folder: str, kills: int) -> dict[str, int]:
    """Kills recording processes at random moments, and checks what each left."""
    os.environ["RAF_RING_DIR"] = folder
    acknowledged = mmap.mmap(-1, 8)
    dice = random.Random(7)
    found = {"kills": 0, "records": 0, "torn": 0, "wrapped": 0}
    start()  # registers the kernels once; every child opens a ring of its own
    ring = current.Ring
    while found["kills"] < kills or found["wrapped"] < 2:
        acknowledged[:] = bytes(8)
        # A small ring comes round in time: every other child writes over older records.
        capacity = 50 if found["kills"] % 2 else layout.CAPACITY
        current.Ring = functools.partial(ring, capacity=capacity)  # type: ignore[misc,assignment]
        pid = os.fork()
        if pid == 0:
            _call_for_ever(acknowledged)
        while acknowledged[:] == bytes(8):
            time.sleep(0.0002)
        time.sleep(dice.random() * 0.03)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        (path,) = Path(folder).glob(f"raf-rank*-{os.getpid()}-{pid}-*.ring")
        contents = reading.read(path.read_bytes())
        path.unlink()
        assert not isinstance(contents, str), contents
        _check(contents, struct.unpack("<Q", acknowledged[:])[0])
        found["kills"] += 1
        found["records"] += len(contents.records)
        found["torn"] += contents.torn
        found["wrapped"] += contents.records[0].record.number > 1
    return found


def _call_for_ever(acknowledged: mmap.mmap) -> None:
    _fake_group()
    tensors = [torch.ones(n + 1) for n in range(7)]
    number = 0
    while True:
        if number % 40 == 39:
            # A stack that was not there before: the table is written too.
            exec(compile("dist.all_reduce(tensors[number % 7])", f"made{number}.py", "exec"))
        else:
            dist.all_reduce(tensors[number % 7])
        number += 1
        acknowledged[:] = struct.pack("<Q", number)  # at once; pack_into would not be


def _check(contents: reading.Contents, acknowledged: int) -> None:
    records = [kept.record for kept in contents.records]
    numbers = [record.number for record in records]
    assert numbers == list(range(numbers[0], numbers[-1] + 1)), "a gap"
    # The place after the newest record may be the one that was being written over.
    assert acknowledged <= numbers[-1] <= acknowledged + 1, (acknowledged, numbers[-1])
    assert contents.torn <= 1
    assert len(numbers) >= min(acknowledged, contents.header.capacity - 1)
    for record in records:
        assert record.in_elements == (record.number - 1) % 7 + 1, "an invented record"
        assert record.seq == record.number
    assert not contents.notes
