"""A command that is told to end: nothing of it stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.capture.waiting import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="watches processes through /proc"),
]

#: As whoever starts it may have left it: a watcher of jobs blocks signals.
BLOCKED = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM}); "
RAF = "from rankandfile.cli.main import main; main()"


def busy_for_long() -> bytes:
    """A pickle whose key takes as long to hash as one lets it."""
    steps = (b"h" + bytes([n]) + b"\x86q" + bytes([n + 1]) for n in range(60))
    return b"\x80\x02}K\x01\x85q\x00" + b"".join(steps) + b"K\x01s."


@pytest.mark.parametrize("before", ["", BLOCKED])
def test_sigterm_leaves_no_spool_and_no_decoder(tmp_path: Path, before: str) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    with zipfile.ZipFile(tmp_path / "case.zip", "w") as zipped:
        zipped.writestr("nccl_trace_rank_0", busy_for_long())
    process = subprocess.Popen(
        [sys.executable, "-c", before + RAF, "diagnose", str(tmp_path / "case.zip")],
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    children = Path(f"/proc/{process.pid}/task")

    def decoders() -> list[str]:
        return [pid for task in children.glob("*/children") for pid in task.read_text().split()]

    until(lambda: list(folder.glob("raf-*/*")) and decoders())
    (decoder,) = decoders()
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=300)
    assert (process.returncode, said) == (143, "raf: ended\n")
    assert list(folder.iterdir()) == []
    assert not Path(f"/proc/{decoder}").exists()


def test_what_a_killed_run_has_left_is_gone_with_the_next(tmp_path: Path) -> None:
    folder, rings = tmp_path / "tmp", tmp_path / "rings"
    folder.mkdir()
    env = {**os.environ, "TMPDIR": str(folder), "RAF_RING_DIR": str(rings)}
    raf = [sys.executable, "-c", RAF, "run", "--"]
    killed = subprocess.Popen(
        [*raf, "sh", "-c", "echo begun; sleep 600"],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert killed.stdout is not None and killed.stdout.readline() == b"begun\n"
    (left,) = folder.glob("raf-run-*")
    (folder / "raf-run-notours").mkdir()
    # Another run that is under way keeps its own.
    subprocess.run([*raf, "true"], env=env, stderr=subprocess.DEVNULL, check=True)
    assert left.is_dir()
    killed.kill()
    killed.communicate()
    subprocess.run([*raf, "true"], env=env, stderr=subprocess.DEVNULL, check=True)
    assert [path.name for path in folder.iterdir()] == ["raf-run-notours"]
    assert list(rings.iterdir()) == []
