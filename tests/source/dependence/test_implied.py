"""Collectives that a line does not name."""

from __future__ import annotations

import ast

import pytest
from support.source.program_texts import Texts, place

from rankandfile.source.lines.implied_collectives import implicit
from rankandfile.source.program.scopes import own_nodes

DDP = "from torch.nn.parallel import DistributedDataParallel as DDP\nmodel = DDP(Net())\n"
FSDP2 = "from torch.distributed.fsdp import fully_shard\nmodel = Net()\nfully_shard(model)\n"
NET = "from torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n"
FSDP1 = "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\nmodel = FSDP(Net())\n"
SYNC_BN = "model = nn.SyncBatchNorm.convert_sync_batchnorm(Net())\n"
DTENSOR = "from torch.distributed.tensor import distribute_tensor\nx = distribute_tensor(t, mesh)\n"
ZERO = (
    "from torch.distributed.optim import ZeroRedundancyOptimizer\nopt = ZeroRedundancyOptimizer([], object)\n"
)
DCP = "import torch.distributed.checkpoint as dcp\n"
METRIC = "from torchmetrics.classification import MulticlassAccuracy\nm = MulticlassAccuracy(3)\n"
HF = "from transformers import Trainer\nt = Trainer()\n"
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
        ("loss.backward()", NET + FSDP1 + STEP, "FSDP gathers parameters and reduces gradients here"),
        ("model(1)", NET + FSDP1 + STEP, "FSDP gathers parameters here"),
        ("model(1)", NET + DDP + STEP, "DDP may broadcast buffers here"),
        ("model(1)", NET + SYNC_BN + STEP, "SyncBatchNorm gathers statistics here"),
        ("full_tensor", DTENSOR + "y = x.full_tensor()\n", "DTensor gathers its shards here"),
        ("redistribute", DTENSOR + "y = x.redistribute(mesh)\n", "DTensor moves its shards here"),
        (
            "clip_grad",
            "import torch\ntorch.nn.utils.clip_grad_norm_([], 1.0)\n",
            "the norm of sharded gradients is reduced here",
        ),
        ("opt.step()", ZERO + "opt.step()\n", "the sharded optimizer broadcasts its part here"),
        (
            "dcp.save",
            DCP + "dcp.save({}, checkpoint_id='x')\n",
            "the checkpoint is planned and written by all ranks together",
        ),
        (
            "dcp.load",
            DCP + "dcp.load({}, checkpoint_id='x')\n",
            "the checkpoint is planned and read by all ranks together",
        ),
        (
            "m.compute()",
            METRIC + "m.compute()\n",
            "torchmetrics gathers the metric's state from all ranks here",
        ),
        ("m.update", METRIC + "m.update(1, 2)\n", None),
        ("t.train()", HF + "t.train()\n", "training reduces gradients on all ranks"),
        ("save_model", HF + "t.save_model('x')\n", "sharded parameters are gathered here"),
        (
            "trainer.fit",
            "from lightning.pytorch import Trainer\ntrainer = Trainer()\ntrainer.fit(m)\n",
            "the strategy runs the model on all ranks here",
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
