"""What a permission or a full disk refuses is one line and status 2: nobody is to report it as a mistake of raf's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cli.raf_runs import Done
from support.places import EARLY_STOP

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or (os.geteuid() == 0 and shutil.which("setpriv") is None),
        reason="root is refused nothing: setpriv takes that from it",
    ),
]

EVIDENCE = str(EARLY_STOP / "evidence")
AS_ANYBODY = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
FULL = "No space left on device"


def raf(
    words: str, into: int = subprocess.PIPE, at: Path | None = None, env: dict[str, str] | None = None
) -> Done:
    done = subprocess.run(
        [*AS_ANYBODY, sys.executable, "-m", "rankandfile", *words.format(EVIDENCE).split()],
        stdout=into, stderr=subprocess.PIPE, text=True, cwd=at, env=env, check=False,
    )  # fmt: skip
    return Done(done.returncode, done.stdout or "", done.stderr)


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Path]:
    """A folder with one in it that may not be looked into."""
    inner = tmp_path / "job" / "locked"
    inner.mkdir(parents=True)
    (inner / "nccl_trace_rank_0").write_bytes(b"")
    inner.chmod(0)
    yield tmp_path
    inner.chmod(0o700)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("report {} -o job/locked/x.html", "cannot write job/locked/x.html: Permission denied"),
        ("{} -o job/locked/x.md", "cannot write job/locked/x.md: Permission denied"),
        ("show calls {} -o job/locked/x.csv", "cannot write job/locked/x.csv: Permission denied"),
        ("case convert {} -o job/locked/x", "cannot write job/locked/x: Permission denied"),
        ("job/locked/x", "job/locked/x: Permission denied"),
        ("doctor job/locked/x.sh", "job/locked/x.sh: Permission denied"),
        ("case open job/locked/x.zip", "job/locked/x.zip: Permission denied"),
        ("lint job/locked/x", "job/locked/x: Permission denied"),
        ("job", "job: no file found in it (job/locked: cannot be read: Permission denied)"),
        ("lint job", "no Python there"),
    ],
)
def test_a_folder_that_may_not_be_looked_into(locked: Path, words: str, said: str) -> None:
    done = raf(words, at=locked)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1), done
    assert said in done.err and "report it" not in done.err


@pytest.mark.parametrize(
    "words",
    ["{}", "{} -f json", "show calls {}", "show calls {} -f csv", "show calls {} -f parquet", "--help"],
)
def test_a_full_disk_behind_the_answer(words: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = raf(words, full.fileno())
    assert (done.status, done.err) == (2, f"raf: cannot go on: {FULL}\n")


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet", ".txt"])
def test_a_full_disk_under_a_file(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"calls{suffix}"
    file.symlink_to("/dev/full")
    done = raf(f"show calls {{}} -o {file}")
    assert (done.status, done.err) == (2, f"raf: cannot write {file}: {FULL}\n")


@pytest.fixture
def standing() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        yield process.pid
        process.kill()


def test_a_job_can_be_looked_at_from_a_folder_that_may_not_be_written(tmp_path: Path, standing: int) -> None:
    """Where everybody stands does not wait for a place of the case, which is where one may write."""
    there, elsewhere = tmp_path / "there", tmp_path / "elsewhere"
    there.mkdir(mode=0o500)
    elsewhere.mkdir()
    done = raf(f"attach {standing}", at=there, env={**os.environ, "TMPDIR": str(elsewhere)})
    assert done.status != 2 and f"pid {standing}" in done.out, done
    (case,) = elsewhere.glob("raf-case-*")
    assert str(case) in done.err and (case / "report.html").exists()
