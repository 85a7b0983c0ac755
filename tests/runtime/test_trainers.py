"""What trainers tell of steps and phases, with the real ones where they are installed."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.capture.recorded import job

from rankandfile import trainers
from rankandfile.capture.sentinel.digests import digest
from rankandfile.capture.sentinel.ranks import Ranks
from rankandfile.capture.watch.rings import look
from rankandfile.runtime import watchers
from rankandfile.runtime.recorder.recorder import Recorder


@pytest.fixture
def told() -> Iterator[list[str]]:
    """Steps and phases, in order, each phase once."""
    said: list[str] = []
    on_step, on_phase = (lambda steps: said.append(steps[-1])), said.append
    watchers.on_step.append(on_step)
    watchers.on_phase.append(on_phase)
    yield said
    watchers.on_step.remove(on_step)
    watchers.on_phase.remove(on_phase)


def phases(said: list[str]) -> list[str]:
    return [one for one, _ in itertools.groupby(one for one in said if not one.isdecimal())]


def steps(said: list[str]) -> list[str]:
    return [one for one in said if one.isdecimal()]


def test_of_lightning(told: list[str], tmp_path: Path) -> None:
    pytest.importorskip("lightning")
    torch: Any = pytest.importorskip("torch")
    import lightning.pytorch as pl
    from lightning.pytorch.demos.boring_classes import BoringModel

    torch.manual_seed(0)
    trainer = pl.Trainer(
        accelerator="cpu", max_epochs=1, limit_train_batches=3, limit_val_batches=1, num_sanity_val_steps=0,
        logger=False,
        default_root_dir=tmp_path, callbacks=[trainers.lightning()], enable_progress_bar=False,
    )  # fmt: skip
    trainer.fit(BoringModel())
    assert steps(told) == ["0", "1", "2"]
    assert phases(told)[:5] == ["forward", "optimizer", "backward", "optimizer", "data"] or phases(told)[:4] == [
        "forward", "backward", "optimizer", "data",
    ]  # fmt: skip
    assert {"evaluate", "save"} <= set(told)


def test_of_transformers(told: list[str], tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    torch: Any = pytest.importorskip("torch")
    pytest.importorskip("accelerate")
    from transformers import Trainer, TrainingArguments

    class Model(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def forward(self, x: Any, labels: Any = None) -> Any:
            out = self.layer(x)
            return {"loss": ((out - labels) ** 2).mean(), "logits": out}

    data = [{"x": torch.ones(2), "labels": torch.ones(1)} for _ in range(4)]
    arguments = TrainingArguments(
        output_dir=str(tmp_path), max_steps=4, per_device_train_batch_size=1, use_cpu=True, report_to=[],
        eval_strategy="steps", eval_steps=2, save_steps=2,
    )  # fmt: skip
    Trainer(
        model=Model(),
        args=arguments,
        train_dataset=data,
        eval_dataset=data[:1],
        callbacks=[trainers.transformers()],
    ).train()
    assert steps(told) == ["0", "1", "2", "3"]
    first = ["forward", "optimizer", "data", "forward", "optimizer", "evaluate", "save", "data"]
    assert phases(told)[:8] == first


def test_of_accelerate(told: list[str], tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    torch: Any = pytest.importorskip("torch")
    from accelerate import Accelerator

    accelerator = trainers.accelerate(Accelerator(cpu=True))
    model, optimizer = accelerator.prepare(
        layer := torch.nn.Linear(2, 1), torch.optim.SGD(layer.parameters(), 0.1)
    )
    for _ in range(3):
        accelerator.backward(model(torch.ones(1, 2)).sum())
        optimizer.step()
    accelerator.save_state(str(tmp_path / "state"))
    assert steps(told) == ["0", "1", "2"]
    assert phases(told) == [
        "backward",
        "optimizer",
        "backward",
        "optimizer",
        "backward",
        "optimizer",
        "save",
        "forward",
    ]


def test_of_ray(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop reports as often as it likes; a report with a checkpoint saves."""
    train: Any = pytest.importorskip("ray.train")
    reports: list[dict[str, Any]] = []
    monkeypatch.setattr(train, "report", lambda metrics, **_: reports.append(metrics))

    def loop(config: dict[str, int]) -> None:
        for number in range(config["steps"]):
            train.report({"loss": number}, checkpoint="here" if number == 1 else None)

    trainers.ray(loop)({"steps": 3})
    assert reports == [{"loss": 0}, {"loss": 1}, {"loss": 2}]
    assert told == ["0", "1", "save", "data", "2"]


@pytest.mark.torch
def test_a_digest_tells_them(tmp_path: Path) -> None:
    """Also after more steps than a ring keeps texts of."""
    pytest.importorskip("torch")
    (rank,) = job(tmp_path, 1)
    recorder = Recorder(rank._ring)
    for number in (*range(5000), 123_456):
        recorder.step(("1", str(number)))
    recorder.note("phase", "evaluate", "", 6)
    ranks = Ranks()
    ranks.look(look(tmp_path), time.time())
    found = digest(next(iter(ranks.known.values())), time.time())
    assert (found.step, found.phase) == (123_456, "evaluate")
