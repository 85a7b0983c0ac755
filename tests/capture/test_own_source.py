"""The source of a running program, found where the program lies; and not where that may be another one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rankandfile.capture.own_source import source_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@contextmanager
def running(*words: str, here: Path) -> Iterator[int]:
    process = subprocess.Popen([sys.executable, *words], cwd=here, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "train").mkdir()
    program = tmp_path / "train" / "main.py"
    program.write_text("import time\nprint('here', flush=True)\ntime.sleep(600)\n")
    os.utime(program, (time.time() - 60,) * 2)
    return program


def test_it_is_where_the_program_lies_as_the_process_sees_it(job: Path) -> None:
    with running("-u", "train/main.py", here=job.parent.parent) as pid:
        assert source_of([pid]) == job.parent
        assert source_of([]) is None


def test_a_program_that_was_changed_since_is_another_one(job: Path) -> None:
    with running(str(job), here=job.parent) as pid:
        os.utime(job, (time.time() + 60,) * 2)
        assert source_of([pid]) is None


def test_where_no_file_is_named_there_is_none(job: Path) -> None:
    with running("-c", job.read_text(), here=job.parent) as pid:
        assert source_of([pid]) is None
    assert source_of([2**22 + 1]) is None
