"""Values that come by way of what is called: a method by a name that is worked out, a function that an object was
given, a listener, an object made to have anything put into it, the key of an order."""

from __future__ import annotations

import pytest
from support.source.levels import level

_HEAD = """
from dataclasses import dataclass
from types import SimpleNamespace
import torch
import torch.distributed as dist
"""
_OWN = "open(f'part{dist.get_rank()}').read().count('x')"

VARYING = {
    "a method by a name that is handed over": """
class State:
    def __init__(self):
        self.loss, self.reasons = 0, []
class Patience:
    def __init__(self):
        self.bad = 0
    def on_round(self, state):
        if state.loss > 3:
            self.bad += 1
        if self.bad > 2:
            state.reasons.append("patience")
def fire(hooks, event, state):
    for hook in hooks:
        getattr(hook, event)(state)
def main():
    state, hooks = State(), [Patience()]
    for _ in range(9):
        state.loss = OWN
        fire(hooks, "on_round", state)
        if state.reasons:
            dist.barrier()
""",
    "a function that the constructor was given": """
class Watch:
    def __init__(self, read):
        self.read = read
    def over(self):
        if self.read() > 3:
            dist.barrier()
def main():
    loss = OWN
    Watch(lambda: loss).over()
""",
    "what is put into a namespace elsewhere": """
state = SimpleNamespace(loss=0)
def measure():
    state.loss = OWN
def main():
    measure()
    if state.loss > 3:
        dist.barrier()
""",
    "a listener that is an object, registered by a call": """
class Bus:
    def __init__(self):
        self.listeners = []
    def on(self):
        def register(listener):
            self.listeners.append(listener)
            return listener
        return register
    def emit(self, loss):
        for listener in self.listeners:
            listener(loss)
class Stop:
    def __init__(self, bus):
        bus.on()(self)
    def __call__(self, loss):
        if loss > 3:
            dist.barrier()
def main():
    bus = Bus(); Stop(bus)
    bus.emit(OWN)
""",
    "which item comes first by a key": """
def main():
    scores = [OWN, 2, 3]
    first = sorted(range(3), key=lambda one: scores[one])[0]
    if first == 2:
        dist.barrier()
""",
    "the largest by a key": """
def main():
    scores = [OWN, 2, 3]
    if max(range(3), key=lambda one: scores[one]) == 2:
        dist.barrier()
""",
    "which of the objects that the program makes an annotated one is": """
@dataclass
class Batch:
    tokens: object
    patches: object
def collate(tokens, patches):
    if not patches:
        return Batch(tokens, None)
    return Batch(tokens, torch.stack(patches))
def use(batch: Batch):
    if batch.patches is not None:
        dist.barrier()
def main():
    use(collate(OWN, OWN))
""",
    "what an object's own iterator gives its methods": """
class Board:
    def __init__(self):
        self.rows = {}
    def note(self, name):
        if name not in self.rows:
            self.rows[name] = 0
    def __iter__(self):
        yield from sorted(self.rows.items())
    def finish(self):
        for name, row in self:
            dist.barrier()
def main():
    board = Board()
    for name in OWN:
        board.note(name)
    board.finish()
""",
    "its own length, by what it was filled with": """
class Board:
    def __init__(self):
        self.rows = {}
    def __len__(self):
        return len(self.rows)
    def finish(self):
        if len(self) > 2:
            dist.barrier()
def main():
    board = Board()
    for name in OWN:
        board.rows[name] = 0
    board.finish()
""",
    "what was logged in the trainer of a module of Lightning": """
import lightning as L
class Net(L.LightningModule):
    def on_train_epoch_end(self):
        if self.trainer.callback_metrics["loss"] > 2:
            dist.barrier()
""",
    "a file that is each rank's own": """
from pathlib import Path
def main():
    if Path(f"part{dist.get_rank()}").read_text() > "3":
        dist.barrier()
""",
}
UNIFORM = {
    "how many ranks the trainer of a module of Lightning has": """
import lightning as L
class Net(L.LightningModule):
    def on_train_epoch_end(self):
        if self.trainer.world_size > 2:
            dist.barrier()
""",
    "what an object's own iterator gives its methods of what all put in": """
class Board:
    def __init__(self):
        self.rows = {}
    def __iter__(self):
        yield from sorted(self.rows.items())
    def finish(self):
        for name, row in self:
            dist.barrier()
def main():
    board = Board()
    for name in ("loss", "rate"):
        board.rows[name] = 0
    board.finish()
""",
    "a function given to another object": """
class Watch:
    def __init__(self, read):
        self.read = read
    def over(self):
        if self.read() > 3:
            dist.barrier()
def main():
    Watch(lambda: 5).over()
""",
    "a namespace that nothing is put into": """
state = SimpleNamespace(rounds=4)
def main():
    if state.rounds > 3:
        dist.barrier()
""",
    "as many batches as a constant says": """
def main():
    x = torch.randn(64, 4, generator=torch.Generator().manual_seed(OWN))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), batch_size=8)
    for batch in loader:
        dist.barrier()
""",
    "what an annotated object has that is made in one place": """
@dataclass
class Batch:
    tokens: object
    patches: object
def collate(tokens, patches):
    return Batch(tokens, torch.stack(patches))
def use(batch: Batch):
    if batch.patches is not None:
        dist.barrier()
def main():
    use(collate(OWN, OWN))
""",
}
UNKNOWN = {
    "a file that all read by one name": """
from pathlib import Path
def main():
    if Path("settings.json").read_text() > "3":
        dist.barrier()
""",
    "how many were put in, in the order of a set": """
def main():
    rows = {}
    for name in {"loss", "rate"}:
        if name not in rows:
            rows[name] = 0
    for name in sorted(rows):
        dist.barrier()
""",
    "a counter under a test of which nothing is known": """
class Patience:
    def __init__(self, look):
        self.bad, self.look = 0, look
    def seen(self):
        if self.look.anything():
            self.bad += 1
    def over(self):
        if self.bad > 2:
            dist.barrier()
""",
}


def _level(text: str) -> str:
    return level(_HEAD + text.replace("OWN", _OWN))


@pytest.mark.parametrize("text", VARYING.values(), ids=VARYING)
def test_what_comes_from_a_ranks_own_data_varies(text: str) -> None:
    assert _level(text) == "varying"


@pytest.mark.parametrize("text", UNIFORM.values(), ids=UNIFORM)
def test_what_all_have_is_uniform(text: str) -> None:
    assert _level(text) == "uniform"


@pytest.mark.parametrize("text", UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_known_is_not_called_uniform(text: str) -> None:
    assert _level(text) == "unknown"
