"""Logs of several runs in one folder: the hang is told from one of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import rankandfile
from rankandfile.model.diagnosis import Diagnosis
from rankandfile.model.errors import UserError

WATCHDOG = (
    "[rank{rank}]:[E{month}{day} {hour}:30:00.000000000 ProcessGroupNCCL.cpp:629] [Rank {rank}] Watchdog caught "
    "collective operation timeout: WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE, NumelIn=10, NumelOut=10, "
    "Timeout(ms)=600000) ran for 600010 milliseconds before timing out.\n"
)
RAISED = """Traceback (most recent call last):
  File "/app/train.py", line 12, in main
    load()
  File "/app/data.py", line 7, in load
    raise RuntimeError("shard 7 is corrupt")
RuntimeError: shard 7 is corrupt
"""


def step(day: int, hour: int, rank: int, minute: int = 0) -> str:
    return f"2026-11-{day:02} {hour:02}:{minute:02}:00,000 INFO rank {rank} step {minute} loss 1.25\n"


def hung(day: int, hour: int, rank: int) -> str:
    """A rank that steps, and then waits in vain: rank 2 alone does not get to the last call."""
    seq = 7 if rank == 2 else 8
    return step(day, hour, rank) + WATCHDOG.format(
        rank=rank, month=11, day=f"{day:02}", hour=f"{hour:02}", seq=seq
    )


def failed(day: int, hour: int, rank: int) -> str:
    return step(day, hour, rank) + step(day, hour, rank, 1) + (RAISED if rank == 1 else "")


def write(
    folder: Path, text: Callable[[int, int, int], str], day: int, hour: int, name: str = "rank_{}.log"
) -> None:
    for rank in range(4):
        path = folder / name.format(rank)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(day, hour, rank))


def tells_of_the_exception(diagnosis: Diagnosis) -> bool:
    return any("shard 7" in verdict.sentence for verdict in diagnosis.verdicts)


def set_aside(diagnosis: Diagnosis) -> set[str]:
    return {str(Path(note.file).parent.name) for note in diagnosis.notes if note.what.startswith("set aside")}


def test_an_exception_of_another_day_accuses_nobody(tmp_path: Path) -> None:
    write(tmp_path / "tuesday", failed, 17, 9)
    write(tmp_path / "friday", hung, 20, 9)
    diagnosis = rankandfile.diagnose([tmp_path])
    assert not tells_of_the_exception(diagnosis)
    assert set_aside(diagnosis) == {"tuesday"}
    alone = rankandfile.diagnose([tmp_path / "friday"])
    assert [v.sentence for v in diagnosis.verdicts] == [v.sentence for v in alone.verdicts]


def test_the_other_run_is_asked_for_by_its_number(tmp_path: Path) -> None:
    write(tmp_path / "tuesday", failed, 17, 9)
    write(tmp_path / "friday", hung, 20, 9)
    assert tells_of_the_exception(rankandfile.diagnose([tmp_path], attempt=1))
    assert not tells_of_the_exception(rankandfile.diagnose([tmp_path], attempt=2))
    with pytest.raises(UserError, match="no attempt 3: there are 2"):
        rankandfile.diagnose([tmp_path], attempt=3)


def test_attempts_that_follow_at_once_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    write(tmp_path, failed, 20, 9, "logs/attempt_0/{}/rank.log")
    write(tmp_path, hung, 20, 9, "logs/attempt_1/{}/rank.log")
    for path in (tmp_path / "logs/attempt_1").rglob("*.log"):
        path.write_text(path.read_text().replace("09:00:00", "09:02:00"))
    assert not tells_of_the_exception(rankandfile.diagnose([tmp_path]))


def undated(_day: int, _hour: int, rank: int) -> str:
    return RAISED if rank == 1 else "INFO step 1\n"


def test_what_an_attempt_without_times_left_is_told_apart_by_its_folder(tmp_path: Path) -> None:
    write(tmp_path / "attempt_0", undated, 20, 9, "{}/stderr.log")
    write(tmp_path / "attempt_1", hung, 20, 10, "{}/stderr.log")
    diagnosis = rankandfile.diagnose(tmp_path)
    assert not tells_of_the_exception(diagnosis)
    assert sum("of an earlier run (attempt 1)" in note.what for note in diagnosis.notes) == 4
    assert tells_of_the_exception(rankandfile.diagnose(tmp_path, attempt=1))


def test_a_traceback_without_a_time_goes_with_the_other_logs_of_its_attempt(tmp_path: Path) -> None:
    write(tmp_path / "attempt_0", step_only, 20, 9, "{}/stdout.log")
    (tmp_path / "attempt_0" / "2" / "stderr.log").write_text(RAISED)
    write(tmp_path / "attempt_1", hung, 20, 10, "{}/stdout.log")
    notes = rankandfile.diagnose(tmp_path).notes
    assert sum(note.what.endswith("an earlier run (attempt 1)") for note in notes) == 5


def step_only(day: int, hour: int, rank: int) -> str:
    return step(day, hour, rank) + step(day, hour, rank, 1)


def test_a_new_attempt_of_few_ranks_is_not_the_hang(tmp_path: Path) -> None:
    """Somebody looked at one rank's log of the next try, and put it beside."""
    write(tmp_path / "tuesday", failed, 17, 9)
    (tmp_path / "wednesday").mkdir()
    (tmp_path / "wednesday/rank_1.log").write_text(step(18, 9, 1))
    assert tells_of_the_exception(rankandfile.diagnose([tmp_path]))


@pytest.mark.parametrize(
    ("other", "day", "hour"),
    [
        pytest.param(
            "rank_{}.old.log", 17, 9, id="of another name: another kind of log, or what was moved away"
        ),
        pytest.param("rank_{}.log", 20, 9, id="at the same time: a copy, or another part of it"),
    ],
)
def test_what_shows_no_other_run_is_kept(tmp_path: Path, other: str, day: int, hour: int) -> None:
    write(tmp_path / "one", failed, day, hour, other)
    write(tmp_path / "two", hung, 20, 9)
    assert set_aside(rankandfile.diagnose([tmp_path])) == set()


def test_logs_of_one_name_on_different_hosts_are_of_one_job(tmp_path: Path) -> None:
    """The ranks of one host fell silent hours before those of the other began to write."""
    for host, ranks, day in (("a", (0, 1), 17), ("b", (2, 3), 20)):
        (tmp_path / host).mkdir()
        lines = "".join(f"[rank{rank}]: {failed(day, 9, rank)}" for rank in ranks)
        (tmp_path / host / "train.log").write_text(lines)
    assert set_aside(rankandfile.diagnose([tmp_path])) == set()
