"""Running `raf` as a person would, in this process: arguments in, status and both streams out."""

from __future__ import annotations

from pathlib import Path

import pytest
from raf_runs import Raf, in_process

from rankandfile.lab.sim.run import simulate


@pytest.fixture
def raf(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Raf:
    return in_process(monkeypatch, capfd)


@pytest.fixture(scope="session")
def other_op(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dumps of a job whose rank 1 asked for another operation than its peers."""
    return simulate("peers-other-op", tmp_path_factory.mktemp("sim") / "other-op") / "evidence" / "dumps"


@pytest.fixture(scope="session")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dumps of a job that finished."""
    return simulate("healthy-ddp", tmp_path_factory.mktemp("sim") / "healthy") / "evidence" / "dumps"
