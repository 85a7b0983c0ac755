"""A rank that raised and has not said so: its last call was made on the way out, and the ring knows of what."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.capture.watched_jobs import LAUNCHER, Watched

pytestmark = [pytest.mark.slow, pytest.mark.torch]

TRAIN = """
import torch
import torch.distributed as dist

from rows import parse


class Session:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        dist.all_gather([torch.ones(1) for _ in range(2)], torch.ones(1))


dist.init_process_group("gloo")
with Session():
    for number in range(6):
        text = "" if (number, dist.get_rank()) == (4, 1) else str(number)
        dist.all_reduce(torch.tensor([parse(text)]))
"""
ROWS = """
def parse(text):
    return float(text)
"""


def test_the_exception_that_nobody_printed_is_named(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    for name, text in {"launch.py": LAUNCHER, "train.py": TRAIN, "rows.py": ROWS}.items():
        (tmp_path / name).write_text(text)
    job = Watched(
        tmp_path,
        [sys.executable, "launch.py", "train.py"],
        ["--stall", "2.5", "--on-hang", "dump-and-kill"],
    )
    try:
        job.wait()
    finally:
        job.stop()
    said = " ".join(job.err.split())
    assert "HANG: rank 1 raised an exception" in said and "rows.py:3 in parse" in said
    assert (
        "raised ValueError: could not convert string to float: '', and is in the all_gather at train.py:13"
        in said
    )
