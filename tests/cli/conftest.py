"""Jobs that commands look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile.lab.sim.run import simulate


@pytest.fixture(scope="session")
def other_op(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dumps of a job whose rank 1 asked for another operation than its peers."""
    return simulate("peers-other-op", tmp_path_factory.mktemp("sim") / "other-op") / "evidence" / "dumps"


@pytest.fixture(scope="session")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dumps of a job that finished."""
    return simulate("healthy-ddp", tmp_path_factory.mktemp("sim") / "healthy") / "evidence" / "dumps"
