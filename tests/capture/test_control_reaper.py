"""What is left of a rank whose actor is killed: nothing, whatever its script has started."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.capture.waiting import until

from rankandfile.capture.watch.processes import status

pytestmark = pytest.mark.slow

#: A script that has a child, which outlives it; both are below this actor.
_ACTOR = """
import subprocess, sys, time
from pathlib import Path
from rankandfile.capture.control.reaper import Reaper
reaper = Reaper(int(sys.argv[1]) or None, [Path(sys.argv[2])])
script = subprocess.Popen(["sh", "-c", "sleep 600 & echo $!; wait"], stdout=subprocess.PIPE, start_new_session=True)
reaper.begun(script.pid)
if sys.argv[3:] == ["says farewell"]:
    reaper.farewell()
print(script.pid, int(script.stdout.readline()), flush=True)
time.sleep(600)
"""


def alive(pid: int) -> bool:
    found = status(pid)
    return found is not None and found.state not in "ZX"


def reapers_of(folder: Path) -> list[Path]:
    return [one for one in Path("/proc").glob("[0-9]*/cmdline") if _reaps(one, folder)]


def _reaps(command: Path, folder: Path) -> bool:
    try:
        words = command.read_bytes()
    except OSError:
        return False
    return b"reaper.py" in words and str(folder).encode() in words


@contextmanager
def killed_actor(folder: Path, reader: int = 0, *words: str) -> Iterator[list[int]]:
    """The processes below an actor that was killed."""
    folder.mkdir(parents=True)
    command = [sys.executable, "-c", _ACTOR, str(reader), str(folder), *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as actor:
        assert actor.stdout is not None
        below = [int(word) for word in actor.stdout.readline().split()]
        actor.kill()
    try:
        yield below
    finally:
        for pid in below:
            subprocess.run(["kill", "-9", str(pid)], stderr=subprocess.DEVNULL, check=False)


def test_a_killed_actors_script_ends_with_all_that_it_started(tmp_path: Path) -> None:
    with killed_actor(tmp_path / "job" / "0") as below:
        until(lambda: not any(map(alive, below)))
        until(lambda: not (tmp_path / "job" / "0").exists())
    assert (tmp_path / "job").exists(), "it is its worker's, which goes on"


def test_what_it_left_stays_for_a_controller_that_still_reads_it(tmp_path: Path) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as controller:  # it ends with this block
        with killed_actor(tmp_path / "job" / "0", controller.pid) as below:
            until(lambda: not any(map(alive, below)))
        assert (tmp_path / "job" / "0").exists()
    until(lambda: not (tmp_path / "job").exists())


def test_who_has_cleaned_up_says_so_and_nobody_else_is_ended(tmp_path: Path) -> None:
    """A number of a group that is gone may be another's by now."""
    with killed_actor(tmp_path / "job" / "0", 0, "says farewell") as below:
        until(lambda: not reapers_of(tmp_path))
        assert all(map(alive, below)) and (tmp_path / "job" / "0").exists()
