"""Turning the recorder on in this process."""

from __future__ import annotations

import atexit
import os
import sys
from pathlib import Path

from rankandfile.runtime import watchers
from rankandfile.runtime.recorder import current, kernels, native
from rankandfile.runtime.switch import recorder_on
from rankandfile.wire import layout


def start() -> Path | None:
    """Record from now on; returns the ring's path, or None where that is turned off or impossible. Never raises."""
    if not recorder_on():
        return None
    if current.now.recorder is not None:
        return current.now.recorder.ring.path
    try:
        if not kernels.installed():
            current.now.native = native.load()
        path = current.open_ring()
        kernels.install(current.now.native)
    except Exception as error:
        current.give_up()
        # What remains is torch's own recorder, which `raf run` asks then.
        sys.stderr.write(
            f"raf: not recording, torch's own recorder must do: {type(error).__name__}: {error}\n"
        )
        return None
    if _step not in watchers.on_step:
        atexit.register(current.close)
        os.register_at_fork(after_in_child=current.forked)
        watchers.on_step.append(_step)
        watchers.on_decision.append(_decision)
        watchers.on_phase.append(_phase)
    return path


def _step(steps: tuple[str, ...]) -> None:
    recorder = current.now.recorder
    if recorder is not None:
        try:
            recorder.step(steps)
        except Exception:
            recorder.failures += 1


def _phase(phase: str) -> None:
    recorder = current.now.recorder
    if recorder is not None:
        try:
            recorder.note(layout.PHASE, phase, "", layout.PHASES.index(phase) + 1)
        except Exception:
            recorder.failures += 1


def _decision(kind: str, name: str, outcome: str) -> None:
    recorder = current.now.recorder
    if recorder is not None:
        try:
            recorder.decision(kind, name, outcome)
        except Exception:
            recorder.failures += 1
