"""A server and a worker that each wait for a message of the other: who of them may have gone by its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import rankandfile
from rankandfile.model.diagnosis import Verdict

WIRE = """import torch.distributed as dist

def hand(value, to):
    dist.send(value, dst=to)

def take(value, of):
    dist.recv(value, src=of)
"""
SERVER = """from wire import hand, take

class Server:
    def serve(self, flat, news):
        while True:
            take(news, 1)
            flat += news
            hand(flat, 1)
"""
WORKER = """from wire import hand, take

class Worker:
    def push(self, change):
        if change.norm() < 0.1:
            return
        hand(change, 0)

    def run(self, flat, batches):
        for batch in batches:
            self.push(flat.grad(batch))
            take(flat, 0)
"""
TRAIN = """import torch.distributed as dist
from server import Server
from worker import Worker

def main(flat, news):
    if dist.get_rank() == 0:
        Server().serve(flat, news)
    else:
        Worker().run(flat, open(f"shard-{dist.get_rank()}"))

main(*__import__("job").parts())
"""
STACKS = {
    0: "    take (wire.py:7)\n    Server.serve (server.py:6)\n    main (train.py:7)\n",
    1: "    take (wire.py:7)\n    Worker.run (worker.py:12)\n    main (train.py:9)\n",
}


def verdict(folder: Path, server: str = SERVER, worker: str = WORKER) -> Verdict:
    """Of the two, each in a receive from the other in three looks."""
    for name in ("src", "evidence"):
        (folder / name).mkdir()
    for name, text in {"wire": WIRE, "server": server, "worker": worker, "train": TRAIN}.items():
        (folder / "src" / f"{name}.py").write_text(text)
    for rank, stack in STACKS.items():
        recv = "    recv (torch/distributed/distributed_c10d.py:2799)\n"
        recv += f"        Arguments:\n            src: {1 - rank}\n"
        told = f'Process 10{rank}: python train.py\n\nThread 10{rank} (idle): "MainThread"\n{recv}{stack}'
        told += "    <module> (train.py:11)\n"
        for look in range(3):
            path = folder / "evidence" / f"stack_rank{rank}_{look}.txt"
            path.write_text(told)
            os.utime(path, (1_700_000_000 + 10 * look,) * 2)
    return rankandfile.diagnose([folder / "evidence"], src=[folder / "src"]).verdicts[0]


def test_who_alone_may_have_gone_by_its_send_is_named(tmp_path: Path) -> None:
    found = verdict(tmp_path)
    assert [one.rank for one in found.culprits] == [1], found.sentence
    assert found.location is not None
    assert (found.location.file.rpartition("/")[2], found.location.line) == ("worker.py", 5)
    assert (found.cause, "left out a message" in (found.culprits[0].doing or "")) == (
        "skipped_collective",
        True,
    )


HAND = "            hand(flat, 1)\n"
BOTH = SERVER.replace(HAND, f"            if flat.norm() > 0.1:\n    {HAND}")
GUARD = "        if change.norm() < 0.1:\n            return\n"
NOBODY = WORKER.replace(GUARD, "        change = change.clone()\n        del _\n")
#: Nothing tells how large the job is; but in a job of any size it comes out one way, in every round.
LAST = "        if dist.get_rank() == dist.get_world_size() - 1:\n            return\n"
NUMBER = "import torch.distributed as dist\n" + WORKER.replace(GUARD, LAST)


@pytest.mark.parametrize(
    "texts",
    [{"server": BOTH}, {"worker": NOBODY}, {"worker": NUMBER}],
    ids=["both", "nobody", "by its number"],
)
def test_where_both_may_or_nobody_nobody_is_named(tmp_path: Path, texts: dict[str, str]) -> None:
    found = verdict(tmp_path, **texts)
    assert not found.culprits, found.sentence
