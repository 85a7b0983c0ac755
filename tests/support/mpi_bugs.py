"""Programs of the families of ordering errors of the MPI Bugs Initiative, in Python: with mpi4py, and with torch.

Each family puts one or two collectives into a shape in which ranks call them alike, or do not. Every shape is there bad
and correct. `programs()` gives all of them; nothing of it is copied from the suite, which is C.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from textwrap import dedent, indent
from typing import NamedTuple

_MPI = {
    "barrier": "comm.Barrier()",
    "bcast": "comm.Bcast(x, root=0)",
    "reduce": "comm.Reduce(x, y, op=MPI.SUM, root=0)",
    "allreduce": "comm.Allreduce(x, y, op=MPI.SUM)",
    "gather": "comm.Gather(x, ys, root=0)",
    "scatter": "comm.Scatter(ys, x, root=0)",
    "allgather": "comm.Allgather(x, ys)",
    "alltoall": "comm.Alltoall(ys, zs)",
    "object bcast": "config = comm.bcast(config, root=0)",
    "object gather": "config = comm.gather(config, root=0)",
    "object allreduce": "total = comm.allreduce(1)",
    "Ibarrier": "comm.Ibarrier().Wait()",
    "Ibcast": "comm.Ibcast(x, root=0).Wait()",
    "Ireduce": "comm.Ireduce(x, y, op=MPI.SUM, root=0).Wait()",
}
_TORCH = {
    "barrier": "dist.barrier()",
    "broadcast": "dist.broadcast(x, src=0)",
    "reduce": "dist.reduce(x, dst=0)",
    "all_reduce": "dist.all_reduce(x)",
    "gather": "dist.gather(x, ys if rank == 0 else None, dst=0)",
    "scatter": "dist.scatter(x, ys if rank == 0 else None, src=0)",
    "all_gather": "dist.all_gather(ys, x)",
    "all_to_all": "dist.all_to_all(ys, zs)",
    "reduce_scatter": "dist.reduce_scatter(x, ys)",
    "objects": "dist.broadcast_object_list(config, src=0)",
    "async all_reduce": "dist.all_reduce(x, async_op=True).wait()",
    "async broadcast": "dist.broadcast(x, src=0, async_op=True).wait()",
}
_MPI_HEAD = """
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
"""
_MPI_START = """
rank = comm.Get_rank()
size = comm.Get_size()
x, y = np.ones(4), np.zeros(4)
ys, zs = np.ones(4 * size), np.zeros(4 * size)
config = {}
"""
_TORCH_HEAD = """
import torch
import torch.distributed as dist
"""
_TORCH_START = """
dist.init_process_group("gloo")
rank = dist.get_rank()
size = dist.get_world_size()
x = torch.ones(4)
ys, zs = [torch.ones(4) for _ in range(size)], [torch.zeros(4) for _ in range(size)]
config = [None]
"""

#: family -> (whether it is correct, the body of `main`): A and B stand for the collectives.
_OF_ONE = {
    "once": (True, "A"),
    "twice": (True, "A\nA"),
    "in both branches": (True, "if rank % 2:\n    A\nelse:\n    A"),
    "not of the rank": (True, "if size < 256:\n    A"),
    "rounds for all": (True, "for _ in range(size):\n    A"),
    "after work of one": (True, "if rank == 0:\n    print('begin')\nA"),
    "all leave": (True, "if size == 1:\n    return\nA"),
    "through a function": (True, "def step(name):\n    if name:\n        print(name)\n    A\nstep('all')"),
    "in both functions": (
        True,
        "def odd():\n    A\ndef even():\n    print('even')\n    A\nif rank % 2:\n    odd()\nelse:\n    even()",
    ),
    "missing": (False, "if rank % 2:\n    A"),
    "missing in the other": (False, "if rank == 0:\n    print('first')\nelse:\n    A"),
    "once more": (False, "A\nif rank == 0:\n    A"),
    "the last rank leaves": (False, "if rank == size - 1:\n    return\nA"),
    "rounds of its own": (False, "for _ in range(rank):\n    A"),
    "while of its own": (False, "left = rank\nwhile left > 0:\n    A\n    left -= 1"),
    "leaves the loop": (False, "for step in range(8):\n    if step == rank:\n        break\n    A"),
    "leaves out a round": (False, "for step in range(8):\n    if step == rank:\n        continue\n    A"),
    "inside another test": (False, "if size > 1:\n    if rank == 0:\n        A"),
    "through a variable": (False, "odd = rank % 2\nspeaks = odd == 1\nif speaks:\n    A"),
    "through functions": (
        False,
        "def outer():\n    inner()\ndef inner():\n    A\nif rank % 2:\n    outer()",
    ),
    "told by an argument": (False, "def step(speaks):\n    if speaks:\n        A\nstep(rank == 0)"),
}
_OF_TWO = {
    "one after the other": (True, "A\nB"),
    "alike in both branches": (True, "if rank % 2:\n    A\n    B\nelse:\n    A\n    B"),
    "whichever the size says": (True, "if size < 256:\n    A\nelse:\n    B"),
    "in one order by the size": (True, "if size < 256:\n    A\n    B\nelse:\n    B\n    A"),
    "the second after both": (True, "if rank == 0:\n    A\nelse:\n    A\nB"),
    "in another order": (False, "if rank % 2:\n    A\n    B\nelse:\n    B\n    A"),
    "another one": (False, "if rank % 2:\n    A\nelse:\n    B"),
    "one of two": (False, "if rank == 0:\n    A\n    B\nelse:\n    A"),
    "in rounds of another order": (
        False,
        "for step in range(4):\n    if (step + rank) % 2:\n        A\n        B\n    else:\n        B\n        A",
    ),
    "in functions of another order": (
        False,
        "def first():\n    A\ndef second():\n    B\nif rank == 0:\n    first()\n    second()\nelse:\n"
        "    second()\n    first()",
    ),
}
#: With a message between ranks 0 and 1: SEND and RECV are its ends.
_WITH_A_MESSAGE = {
    "message before": (True, "if rank == 0:\n    SEND\nelif rank == 1:\n    RECV\nA"),
    "message after": (True, "A\nif rank == 0:\n    SEND\nelif rank == 1:\n    RECV"),
    "message before in branches": (
        True,
        "if rank == 0:\n    SEND\n    A\nelif rank == 1:\n    RECV\n    A\nelse:\n    A",
    ),
    "received before it is sent": (
        False,
        "if rank == 0:\n    A\n    SEND\nelif rank == 1:\n    RECV\n    A\nelse:\n    A",
    ),
    "sent before it is received": (
        False,
        "if rank == 0:\n    SEND\n    A\nelif rank == 1:\n    A\n    RECV\nelse:\n    A",
    ),
    "a message in place of it": (
        False,
        "if rank == 0:\n    SEND\n    A\nelif rank == 1:\n    RECV\nelse:\n    A",
    ),
}


class Program(NamedTuple):
    api: str
    family: str
    collectives: tuple[str, ...]
    correct: bool
    text: str

    @property
    def name(self) -> str:
        return f"{self.api}: {self.family}: {', '.join(self.collectives)}"


def programs() -> Iterator[Program]:
    """All of them, in order."""
    for api, calls in (("mpi4py", _MPI), ("torch", _TORCH)):
        for family, (correct, shape) in {**_OF_ONE, **_WITH_A_MESSAGE}.items():
            for name, call in calls.items():
                yield Program(api, family, (name,), correct, _text(api, shape, call))
        for family, (correct, shape) in _OF_TWO.items():
            for one, two in permutations(calls, 2):
                if calls[one].lower().partition("(")[0] == calls[two].lower().partition("(")[0]:
                    continue  # The same collective: what it returns, or when it returns, differs.
                yield Program(api, family, (one, two), correct, _text(api, shape, calls[one], calls[two]))


def _text(api: str, shape: str, one: str, two: str = "") -> str:
    send, receive = "comm.Send(x, dest=1)", "comm.Recv(x, source=0)"
    if api == "torch":
        send, receive = "dist.send(x, dst=1)", "dist.recv(x, src=0)"
    body = shape.replace("SEND", send).replace("RECV", receive)
    body = "\n".join(_filled(line, one, two) for line in body.splitlines())
    head, start = (_MPI_HEAD, _MPI_START) if api == "mpi4py" else (_TORCH_HEAD, _TORCH_START)
    main = f"{dedent(start).strip()}\n{body}"
    return f"{head.strip()}\n\n\ndef main():\n{indent(main, '    ')}\n\n\nmain()\n"


def _filled(line: str, one: str, two: str) -> str:
    """A line of the shape that is `A` or `B`, with what it stands for."""
    word = line.strip()
    return line.replace(word, {"A": one, "B": two}[word]) if word in ("A", "B") else line
