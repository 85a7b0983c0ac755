"""Collectives that a line does not name."""

from __future__ import annotations

import ast

import pytest
from program_texts import Texts, place

from rankandfile.source.implied import implicit
from rankandfile.source.names import own_nodes

DDP = "from torch.nn.parallel import DistributedDataParallel as DDP\nmodel = DDP(Net())\n"
FSDP2 = "from torch.distributed.fsdp import fully_shard\nmodel = Net()\nfully_shard(model)\n"
NET = "from torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n"
STEP = "loss = model(1).sum()\nloss.backward()\n"


def implied(words: str, code: str) -> str | None:
    _program, function, line = place(Texts(a=code), words)
    found = [
        implicit(node, function)
        for node in own_nodes(function)
        if isinstance(node, (ast.Call, ast.Attribute)) and node.lineno == line
    ]
    return next((answer for answer in found if answer), None)


@pytest.mark.parametrize(
    ("words", "code", "answer"),
    [
        ("loss.backward()", NET + DDP + STEP, "DDP reduces gradients here"),
        ("loss.backward()", NET + FSDP2 + STEP, "FSDP gathers parameters and reduces gradients here"),
        ("model(1)", NET + FSDP2 + STEP, "FSDP gathers parameters here"),
        ("loss.backward()", NET + "model = Net()\n" + STEP, None),
        (
            "trainer.log_dir",
            "from lightning.pytorch import Trainer\ntrainer = Trainer()\npath = trainer.log_dir\n",
            "Lightning broadcasts the log directory here",
        ),
        (
            "wait_for_everyone",
            "from accelerate import Accelerator\na = Accelerator()\na.wait_for_everyone()\n",
            "barrier on all ranks",
        ),
        (
            "new_group",
            "import torch.distributed as dist\ng = dist.new_group([0])\n",
            "new_group is for all ranks of the job, members or not",
        ),
        (
            "compute",
            "class M:\n    def compute(self):\n        return 1\nM().compute()  # compute it\n",
            None,
        ),
    ],
)
def test_a_line_and_what_it_implies(words: str, code: str, answer: str | None) -> None:
    words = words if sum(words in line for line in code.splitlines()) == 1 else "# compute it"
    assert implied(words, code) == answer


def test_frames_of_the_framework_tell_as_well() -> None:
    assert implicit(None, None, ["forward", "_sync_buffers", "broadcast"]) == "DDP broadcasts buffers here"
    assert implicit(None, None, ["train_step", "main"]) is None
