"""`raf attach` without root: as the user of the job, and as somebody else. Only root can become both."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import rankandfile

OWNER, OTHER = 65534, 65533

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="needs root, and setpriv to be somebody else",
)


def as_user(user: int) -> list[str]:
    """In front of a command. Where this Python lies in a folder that is root's alone, it may be read nevertheless."""
    ids = [f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    files = [Path(sys.executable).resolve(), Path(rankandfile.__file__).resolve(), Path(sys.prefix) / "bin"]
    folders = {folder for file in files for folder in file.parents}
    if all(folder.stat().st_mode & 0o001 for folder in folders):
        return ["setpriv", *ids]
    return ["setpriv", *ids, "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where the job's user may write; a test's own folder is root's."""
    with tempfile.TemporaryDirectory(prefix="raf-user-") as name:
        os.chown(name, OWNER, OWNER)
        yield Path(name)


@pytest.fixture
def rank(folder: Path) -> Iterator[int]:
    env = {**os.environ, "RANK": "3", "RAF_RING_DIR": str(folder), "HOME": str(folder)}
    code = "import time\nprint('ready', flush=True)\ntime.sleep(600)"
    process = subprocess.Popen(
        [*as_user(OWNER), sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, cwd=folder
    )
    assert process.stdout is not None
    with process, process.stdout:
        if process.stdout.readline() != b"ready\n":
            pytest.skip("this Python cannot run as another user")
        yield process.pid
        process.kill()


def attached(user: int, pid: int, out: Path) -> subprocess.CompletedProcess[str]:
    command = [*as_user(user), sys.executable, "-m", "rankandfile", "attach", str(pid), "--out", str(out)]
    env = {**os.environ, "HOME": str(out.parent)}
    return subprocess.run(command, env=env, cwd=out.parent, capture_output=True, text=True, check=False)


def test_as_the_user_of_the_job(rank: int, folder: Path) -> None:
    done = attached(OWNER, rank, folder / "case")
    assert "1 processes, 0 with rings" in done.stderr
    assert "no stack" not in done.stderr
    assert "time.sleep" in (folder / "case/evidence/stacks/pyspy_rank_3_later.json").read_text() or (
        "<module>" in (folder / "case/evidence/stacks/pyspy_rank_3_later.json").read_text()
    )


def test_as_somebody_else(rank: int) -> None:
    """One line says whose it is and what would do."""
    with tempfile.TemporaryDirectory(prefix="raf-other-") as name:
        os.chown(name, OTHER, OTHER)
        done = attached(OTHER, rank, Path(name) / "case")
    told = [line for line in done.stderr.splitlines() if "stack" in line]
    assert told == [f"raf: no stack of pid {rank}: it belongs to user {OWNER}: run as that user or as root"]
    assert done.returncode != 1 and "Traceback" not in done.stderr
