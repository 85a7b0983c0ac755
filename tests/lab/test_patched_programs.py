"""Programs of several files hang for real; what `raf fix` offers for each is applied, and run.

Patched, the hang is gone; and where nothing is wrong with the data, the patched program gives the numbers that the
program gave before. Where every change would send a rank into what it has nothing for, none is offered.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from rankandfile.lab.ranks import free_port

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.torch]

RANKS = 3
BEGIN = """
    import os
    import torch
    import torch.distributed as dist

    FAULT = os.environ.get("FAULT") == "1"
"""

#: What decides is asked twice in one step: both calls are left out, or neither.
SPIKES = {
    "engine.py": """
        import torch.distributed as dist

        class Engine:
            def __init__(self, weight, limit):
                self.weight, self.limit = weight, limit

            def step(self, batch):
                loss = (self.weight * batch).sum()
                loss.backward()
                spike = batch.max().item() > self.limit
                if not spike:
                    dist.all_reduce(self.weight.grad)
                    self.weight.data -= 0.01 * self.weight.grad
                self.weight.grad.zero_()
                total = loss.detach()
                if not spike:
                    dist.all_reduce(total)
                dist.broadcast(total, src=0)
                return round(total.item(), 3)
        """,
    "main.py": BEGIN
    + """
    from engine import Engine

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    engine = Engine(torch.ones(4, requires_grad=True), limit=50.0)
    for step in range(6):
        batch = torch.full((4,), float(rank + step))
        if FAULT and rank == 1 and step == 3:
            batch[0] = 99.0
        print(engine.step(batch))
    dist.destroy_process_group()
    """,
}

#: One rank has no file to load: nobody may be sent to load it.
RESUMED = {
    "checkpoint.py": """
        import os
        import torch
        import torch.distributed as dist

        class Checkpoint:
            def __init__(self, folder, rank):
                self.path = os.path.join(folder, f"{rank}.pt")

            def resume(self, weight):
                if os.path.exists(self.path):
                    kept = torch.load(self.path)
                    step = torch.tensor([kept["step"]])
                    dist.all_reduce(step, op=dist.ReduceOp.MIN)
                    weight.copy_(kept["weight"])
                    return int(step)
                return 0
        """,
    "main.py": BEGIN
    + """
    import tempfile
    from checkpoint import Checkpoint

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    mine = Checkpoint(tempfile.mkdtemp(), rank)
    if not (FAULT and rank == 1):
        torch.save({"step": 4, "weight": torch.ones(2)}, mine.path)
    weight = torch.zeros(2)
    dist.all_reduce(weight)
    for step in range(mine.resume(weight), 8):
        part = torch.full((2,), float(step))
        dist.all_reduce(part)
        weight += part
    dist.broadcast(weight, src=0)
    print(weight.tolist())
    dist.destroy_process_group()
    """,
}

#: A flag of one object, set in one file, ends a loop and is asked again behind it in another.
STOPPED = {
    "state.py": """
        class State:
            stop = False
            bad = 0

        STATE = State()
        """,
    "patience.py": """
        from state import STATE

        def after_round(loss):
            STATE.bad = 0 if loss < 1.0 else STATE.bad + 1
            if STATE.bad > 1:
                STATE.stop = True
        """,
    "main.py": BEGIN
    + """
    from patience import after_round
    from state import STATE

    def fit(rank, weight):
        rounds = 0
        while not STATE.stop:
            part = torch.ones(2) * (rank + rounds)
            dist.all_reduce(part)
            weight += part
            after_round(2.0 if FAULT and rank == 2 else 0.5)
            rounds += 1
            if rounds == 6:
                break
        if not STATE.stop:
            dist.barrier()
        dist.broadcast(weight, src=0)
        return weight.tolist()

    dist.init_process_group("gloo")
    print(fit(dist.get_rank(), torch.zeros(2)))
    dist.destroy_process_group()
    """,
}

#: A rank that has found nothing has nothing to put together.
NOTHING_FOUND = {
    "evaluate.py": """
        import torch
        import torch.distributed as dist

        class Evaluator:
            def __init__(self):
                self.found = []

            def merge(self):
                if not self.found:
                    return 0.0
                mine = torch.cat(self.found)
                count = torch.tensor([mine.numel()])
                dist.all_reduce(count)
                return float(count)
        """,
    "main.py": BEGIN
    + """
    from evaluate import Evaluator

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    for round in range(4):
        evaluator = Evaluator()
        if not (FAULT and rank == 1 and round == 2):
            evaluator.found.append(torch.ones(3))
        weight = torch.ones(2)
        dist.broadcast(weight, src=0)
        print(evaluator.merge())
    dist.barrier()
    dist.destroy_process_group()
    """,
}

#: Two of a mesh never come to the test: no vote there would be answered by all.
ONE_CORNER = {
    "layout.py": """
        from dataclasses import dataclass
        from torch.distributed.device_mesh import init_device_mesh

        @dataclass
        class Layout:
            mesh: object

            @classmethod
            def of(cls, dp, tp):
                return cls(init_device_mesh("cpu", (dp, tp), mesh_dim_names=("dp", "tp")))

            @property
            def head(self):
                return self.mesh.get_local_rank("tp") == 0

            def busy(self, norm):
                return norm.item() > 3.0
        """,
    "main.py": BEGIN
    + """
    from layout import Layout

    def report(layout, weight):
        if layout.head:
            if layout.busy(weight.norm()):
                dist.barrier()

    dist.init_process_group("gloo")
    layout = Layout.of(1, 3)
    for step in range(4):
        weight = torch.ones(2) * (5.0 if FAULT and step == 2 else 1.0)
        dist.broadcast(weight, src=0)
        report(layout, weight)
    dist.destroy_process_group()
    """,
}


def _written(files: dict[str, str], folder: Path) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(textwrap.dedent(text))
    return folder


def _run(*words: str, folder: Path, fault: bool) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "FAULT": "1" if fault else "0", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def _job(folder: Path, *, fault: bool, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    words = (
        "-m",
        "torch.distributed.run",
        f"--nproc-per-node={RANKS}",
        f"--master-port={free_port()}",
        "main.py",
    )
    return _run(*before, sys.executable, *words, folder=folder, fault=fault)


def _fixed(files: dict[str, str], tmp_path: Path) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The program made to hang, and what `raf fix --apply` made of it."""
    source, case = _written(files, tmp_path / "src"), tmp_path / "case"
    raf = (sys.executable, "-m", "rankandfile")
    watched = (*raf, "run", "--stall", "4", "--on-hang", "dump-and-kill", "--out", str(case), "--")
    hung = _job(source, fault=True, before=watched)
    assert case.is_dir(), hung.stderr[-2000:]
    return source, _run(*raf, "fix", str(case), "--src", str(source), "--apply", folder=tmp_path, fault=True)


@pytest.mark.parametrize("files", [SPIKES, RESUMED, STOPPED], ids=["spikes", "resumed", "stopped"])
def test_what_is_offered_mends(files: dict[str, str], tmp_path: Path) -> None:
    healthy = _job(_written(files, tmp_path / "healthy"), fault=False)
    assert healthy.returncode == 0, healthy.stderr[-2000:]
    source, fixed = _fixed(files, tmp_path)
    assert fixed.returncode == 1 and "written" in fixed.stderr, fixed.stderr
    mended = _job(source, fault=True)
    assert mended.returncode == 0, fixed.stderr + mended.stderr[-2000:]
    # Lines of several processes may cut each other; what is printed is the same.
    assert sorted(_job(source, fault=False).stdout) == sorted(healthy.stdout)


@pytest.mark.parametrize("files", [NOTHING_FOUND, ONE_CORNER], ids=["nothing found", "one corner"])
def test_what_could_not_run_is_not_offered(files: dict[str, str], tmp_path: Path) -> None:
    _, fixed = _fixed(files, tmp_path)
    assert fixed.returncode == 3 and "decide" in fixed.stderr, fixed.stderr
