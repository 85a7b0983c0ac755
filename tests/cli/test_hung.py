"""`raf diagnose --hung`: dumps whose files no longer tell when they were written."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

from support.cli.raf_runs import Raf

from rankandfile.lab.sim.run import simulate

_YEARS_NS = 3 * 365 * 86_400 * 10**9


def last_call_ns(dumps: Path) -> int:
    calls = (call for dump in dumps.iterdir() for call in pickle.loads(dump.read_bytes())["entries"])
    return max(int(call["time_created_ns"]) for call in calls)


def test_the_persons_word_stands_in_for_lost_times(raf: Raf, tmp_path: Path) -> None:
    dumps = simulate("blocked-save", tmp_path / "incident") / "evidence" / "dumps"
    for dump in dumps.iterdir():
        later = dump.stat().st_mtime_ns + _YEARS_NS
        os.utime(dump, ns=(later, later))
    without = json.loads(raf("diagnose", dumps, "--format", "json").out)["verdicts"][0]
    said = json.loads(raf("diagnose", dumps, "--hung", "--format", "json").out)["verdicts"][0]
    assert [culprit["rank"] for culprit in said["culprits"]] == [0] and said["assumed"] is None
    # Who asks has a hang; but that it is one is taken for true, and said: who would be to blame is a suspect.
    assert without["culprits"] == [] and [suspect["rank"] for suspect in without["suspects"]] == [0]
    assert "it hung" in without["assumed"]


def test_the_persons_word_counts_after_work_that_is_done_for_the_first_time(raf: Raf, tmp_path: Path) -> None:
    """How long a first save takes nothing tells, but who says that it hung has seen that it does not end."""
    dumps = simulate("blocked-save", tmp_path / "incident") / "evidence" / "dumps"
    made = last_call_ns(dumps)
    for dump in dumps.iterdir():
        os.utime(dump, ns=(made + 120 * 10**9,) * 2)
    without, said = raf("diagnose", dumps).out, raf("diagnose", dumps, "--hung").out
    assert "IF IT HUNG: cause open, suspect rank 0" in without
    assert "IF IT HUNG" not in said and "HANG: rank 0" in said


def test_the_persons_word_counts_where_the_dumps_came_too_early(raf: Raf, tmp_path: Path) -> None:
    """Written a second after the last call, they prove no hang; who says that it hung is not told so once more."""
    dumps = simulate("blocked-save", tmp_path / "incident") / "evidence" / "dumps"
    made = last_call_ns(dumps)
    for dump in dumps.iterdir():
        os.utime(dump, ns=(made + 10**9, made + 10**9))
    without = json.loads(raf("diagnose", dumps, "--format", "json").out)["verdicts"][0]
    said = json.loads(raf("diagnose", dumps, "--hung", "--format", "json").out)["verdicts"][0]
    assert without["culprits"] == [] and "No hang is proved" in without["sentence"]
    assert [one["rank"] for one in said["culprits"] or said["suspects"]] == [0]
    assert "No hang is proved" not in said["sentence"]
