"""What is in a container, and how much, where ranks fill it by keys and rounds of their own; who has an attribute."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile.source.dependence import why
from rankandfile.source.flow import conditions_at
from rankandfile.source.program.modules import Program

_HEAD = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler
"""

#: Of these the ranks have different ones, or nothing says that they have the same.
UNLIKE = {
    "rows of a table, filled through the item of a loop": """
def shard(rank):
    rows = [[0] * 4 for _ in range(3)]
    for number, row in enumerate(rows):
        row[0] = rank
    return rows
def main():
    for row in shard(dist.get_rank()):
        if row[0]:
            dist.barrier()
""",
    "a table of the program, filled where some ranks have an object": """
TABLE = {}
class Gate(torch.nn.Module):
    def forward(self, x):
        TABLE.setdefault("gate", x)
        return x
def build(stage):
    return Gate() if stage == 0 else torch.nn.Identity()
def go(names):
    for name in names:
        found = TABLE.get(name)
        if found is not None:
            dist.barrier()
def main():
    block = build(dist.get_rank() // 2)
    block(torch.ones(1)); go(["gate"])
""",
    "one of several metrics updated, by a key of the rank's own": """
from torchmetrics import Metric, MetricCollection
class Board:
    def __init__(self, names): self.by_name = {n: MetricCollection([]).clone() for n in names}
    def see(self, name, x): self.by_name[name].update(x)
    def go(self, metric: Metric):
        if not metric.update_called:
            dist.barrier()
def main():
    board = Board(["a", "b"])
    board.see("a" if dist.get_rank() else "b", torch.ones(1)); board.go(board.by_name["a"]["x"])
""",
    "key in self.states (stored under data key)": """
class A:
    def __init__(self): self.states = {}
    def see(self, batch):
        for key in batch["keys"].tolist():
            self.states[key] = 1
    def go(self, key):
        if key in self.states:
            dist.barrier()
def main(path):
    loader = DataLoader(D(path), sampler=DistributedSampler(D(path)))
    a = A()
    for batch in loader:
        a.see(batch)
        a.go("x")
""",
    "not in, set.add": """
class A:
    def __init__(self): self.seen = set()
    def go(self, name):
        if name not in self.seen:
            dist.barrier()
    def see(self, batch): self.seen.add(batch["id"].item())
def main(ds):
    a = A()
    for batch in DataLoader(ds, sampler=DistributedSampler(ds)):
        a.see(batch); a.go("x")
""",
    "get of rank keyed": """
def main():
    rank = dist.get_rank()
    owners = {}
    owners[rank] = True
    if owners.get(0):
        dist.barrier()
""",
    "in rank keyed": """
def main():
    rank = dist.get_rank()
    owners = {}
    owners[f"r{rank}"] = True
    if "r0" in owners:
        dist.barrier()
""",
    "len of dict by data": """
class A:
    def __init__(self): self.states = {}
    def see(self, batch):
        for key in batch["keys"].tolist():
            self.states[key] = 1
    def go(self):
        if len(self.states) > 3:
            dist.barrier()
def main(ds):
    a = A()
    for batch in DataLoader(ds, sampler=DistributedSampler(ds)):
        a.see(batch); a.go()
""",
    "len of list per item": """
class A:
    def __init__(self): self.pending = []
    def see(self, batch):
        for key in batch["keys"].tolist():
            self.pending.append(1)
    def go(self):
        if len(self.pending) > 3:
            dist.barrier()
def main(ds):
    a = A()
    for batch in DataLoader(ds, sampler=DistributedSampler(ds)):
        a.see(batch); a.go()
""",
    "truth of dict by data": """
class A:
    def __init__(self): self.states = {}
    def see(self, batch):
        if batch["bad"].any():
            self.states["bad"] = 1
    def go(self):
        if self.states:
            dist.barrier()
def main(ds):
    a = A()
    for batch in DataLoader(ds, sampler=DistributedSampler(ds)):
        a.see(batch); a.go()
""",
    "getattr default, set on rank": """
class A:
    def prepare(self):
        if dist.get_rank() == 0:
            self.writer = open("x")
    def go(self):
        if getattr(self, "writer", None) is not None:
            dist.barrier()
def main():
    a = A(); a.prepare(); a.go()
""",
    "getattr of name": """
class A:
    def prepare(self):
        if dist.get_rank() == 0:
            self.writer = open("x")
    def go(self, name):
        if getattr(self, name, None):
            dist.barrier()
def main():
    a = A(); a.prepare(); a.go("writer")
""",
    "hasattr set on rank": """
class A:
    def prepare(self):
        if dist.get_rank() == 0:
            self.writer = open("x")
    def go(self):
        if hasattr(self, "writer"):
            dist.barrier()
def main():
    a = A(); a.prepare(); a.go()
""",
    "isinstance of rank object": """
class W: pass
class N: pass
def make():
    return W() if dist.get_rank() == 0 else N()
def main():
    w = make()
    if isinstance(w, W):
        dist.barrier()
""",
    "type is": """
class W: pass
class N: pass
def main():
    if dist.get_rank() == 0:
        w = W()
    else:
        w = N()
    if type(w) is W:
        dist.barrier()
""",
    "defaultdict counter": """
from collections import Counter
class A:
    def __init__(self): self.count = Counter()
    def see(self, batch): self.count.update(batch["words"])
    def go(self):
        if "the" in self.count:
            dist.barrier()
def main(ds):
    a = A()
    for batch in DataLoader(ds, sampler=DistributedSampler(ds)):
        a.see(batch); a.go()
""",
    "setdefault by data": """
class A:
    def __init__(self): self.by = {}
    def see(self, batch): self.by.setdefault(batch["id"].item(), 0)
    def go(self, x):
        if x in self.by:
            dist.barrier()
def main(ds):
    a = A()
    for batch in DataLoader(ds, sampler=DistributedSampler(ds)):
        a.see(batch); a.go(3)
""",
    "items loop by data": """
class A:
    def __init__(self): self.by = {}
    def see(self, batch): self.by[batch["id"].item()] = 0
    def go(self):
        for k in self.by:
            dist.barrier()
def main(ds):
    a = A()
    for batch in DataLoader(ds, sampler=DistributedSampler(ds)):
        a.see(batch); a.go()
""",
    "pop and del": """
class A:
    def __init__(self): self.todo = {"a": 1, "b": 2}
    def see(self, batch):
        if batch["bad"].any():
            self.todo.pop("a", None)
    def go(self):
        if "a" in self.todo:
            dist.barrier()
def main(ds):
    a = A()
    for batch in DataLoader(ds, sampler=DistributedSampler(ds)):
        a.see(batch); a.go()
""",
    "del": """
class A:
    def __init__(self): self.todo = {"a": 1, "b": 2}
    def see(self, batch):
        if batch["bad"].any():
            del self.todo["a"]
    def go(self):
        if "a" in self.todo:
            dist.barrier()
def main(ds):
    a = A()
    for batch in DataLoader(ds, sampler=DistributedSampler(ds)):
        a.see(batch); a.go()
""",
    "discard": """
class A:
    def __init__(self): self.todo = {1, 2}
    def see(self, batch):
        self.todo.discard(batch["id"].item())
    def go(self):
        if 1 in self.todo:
            dist.barrier()
def main(ds):
    a = A()
    for batch in DataLoader(ds, sampler=DistributedSampler(ds)):
        a.see(batch); a.go()
""",
}

#: Keys and counts that are the same on all ranks, though what is stored is not.
ALIKE = {
    "a table of the program, filled by all": """
TABLE = {}
class Gate(torch.nn.Module):
    def forward(self, x):
        TABLE.setdefault("gate", x)
        return x
def go(names):
    for name in names:
        found = TABLE.get(name)
        if found is not None:
            dist.barrier()
def main():
    Gate()(torch.ones(1)); go(["gate"])
""",
    "same keys": """
class A:
    def __init__(self): self.states = {}
    def see(self, step): self.states[step] = 1
    def go(self, step):
        if step in self.states:
            dist.barrier()
def main():
    a = A()
    for step in range(10):
        a.see(step); a.go(step)
""",
    "len each step": """
class A:
    def __init__(self): self.losses = []
    def see(self, batch): self.losses.append(batch["loss"].item())
    def go(self):
        if len(self.losses) > 4:
            dist.barrier()
def main(ds):
    a = A()
    for batch in DataLoader(ds, sampler=DistributedSampler(ds)):
        a.see(batch); a.go()
""",
    "dict of values": """
class A:
    def __init__(self): self.metrics = {}
    def see(self, batch): self.metrics["loss"] = batch["loss"].item()
    def go(self):
        if "loss" in self.metrics:
            dist.barrier()
def main(ds):
    a = A()
    for batch in DataLoader(ds, sampler=DistributedSampler(ds)):
        a.see(batch); a.go()
""",
    "isinstance": """
class W: pass
def main(cfg):
    w = W()
    if isinstance(w, W):
        dist.barrier()
""",
}


class Folder:
    def __init__(self, root: Path) -> None:
        self.root = root

    def paths(self) -> list[str]:
        return ["p.py"]

    def read(self, path: str) -> str | None:
        return (self.root / path).read_text()


def level(tmp_path: Path, text: str) -> str:
    """Of the condition right above the collective."""
    (tmp_path / "p.py").write_text(_HEAD + text)
    program = Program(Folder(tmp_path))
    module = program.module("p.py")
    lines = (_HEAD + text).splitlines()
    line = next(i for i, words in enumerate(lines) if "dist.barrier()" in words)
    function = module.function_at(line) if module is not None else None
    assert function is not None
    levels = {why(program, function, condition).level for condition in conditions_at(function, line)}
    return levels.pop() if len(levels) == 1 else str(levels)


@pytest.mark.parametrize("text", UNLIKE.values(), ids=UNLIKE)
def test_what_ranks_fill_differently_is_not_uniform(tmp_path: Path, text: str) -> None:
    assert level(tmp_path, text) in ("varying", "unknown")


@pytest.mark.parametrize("text", ALIKE.values(), ids=ALIKE)
def test_the_same_keys_and_as_many_are_uniform(tmp_path: Path, text: str) -> None:
    assert level(tmp_path, text) == "uniform"


RESUMED = """
import os
import torch.distributed.checkpoint as dcp

def main(where):
    state = {"rounds": 0}
    folder = FOLDER
    dcp.load(state, checkpoint_id=folder)
    if state["rounds"] < 8:
        dist.barrier()
"""


@pytest.mark.parametrize(
    ("folder", "expected"), [('max(os.listdir("/scratch/saved"))', "varying"), ('"/shared/saved"', "uniform")]
)
def test_what_a_checkpoint_fills_depends_on_where_it_is_read_from(
    tmp_path: Path, folder: str, expected: str
) -> None:
    assert level(tmp_path, RESUMED.replace("FOLDER", folder)) == expected
