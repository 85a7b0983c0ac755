"""What the figures of a benchmark stand for: each part of the way is run, and is in the table."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from support.places import ROOT

pytestmark = pytest.mark.slow


def test_each_part_of_a_diagnosis_has_its_figure() -> None:
    command = [
        sys.executable,
        ROOT / "benchmarks" / "parts.py",
        "--ranks",
        "4",
        "--calls",
        "20",
        "--repeat",
        "1",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = dict(re.findall(r"^\| (\w+) \| (\d+\.\d\d) s \|", done.stdout, re.MULTILINE))
    assert list(rows) == ["start", "read", "decode", "assemble", "reason", "render", "all"]
    assert sum(float(rows[part]) for part in rows if part != "all") == pytest.approx(
        float(rows["all"]), abs=0.05
    )
