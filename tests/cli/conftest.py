"""Running `raf` as a person would, in this process: arguments in, status and both streams out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from raf_runs import Done, Raf

from rankandfile.cli.main import main
from rankandfile.lab.sim.run import simulate


@pytest.fixture
def raf(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Raf:
    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["raf", *map(str, arguments)])
        status = 0
        try:
            main()
        except SystemExit as exit:
            status = exit.code if isinstance(exit.code, int) else 1
        streams = capfd.readouterr()
        return Done(status, streams.out, streams.err)

    return run


@pytest.fixture(scope="session")
def other_op(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dumps of a job whose rank 1 asked for another operation than its peers."""
    return simulate("peers-other-op", tmp_path_factory.mktemp("sim") / "other-op") / "evidence" / "dumps"


@pytest.fixture(scope="session")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dumps of a job that finished."""
    return simulate("healthy-ddp", tmp_path_factory.mktemp("sim") / "healthy") / "evidence" / "dumps"
