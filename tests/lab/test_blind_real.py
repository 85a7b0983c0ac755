"""A blind set from its skeleton to its reveal, as a person makes it: one real hang, and one healthy job."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.cli.raf_runs import Raf

from rankandfile.lab import truth as truths

pytestmark = [pytest.mark.torch, pytest.mark.lab]

HEALTHY_PROGRAM = '''
"""Rank 1 writes for a while, and the other one waits."""

import time
from datetime import timedelta

import torch
import torch.distributed as dist

dist.init_process_group("gloo", timeout=timedelta(minutes=10))
total = torch.ones(4)
for step in range(8):
    dist.all_reduce(total)
    if dist.get_rank() == 1 and step == 5:
        time.sleep(3)
dist.destroy_process_group()
'''
HEALTHY_CASE = """
kind = "user code"
command = "work.py"
ranks = 2
healthy = true
stall_s = 8.0
[look]
rank = 1
after_calls = 6
wait_s = 1.0
"""
HEALTHY_TRUTH = """
title = "Rank 1 writes, and goes on"
cause = "no_hang"
culprits = []
[divergence]
kind = "none"
"""


def begun(raf: Raf, folder: Path) -> None:
    assert raf("lab", "blind", "new", folder).status == 0
    stated = folder / "set.toml"
    stated.write_text(re.sub("(?m)^(author|commit) = .*", r'\1 = "a test"', stated.read_text()))


def test_a_set_is_made_sealed_scored_and_revealed(raf: Raf, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    folder, page = tmp_path / "spring", tmp_path / "page.md"
    begun(raf, folder)
    slow = folder / "case-02"
    (slow / "src").mkdir(parents=True)
    (slow / "src" / "work.py").write_text(HEALTHY_PROGRAM)
    (slow / "case.toml").write_text(HEALTHY_CASE)
    (slow / "truth.toml").write_text(HEALTHY_TRUTH)

    sealed = raf("lab", "blind", "seal", folder)
    assert sealed.status == 0, sealed.err
    assert not (folder / "case-01" / "truth.toml").exists()
    assert (folder / "case-01" / "evidence" / "dumps" / "nccl_trace_rank_1").is_file()
    looked = (slow / "evidence" / "exits.json").read_text()
    assert looked.count("running") == 2, "somebody looked while it ran"

    scored = raf("lab", "blind", "score", folder, "--page", page)
    assert scored.status == 0, scored.err
    assert sealed.out.split()[-1] in page.read_text()

    revealed = raf("lab", "blind", "reveal", folder)
    assert revealed.status == 0, revealed.err
    known = truths.read(folder / "case-01")
    assert known.location is not None
    assert known.location.condition == "if step < last:"
    assert known.divergence.seq == 8
    assert raf("lab", "score", "--set", folder).status == 0


def test_a_truth_that_the_log_of_calls_does_not_confirm_is_not_sealed(raf: Raf, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    folder = tmp_path / "spring"
    begun(raf, folder)
    stated = folder / "case-01" / "truth.toml"
    stated.write_text(
        stated.read_text().replace('ranks = "0"', 'ranks = "x"', 1).replace('ranks = "1"', 'ranks = "0"')
    )
    stated.write_text(stated.read_text().replace('ranks = "x"', 'ranks = "1"', 1))
    done = raf("lab", "blind", "seal", folder)
    assert done.status == 2
    assert "never part as stated" in done.err
    assert stated.is_file()
