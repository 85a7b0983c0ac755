"""An exception in a log is a failure where the program did not catch it, or something shows that the job failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile import diagnose
from rankandfile.model.diagnosis import Verdict

BELOW = '  File "rows.py", line 30, in parse\n    raise ValueError(row)\nValueError: row 7 is broken\n'
BEGINS = "Traceback (most recent call last):\n"
IN_A_FUNCTION = f'{BEGINS}  File "train.py", line 12, in attempt\n    rows.parse(row)\n{BELOW}'
TO_THE_END = (
    f'{BEGINS}  File "train.py", line 40, in <module>\n    main()\n{IN_A_FUNCTION.removeprefix(BEGINS)}'
)
CHAINED = (
    f"{IN_A_FUNCTION}\nThe above exception was the direct cause of the following exception:\n\n"
    + IN_A_FUNCTION.replace("ValueError: row 7", "RowError: row 7")
)
WATCHDOG = (
    "[rank0]:[E1121 10:00:00.000000000 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for 600012 "
    "milliseconds before timing out.\n"
)


def said(folder: Path, logs: dict[int, str], *, hung: bool = False) -> Verdict:
    for rank, text in logs.items():
        (folder / f"rank_{rank}.log").write_text(text)
    return diagnose(folder, hung=hung).verdicts[0]


def named(verdict: Verdict) -> tuple[list[int], list[int]]:
    return [one.rank for one in verdict.culprits], [one.rank for one in verdict.suspects]


@pytest.mark.parametrize(
    "text",
    [
        "WARNING step 3: batch left out\n" + IN_A_FUNCTION,
        f"{IN_A_FUNCTION}INFO step 4\n" * 3,
        "WARNING step 3: batch left out\n" + CHAINED,
        TO_THE_END + "step 4: loss 0.2500\n",
    ],
    ids=["the last line", "again and again", "one led to another", "caught by the main module"],
)
def test_an_exception_that_was_caught_blames_nobody(tmp_path: Path, text: str) -> None:
    verdict = said(tmp_path, {0: "step 4: loss 0.25\n", 1: text})
    assert named(verdict) == ([], [1])
    assert (verdict.hang, verdict.confidence) == (None, "hypothesis")
    assert "row 7 is broken" in verdict.sentence and "that the program caught" in verdict.sentence
    assert "py-spy" in verdict.missing_evidence[0].how


@pytest.mark.parametrize(
    "text",
    [
        "step 3\n" + TO_THE_END,
        IN_A_FUNCTION + TO_THE_END,
        TO_THE_END
        + "[W1121 10:00:00 ProcessGroupNCCL.cpp:1250] Warning: destroy_process_group() was not called\n",
    ],
    ids=["printed by the interpreter", "logged, and raised again", "torch speaks on the way out"],
)
def test_an_exception_that_ends_its_rank_names_it(tmp_path: Path, text: str) -> None:
    verdict = said(tmp_path, {0: "step 3\n", 1: text})
    assert (verdict.cause, named(verdict)) == ("raised", ([1], []))


def test_whatever_else_shows_that_the_job_failed_makes_a_caught_exception_count(tmp_path: Path) -> None:
    logs = {0: "step 3\n", 1: IN_A_FUNCTION}
    assert named(said(tmp_path, logs)) == ([], [1])
    assert named(said(tmp_path, logs, hung=True)) == ([1], [])
    assert named(said(tmp_path, {**logs, 0: WATCHDOG})) == ([1], [])
