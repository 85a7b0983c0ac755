"""Watchdogs that gave up on calls of several groups, whose members no line lists; and groups that have no names."""

from __future__ import annotations

from pathlib import Path

from rankandfile import diagnose
from rankandfile.model.diagnosis import Verdict


def gave_up(rank: int, op: str, seq: int, group: str, site: tuple[str, int], sizes: int = 4096) -> str:
    head = f"[rank{rank}]:[E404 09:10:11.{rank}00000411 ProcessGroupNCCL.cpp"
    return (
        f"{head}:632] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, OpType={op}, "
        f"NumelIn={sizes}, NumelOut={sizes}, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n"
        f"{head}:2268] [{group} Rank {rank}]  failure detected by watchdog at work sequence id: {seq} PG status: "
        f"last enqueued work: {seq}, last completed work: {seq - 1}\n"
        f"{head}:670] Stack trace of the failed collective: \n"
        f"#0 {op.lower()} from /env/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py:2501\n"
        f"#1 turn from {site[0]}:{site[1]}\n#2 <module> from /job/main.py:9\n"
    )


def verdict_of(folder: Path, *lines: str) -> Verdict:
    (folder / "job.log").write_text("step 10 loss 1.0\n" + "".join(lines))
    return diagnose(folder).verdicts[0]


GRADS = ("PG ID 1 PG GUID 1(grads)", ("/job/grads.py", 31))
EXPERTS = ("PG ID 2 PG GUID 3(experts)", ("/job/experts.py", 64))


def test_one_rank_is_alone_in_a_call_of_another_group(tmp_path: Path) -> None:
    most = (gave_up(rank, "ALLREDUCE", 771, *GRADS) for rank in (0, 2, 3, 4, 5, 6, 7))
    verdict = verdict_of(tmp_path, *most, gave_up(1, "ALLTOALL_BASE", 90, *EXPERTS))
    assert (verdict.cause, [one.rank for one in verdict.suspects]) == ("order_inversion", [1])
    assert (verdict.confidence, verdict.culprits) == ("hypothesis", [])
    assert verdict.location is not None
    assert (verdict.location.file, verdict.location.line) == ("/job/experts.py", 64)
    assert "if the groups have these members" in verdict.sentence


def test_two_and_two_accuse_nobody(tmp_path: Path) -> None:
    one = (gave_up(rank, "ALLREDUCE", 771, *GRADS) for rank in (0, 2))
    other = (gave_up(rank, "ALLTOALL_BASE", 90, *EXPERTS) for rank in (1, 3))
    verdict = verdict_of(tmp_path, *one, *other)
    assert (verdict.suspects, verdict.culprits) == ([], [])


def test_the_first_group_of_a_watchdog_that_names_none_is_that_of_all(tmp_path: Path) -> None:
    usual = (gave_up(rank, "ALLGATHER", 55, "PG 0", ("/job/eval.py", 20)) for rank in (0, 1, 3))
    verdict = verdict_of(tmp_path, *usual, gave_up(2, "BROADCAST", 55, "PG 0", ("/job/load.py", 8), 7))
    assert [one.rank for one in verdict.culprits] == [2]
    assert "default_pg" in verdict.sentence
    assert "does not hold" not in verdict.sentence
    assert verdict.location is not None
    assert verdict.location.file == "/job/load.py"
