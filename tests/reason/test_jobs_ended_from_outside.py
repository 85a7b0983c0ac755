"""Jobs that somebody cancelled: what their handlers of signals raise, and their codes, accuse nobody."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from pathlib import Path

import pytest

import rankandfile
from rankandfile.model.diagnosis import Verdict


def verdict(folder: Path, files: dict[str, str]) -> Verdict:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return rankandfile.diagnose([folder]).verdicts[0]


def epochs(label: str, count: int) -> str:
    """One of twelve seconds each, from nine o'clock on."""
    return "".join(
        f"{label}2026-02-03 09:{12 * n // 60:02}:{12 * n % 60:02} INFO engine: iter {n * 50}/40000 nll {9 / (n + 2):.3f}\n"
        for n in range(count)
    )


def handler(label: str, raised: str, function: str = "stop_now") -> str:
    return "".join(
        f"{label}{line}\n"
        for line in (
            "Traceback (most recent call last):",
            '  File "/opt/seg/run.py", line 88, in <module>',
            "    cli()",
            '  File "/opt/seg/engine.py", line 240, in epoch',
            "    self.scaler.step(self.opt)",
            f'  File "/opt/seg/guard.py", line 17, in {function}',
            "    raise Halt(signum)",
            raised,
        )
    )


SCANCEL = "slurmstepd: error: *** STEP 88.0 ON b03 CANCELLED AT 2026-02-03T09:{at} ***\n"
LSF = "TERM_OWNER: job killed by owner.\nExited with exit code 143.\n"
SACCT = "88.0     seg-big   CANCELLED by 3301      0:15  2026-02-03T08:58:00 2026-02-03T09:{at} b[03-04]\n"


@pytest.mark.parametrize(
    ("raised", "function"),
    [
        ("guard.Halt: caught SIGTERM", "stop_now"),
        ("RuntimeError: terminating on signal 15", "stop_now"),
        ("guard.Halt: 15", "_on_sigterm"),
    ],
)
@pytest.mark.parametrize("end", [SCANCEL, LSF, SACCT])
def test_a_cancelled_job_that_worked_accuses_nobody(
    tmp_path: Path, raised: str, function: str, end: str
) -> None:
    worked = epochs("0: ", 50)
    codes = "srun: error: b03: tasks 0-1: Exited with exit code 1\nsrun: error: b04: tasks 2-3: Exited with exit code 1\n"
    died = "".join(handler(f"{task}: ", raised, function) for task in (2, 0))
    found = verdict(tmp_path, {"seg.out": worked + end.format(at="10:02") + died + codes})
    assert (found.culprits, found.suspects) == ([], [])
    assert found.hang is not True
    if end != LSF:
        assert (found.cause, found.hang) == ("no_hang", False)
        assert "cancelled" in found.sentence


def test_a_cancelled_job_that_had_stood_is_no_hang_for_nobody_and_blames_nobody(tmp_path: Path) -> None:
    died = "".join(handler(f"{task}: ", "guard.Halt: caught SIGTERM") for task in (2, 0))
    codes = "srun: error: b03: tasks 0-3: Exited with exit code 1\n"
    found = verdict(tmp_path, {"seg.out": epochs("0: ", 50) + SCANCEL.format(at="58:40") + died + codes})
    assert found.cause not in ("no_hang", "raised", "exited")
    assert (found.culprits, found.suspects) == ([], [])


def test_who_failed_before_its_job_was_cancelled_is_still_told(tmp_path: Path) -> None:
    failed = handler("3: ", "KeyError: 'mask'")
    died = handler("0: ", "guard.Halt: caught SIGTERM")
    ready = "".join(f"{task}: [rank {task}] ready on b03\n" for task in range(4))
    found = verdict(
        tmp_path / "raised",
        {"seg.out": ready + epochs("0: ", 50) + failed + SCANCEL.format(at="10:02") + died},
    )
    assert (found.cause, [one.rank for one in found.culprits]) == ("raised", [3])
    killed = "srun: error: b03: task 3: Exited with exit code 7\nsrun: error: b03: tasks 0-2: Terminated\n"
    found = verdict(
        tmp_path / "exited", {"seg.out": ready + epochs("0: ", 50) + SCANCEL.format(at="10:02") + killed}
    )
    assert found.cause == "exited"
