"""gloo aborts a process that is sent what does not fit: a job that broke off, and neither a healthy one nor a hang."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.reason import broke_off
from support.reason.building import WORLD, Job, case_of, loop
from support.reason.witnesses import Witnesses, blamed

import rankandfile
from rankandfile.model.diagnosis import Diagnosis, Verdict
from rankandfile.reason import diagnose

WHY = "op.preamble.length <= op.nbytes. 24 vs 4. Received data size doesn't match expected size."
ABORT = f"""terminate called after throwing an instance of 'gloo::EnforceNotMet'
  what():  [enforce fail at /src/gloo/transport/tcp/pair.cc:456] {WHY} Is there a collective mismatch in your code?
"""
LOST = f"""Traceback (most recent call last):
  File "/job/train.py", line 32, in main
    dist.all_reduce(g)
{broke_off.LOST}. This is typically caused by a remote worker crashing.
"""


def aborted(waited_s: float = 0.5) -> Witnesses:
    """All calls that are recorded have ended: rank 3 left none behind the others'."""
    job = broke_off.broken_off(waited_s, level=True).exit(1, "SIGABRT")
    job = job.event(
        "terminate", "echo", 1, "terminate called after throwing", exception="gloo::EnforceNotMet"
    )
    return job.event("gloo_size_disagrees", "messenger", 1, f"what(): {WHY}", received=24, expected=4)


@pytest.mark.parametrize("waited_s", [0.5, 14.0, 700.0])
def test_a_job_that_an_abort_ended_is_told_as_that_and_nobody_is_named(waited_s: float) -> None:
    (verdict,) = diagnose(aborted(waited_s).case).verdicts
    assert (verdict.hang, verdict.cause, verdict.confidence) == (False, "size_mismatch", "supported")
    assert (verdict.culprits, verdict.suspects) == ([], [])
    assert (
        "it broke off: rank 1 aborted itself (SIGABRT). Rank 1 was sent 24 bytes where it expected 4."
        in verdict.sentence
    )
    assert "Ranks 0, 2 and 3 lost their connections and ended too." in verdict.sentence


def told(folder: Path, files: dict[str, str]) -> Diagnosis:
    for name, text in files.items():
        (folder / name).write_text(text)
    return rankandfile.diagnose([folder])


def of_logs(folder: Path, **more: str) -> Verdict:
    return told(folder, {"rank_0.log": ABORT, "rank_1.log": LOST, "rank_2.log": LOST, **more}).verdicts[0]


def test_what_an_abort_wrote_is_a_word(tmp_path: Path) -> None:
    verdict = of_logs(tmp_path)
    assert blamed(verdict) == [] and "without a word" not in verdict.sentence
    assert (verdict.hang, verdict.cause) == (None, "size_mismatch")
    silent = of_logs(tmp_path, **{"rank_0.log": "step 7 loss 0.4\n"})
    assert (silent.cause, blamed(silent)) == ("killed", [0])


def test_nothing_is_asked_for_that_is_there() -> None:
    """Also where an abort tells nothing but that it was one."""
    programs = {rank: loop(broke_off.BODY, 4) for rank in range(3)}
    case = case_of(Job({WORLD: [0, 1, 2]}, programs, backend="gloo"), lost=[1], waited_s=700.0)
    asked = {}
    for name, job in (("nothing", Witnesses(case)), ("both", Witnesses(case).log(0, 1).exit(1, "SIGABRT"))):
        (verdict,) = diagnose(job.case).verdicts
        assert (verdict.cause, verdict.culprits) == ("undetermined", [])
        asked[name] = verdict.missing_evidence[0].how
    assert "how the process of rank 1 ended; the end of the log of rank 1" in asked["nothing"]
    assert asked["both"] == "stacks of all ranks (py-spy dump --pid PID)"


def test_who_aborted_is_gone_where_nothing_tells_how_it_stood(tmp_path: Path) -> None:
    exits = [{"rank": rank, "exitcode": 1, "signal": None, "state": "exited"} for rank in (1, 2)]
    exits.append({"rank": 0, "exitcode": None, "signal": "SIGABRT", "state": "signalled"})
    logs = {f"rank_{rank}.log": "step 7 loss 0.4\n" for rank in range(3)}
    found = told(tmp_path, {**logs, "exits.json": json.dumps(exits)})
    assert ("gone", "aborted itself (SIGABRT)") in [(one.state, one.what) for one in found.standings]
