"""From the files of a job, as people have them, to the verdict: logs, exit lists and stacks in their own words."""

from __future__ import annotations

import json
from pathlib import Path

from support.reason.witnesses import blamed

from rankandfile.evidence.load import load
from rankandfile.model.diagnosis import Diagnosis
from rankandfile.reason import diagnose

_GAVE_UP = (
    "[rank{rank}]:[E1009 09:03:23.885000005 ProcessGroupNCCL.cpp:733] [Rank {rank}] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for "
    "600091 milliseconds before timing out.\n"
    "[rank{rank}]:[E1009 09:03:23.885041005 ProcessGroupNCCL.cpp:2233] [PG ID 0 PG GUID 0(default_pg) Rank {rank}]  "
    "failure detected by watchdog at work sequence id: {seq} PG status: last enqueued work: {seq}, last completed "
    "work: {before}\n"
)
_ANSWERED = (
    "[rank{rank}]:[E1009 09:03:24.466090018 ProcessGroupNCCL.cpp:1746] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] "
    "Received a dump signal due to a collective timeout from  rank 0 and we will try our best to dump the debug info. "
    "Last enqueued NCCL work: {last}, last completed NCCL work: {last}.This is most likely caused by incorrect usages "
    "of collectives\n"
)
_RAISED = (
    "[rank{rank}]: Traceback (most recent call last):\n"
    '[rank{rank}]:   File "/workspace/train.py", line 28, in <module>\n'
    "[rank{rank}]:     main()\n"
    '[rank{rank}]:   File "/workspace/data.py", line 31, in read\n'
    '[rank{rank}]:     raise BadSample(f"token {{token}}")\n'
    "[rank{rank}]: BadSample: token 151936\n"
)


def job(folder: Path, texts: dict[int, str], exits: list[dict[str, object]] | None = None) -> Path:
    evidence = folder / "evidence"
    (evidence / "logs").mkdir(parents=True)
    for rank, text in texts.items():
        (evidence / "logs" / f"rank_{rank}.log").write_text("step 8 loss 0.4\n" + text)
    if exits is not None:
        (evidence / "exits.json").write_text(json.dumps(exits))
    return evidence


def gave_up(rank: int, seq: int = 9) -> str:
    return _GAVE_UP.format(rank=rank, seq=seq, before=seq - 1)


def diagnosis(evidence: Path, spool: Path) -> Diagnosis:
    spool.mkdir()
    return diagnose(load([evidence], spool, jobs=1))


def test_a_rank_behind_in_the_logs(tmp_path: Path) -> None:
    texts = {rank: gave_up(rank) for rank in (0, 1, 3)} | {2: _ANSWERED.format(rank=2, last=8)}
    found = diagnosis(job(tmp_path, texts), tmp_path / "spool")
    verdict = found.verdicts[0]
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [2])
    quotes = " ".join(e.quote for e in found.evidence)
    assert "Watchdog caught collective operation timeout" in quotes
    assert "Last enqueued NCCL work: 8" in quotes


def test_an_exception_of_the_rank_that_the_others_wait_for(tmp_path: Path) -> None:
    texts = {rank: gave_up(rank) for rank in (0, 1, 3)} | {2: _RAISED.format(rank=2)}
    exits: list[dict[str, object]] = [{"rank": r, "pid": 10 + r, "exitcode": -6} for r in (0, 1, 3)]
    exits.append({"rank": 2, "pid": 12, "exitcode": 1})
    verdict = diagnosis(job(tmp_path, texts, exits), tmp_path / "spool").verdicts[0]
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("raised", "established", [2])
    assert verdict.culprits[0].doing == "raised BadSample: token 151936, and exited with code 1"
    assert verdict.location is not None
    assert (verdict.location.file, verdict.location.line) == ("/workspace/data.py", 31)


_ABORTED = """Fatal Python error: Aborted

{thread} 0x00007ff85a432b80 (most recent call first):
  File "/workspace/train.py", line 91 in check
  File "/workspace/train.py", line 167 in <module>
"""


def test_who_exits_having_lost_the_one_that_aborted_is_not_blamed(tmp_path: Path) -> None:
    """Their program caught what losing a peer raised, and ended with a code: no traceback says so."""
    texts = dict.fromkeys((0, 1, 3), "lost connection\n") | {2: _ABORTED.format(thread="Current thread")}
    exits: list[dict[str, object]] = [{"rank": r, "pid": 10 + r, "exitcode": 1} for r in (0, 1, 3)]
    exits.append({"rank": 2, "pid": 12, "exitcode": -6})
    verdict = diagnosis(job(tmp_path, texts, exits), tmp_path / "spool").verdicts[0]
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("killed", "supported", [2])


def test_whose_watchdog_aborted_it_is_not_taken_for_the_first(tmp_path: Path) -> None:
    texts = {rank: gave_up(rank) + _ABORTED.format(thread="Thread") for rank in (0, 1, 3)} | {2: ""}
    exits: list[dict[str, object]] = [{"rank": r, "pid": 10 + r, "exitcode": -6} for r in (0, 1, 3)]
    exits.append({"rank": 2, "pid": 12, "exitcode": 1})
    verdict = diagnosis(job(tmp_path, texts, exits), tmp_path / "spool").verdicts[0]
    assert (verdict.cause, blamed(verdict)) == ("exited", [2])


def test_the_survivors_of_a_kill_are_not_blamed(tmp_path: Path) -> None:
    closed = (
        "RuntimeError: [/src/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.2]:4711.\n"
    )
    echo = (
        'Traceback (most recent call last):\n  File "/workspace/train.py", line 9, in step\n    reduce(x)\n'
        + closed
    )
    texts = {0: echo + gave_up(0), 1: gave_up(1), 3: gave_up(3), 2: ""}
    exits: list[dict[str, object]] = [{"rank": r, "pid": 10 + r, "exitcode": -15} for r in (0, 1, 3)]
    exits.append({"rank": 2, "pid": 12, "exitcode": -9})
    verdict = diagnosis(job(tmp_path, texts, exits), tmp_path / "spool").verdicts[0]
    assert (verdict.cause, blamed(verdict)) == ("killed", [2])
    assert "X3" in verdict.evidence


def test_all_came_by_their_logs(tmp_path: Path) -> None:
    verdict = diagnosis(
        job(tmp_path, {rank: gave_up(rank) for rank in range(4)}), tmp_path / "spool"
    ).verdicts[0]
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (True, "undetermined", [])


_PYSPY = """Process 12: python train.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 12 (idle): "MainThread"
    wait (threading.py:331)
    get (queue.py:180)
    _MultiProcessingDataLoaderIter._try_get_data (torch/utils/data/dataloader.py:1291)
    _BaseDataLoaderIter.__next__ (torch/utils/data/dataloader.py:725)
    Trainer.run_epoch (trainer.py:46)
    main (train.py:17)
    <module> (train.py:22)
"""


def test_the_stack_of_the_rank_that_is_behind(tmp_path: Path) -> None:
    texts = {rank: gave_up(rank) for rank in (0, 1, 3)} | {2: _ANSWERED.format(rank=2, last=8)}
    evidence = job(tmp_path, texts)
    (evidence / "stacks").mkdir()
    for number in (1, 2):
        (evidence / "stacks" / f"{number}").mkdir()
        (evidence / "stacks" / f"{number}" / "pyspy_rank_2.txt").write_text(_PYSPY)
    verdict = diagnosis(evidence, tmp_path / "spool").verdicts[0]
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [2])
    assert verdict.culprits[0].doing == "in queue.get ← next(loader), trainer.py:46, the same in 2 snapshots"
    assert any(i.startswith("S") for i in verdict.evidence)
