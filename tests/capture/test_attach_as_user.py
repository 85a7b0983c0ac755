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

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0 or shutil.which("setpriv") is None,
        reason="needs root, and setpriv to be somebody else",
    ),
]


def as_user(user: int) -> list[str]:
    """In front of a command. Where this Python lies in a folder that is root's alone, it may be read nevertheless."""
    ids = [f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    files = [Path(sys.executable).resolve(), Path(rankandfile.__file__).resolve(), Path(sys.prefix) / "bin"]
    folders = {folder for file in files for folder in file.parents}
    if all(folder.stat().st_mode & 0o001 for folder in folders):
        return ["setpriv", *ids]
    return ["setpriv", *ids, "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]


@pytest.fixture
def folders() -> Iterator[dict[int, Path]]:
    """Where each of the users may write; a test's own folder is root's."""
    with tempfile.TemporaryDirectory(prefix="raf-user-") as owners, tempfile.TemporaryDirectory() as others:
        os.chown(owners, OWNER, OWNER)
        os.chown(others, OTHER, OTHER)
        yield {OWNER: Path(owners), OTHER: Path(others)}


@pytest.fixture
def rank(folders: dict[int, Path]) -> Iterator[int]:
    folder = folders[OWNER]
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


def attach(user: int, pid: int, folder: Path) -> subprocess.Popen[str]:
    command = [*as_user(user), sys.executable, "-m", "rankandfile", "attach", str(pid), "--out", "case"]
    env = {**os.environ, "HOME": str(folder)}
    return subprocess.Popen(command, env=env, cwd=folder, stderr=subprocess.PIPE, text=True)


def test_as_the_user_of_the_job_and_as_somebody_else(rank: int, folders: dict[int, Path]) -> None:
    """The one gets stacks; the other one line, which says whose it is and what would do."""
    attached = {user: attach(user, rank, folder) for user, folder in folders.items()}
    said = {user: process.communicate()[1] for user, process in attached.items()}
    assert "raf: 1 process, none of which records" in said[OWNER] and "no stack" not in said[OWNER], said[
        OWNER
    ]
    stacks = folders[OWNER] / "case" / "evidence" / "stacks"
    assert all("<module>" in (stacks / f"pyspy_rank_3{look}.json").read_text() for look in ("", "_later"))
    told = [line for line in said[OTHER].splitlines() if "no stack" in line]
    assert told == [f"raf: no stack of pid {rank}: it belongs to user {OWNER}: run as that user or as root"]
    assert attached[OTHER].returncode in (0, 3) and "Traceback" not in said[OTHER], said[OTHER]
