"""What trainers of frameworks tell, as steps and phases. Frameworks are imported where they are asked for."""

# ruff: noqa: ARG002 - callbacks get what they get

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from rankandfile.runtime import watchers
from rankandfile.runtime.guards.decisions import step

T = TypeVar("T")


def lightning() -> Any:
    """A callback for a `Trainer` of Lightning."""
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback

    class Told(Callback):  # type: ignore[misc, unused-ignore]
        """Tells the recorder of steps and phases."""

        def on_train_batch_start(self, trainer: Any, *_: Any) -> None:
            step(trainer.global_step)
            watchers.phased("forward")

        def on_before_backward(self, *_: Any) -> None:
            watchers.phased("backward")

        def on_before_optimizer_step(self, *_: Any) -> None:
            watchers.phased("optimizer")

        def on_train_batch_end(self, *_: Any) -> None:
            watchers.phased("data")

        def on_validation_start(self, *_: Any) -> None:
            watchers.phased("evaluate")

        def on_validation_end(self, *_: Any) -> None:
            watchers.phased("data")

        def on_save_checkpoint(self, *_: Any) -> None:
            watchers.phased("save")

    return Told()


def transformers() -> Any:
    """A callback for the `Trainer` of Hugging Face."""
    from transformers import TrainerCallback

    class Told(TrainerCallback):  # type: ignore[misc, unused-ignore]
        """Tells the recorder of steps and phases."""

        def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            step(state.global_step)
            watchers.phased("forward")

        def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            watchers.phased("optimizer")

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            # It says nothing before it evaluates or saves, but has decided by now.
            saves = "save" if control.should_save else "data"
            watchers.phased("evaluate" if control.should_evaluate else saves)

        def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            watchers.phased("save" if control.should_save else "data")

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            watchers.phased("data")

    return Told()


def accelerate(accelerator: T) -> T:
    """The accelerator, of which `backward` counts the steps and whose saving is told."""
    told: Any = accelerator
    count = -1

    @functools.wraps(told.backward)
    def backward(*arguments: Any, _backward: Callable[..., Any] = told.backward, **more: Any) -> Any:
        nonlocal count
        count += 1
        step(count)
        return _during("backward", "optimizer", _backward)(*arguments, **more)

    told.backward = backward
    for name in ("save_state", "save_model", "load_state"):
        setattr(told, name, _during("save", "forward", getattr(told, name)))
    return accelerator


def ray(loop: Callable[..., T]) -> Callable[..., T]:
    """The function that Ray Train runs on its workers: what it reports are its steps, and checkpoints are saved."""

    @functools.wraps(loop)
    def told(*arguments: Any) -> T:
        from ray import train

        reported = -1
        report = train.report

        @functools.wraps(report)
        def tell(*told: Any, **more: Any) -> Any:
            nonlocal reported
            reported += 1
            step(reported)
            done = _during("save", "data", report) if more.get("checkpoint") else report
            return done(*told, **more)

        train.report = tell
        try:
            return loop(*arguments)
        finally:
            train.report = report

    return told


def _during(phase: str, after: str, call: Callable[..., T]) -> Callable[..., T]:
    @functools.wraps(call)
    def told(*arguments: Any, **more: Any) -> T:
        watchers.phased(phase)
        try:
            return call(*arguments, **more)
        finally:
            watchers.phased(after)

    return told
