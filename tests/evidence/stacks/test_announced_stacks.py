"""Stacks that a program takes of itself, whose rank only the line above them tells."""

# ruff: noqa: E501 - lines of stacks are as long as they are

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile import diagnose
from rankandfile.model.diagnosis import Verdict

ABOVE = {
    "in brackets": "[rank {n}] ---- stack dump",
    "with torch's prefix": "[rank{n}]: watchdog: no step for 600 s, dumping all threads",
    "with a colon": "rank {n}: hang detected, faulthandler output follows",
}
TAKEN = """{above}
{timeout}Thread 0x00007f31a{n}000000 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 331 in wait
  File "/usr/lib/python3.11/threading.py", line 1002 in _bootstrap

{which} 0x00007f8bc{n}000000 (most recent call first):
{inner}  File "/srv/job/fit.py", line 91 in epoch
  File "/srv/job/fit.py", line 120 in <module>
"""
REDUCES = """  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 2806 in all_reduce
  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/c10d_logger.py", line 81 in wrapper
"""
CHILD = """  File "/usr/lib/python3.11/subprocess.py", line 2045 in _try_wait
  File "/usr/lib/python3.11/subprocess.py", line 1264 in wait
  File "/srv/job/convert.py", line 44 in to_flac
"""


def said_of(folder: Path, text: str) -> Verdict:
    (folder / "job.log").write_text("epoch 1 done\nepoch 2 done\n" + text)
    return diagnose(folder).verdicts[0]


def taken(above: str, n: int, *, odd: int, timeout: str) -> str:
    inner = CHILD if n == odd else REDUCES
    return TAKEN.format(above=above.format(n=n), n=n, inner=inner, timeout=timeout, which="Thread")


@pytest.mark.parametrize("above", ABOVE.values(), ids=ABOVE)
@pytest.mark.parametrize("timeout", ["Timeout (0:10:00)!\n", ""], ids=["after a time", "when asked"])
def test_the_line_above_tells_whose_they_are(tmp_path: Path, above: str, timeout: str) -> None:
    text = "".join(taken(above, n, odd=2, timeout=timeout) for n in (3, 0, 2, 1))
    verdict = said_of(tmp_path, text)
    assert [one.rank for one in verdict.suspects or verdict.culprits] == [2]
    assert verdict.cause == "host_blocked" and "convert.py:44" in verdict.sentence
    assert verdict.location is not None and verdict.location.line == 44


def test_two_that_say_so_at_once_tell_nothing(tmp_path: Path) -> None:
    """Whose stack comes first below two such lines, nobody knows."""
    above = "[rank 0] ---- stack dump\n[rank 1] ---- stack dump"
    text = "".join(taken(above, n, odd=1, timeout="") for n in (0, 1))
    verdict = said_of(tmp_path, text)
    assert not verdict.suspects and not verdict.culprits


def test_a_line_that_speaks_of_no_stacks_tells_nothing(tmp_path: Path) -> None:
    text = "".join(taken("[rank {n}] scored 12 samples", n, odd=1, timeout="") for n in (0, 1, 2))
    verdict = said_of(tmp_path, text)
    assert not verdict.suspects and not verdict.culprits
