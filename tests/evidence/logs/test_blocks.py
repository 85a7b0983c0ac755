"""Shapes of several lines: tracebacks, torchrun's table, RAS, and what other ranks do to them in between."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.evidence.reading_logs import events_of, kinds_of

TABLE = """\
E1120 12:51:51.910000 29335 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: 3) local_rank: 1 (pid: 29339) of binary: /usr/bin/python3  # noqa: E501
Traceback (most recent call last):
  File "/opt/venv/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-11-20_12:51:23
  host      : node07
  rank      : 12 (local_rank: 4)
  exitcode  : 1 (pid: 29342)
  error_file: /tmp/torchelastic/none/attempt_0/4/error.json
  traceback : Traceback (most recent call last):
    File "train.py", line 7, in main
      raise ValueError("bad batch 17")
  ValueError: bad batch 17

------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-20_12:51:21
  host      : node07
  rank      : 9 (local_rank: 1)
  exitcode  : -9 (pid: 29339)
  error_file: <N/A>
  traceback : Signal 9 (SIGKILL) received by PID 29339
============================================================
"""  # noqa: E501, W291


def test_torchruns_table_has_a_row_per_failure(tmp_path: Path) -> None:
    rows = events_of(tmp_path, TABLE)
    second, root = [row for row in rows if row["kind"] == "child_failed"]
    assert (root["rank"], root["local_rank"], root["host"], root["pid"]) == (9, 1, "node07", 29339)
    assert (root["exit_code"], root["signal"], root["fields"]["root_cause"]) == (-9, "SIGKILL", True)
    assert root["time_quality"] == "wall"
    assert (second["rank"], second["exit_code"], second["fields"]["root_cause"]) == (12, 1, False)
    assert second["fields"]["error_file"].endswith("/attempt_0/4/error.json")
    assert "ValueError: bad batch 17" in second["fields"]["traceback"]


def test_a_traceback_told_in_the_table_is_no_event_of_its_own(tmp_path: Path) -> None:
    tracebacks = [row for row in events_of(tmp_path, TABLE) if row["kind"] == "traceback"]
    assert [row["fields"]["exception"].rpartition(".")[2] for row in tracebacks] == ["ChildFailedError"]
    assert tracebacks[0]["role"] == "echo"


TRACEBACK = """\
2026-11-20 17:05:20,206 rank 1 INFO trainer: epoch 0 begins
[rank1]: Traceback (most recent call last):
[rank1]:   File "/job/train.py", line 22, in <module>
[rank1]:     main()
[rank0]: Traceback (most recent call last):
[rank0]:   File "/job/train.py", line 30, in main
[rank0]:     x = timed_out("NCCL error in: nothing")
[rank1]:   File "/job/data.py", line 61, in load
[rank1]:     raise KeyError("bad batch 17")
[rank0]: ValueError: on the other rank
[rank1]: KeyError: 'bad batch 17'
"""


def test_tracebacks_of_two_ranks_are_told_apart(tmp_path: Path) -> None:
    first, second = events_of(tmp_path, TRACEBACK)
    assert (first["rank"], first["role"], first["fields"]["exception"]) == (1, "origin", "KeyError")
    assert first["fields"]["frames"] == [["load", "/job/data.py", 61], ["<module>", "/job/train.py", 22]]
    assert (second["rank"], second["fields"]["message"]) == (0, "on the other rank")
    assert first["time_quality"] == "near wall"


def test_of_chained_exceptions_the_first_is_the_origin(tmp_path: Path) -> None:
    text = """\
[rank1]: Traceback (most recent call last):
[rank1]:   File "a.py", line 1, in f
[rank1]: KeyError: 'x'

[rank1]: During handling of the above exception, another exception occurred:

[rank1]: Traceback (most recent call last):
[rank1]:   File "a.py", line 3, in f
[rank1]: RuntimeError: could not load
"""
    first, second = events_of(tmp_path, text)
    assert (first["role"], second["role"]) == ("origin", "echo")
    assert second["fields"]["chained"] is True


def test_an_exception_from_others_is_an_echo_and_a_timeout_a_messenger(tmp_path: Path) -> None:
    def role(raised: str) -> str:
        rows = events_of(
            tmp_path, f'Traceback (most recent call last):\n  File "a.py", line 1, in f\n{raised}\n'
        )
        return str(next(row["role"] for row in rows if row["kind"] == "traceback"))

    assert role("torch.distributed.DistBackendError: NCCL communicator was aborted on rank 3.") == "echo"
    assert role("torch.distributed.DistNetworkError: failed to recv, got 0 bytes") == "echo"
    assert (
        role("RuntimeError: [/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.1]:9.")
        == "echo"
    )
    assert (
        role("RuntimeError: [unbound_buffer.cc:78] Timed out waiting 1800000ms for recv operation")
        == "messenger"
    )
    assert (
        role("RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running") == "messenger"
    )
    assert role("OSError: [Errno 28] No space left on device") == "origin"
    # Somebody pressed Ctrl-C, wherever the process stood.
    assert role("KeyboardInterrupt") == "fact"


def test_a_thread_that_died_is_named(tmp_path: Path) -> None:
    text = 'Exception in thread prefetch:\nTraceback (most recent call last):\n  File "a.py", line 1, in fill\nValueError: no\n'  # noqa: E501
    (row,) = events_of(tmp_path, text)
    assert row["fields"]["thread"] == "prefetch"


def test_stacks_of_failed_collectives_are_not_mixed_up(tmp_path: Path) -> None:
    head = "[rank{r}]:[E511 17:02:13.640171617 ProcessGroupNCCL.cpp:733] Stack trace of the failed collective: \n"
    text = (
        head.format(r=0)
        + "#0 a from /x/a.py:1\n"
        + head.format(r=1)
        + "#0 b from /x/b.py:1\n#1 main from /x/m.py:9\n\n"
    )
    first, second = events_of(tmp_path, text)
    assert first["fields"]["frames"] == [["a", "/x/a.py", 1]]
    assert [frame[0] for frame in second["fields"]["frames"]] == ["b", "main"]


@pytest.mark.parametrize(
    ("first", "op"),
    [
        ("reduce_scatter_single from /torch/distributed/distributed_c10d.py:4936", "REDUCE_SCATTER"),
        ("reduce_scatter_single from /x/train.py:9", "ALLREDUCE"),
        ("all_reduce from /torch/distributed/distributed_c10d.py:3245", "ALLREDUCE"),
    ],
)
def test_what_was_asked_for_is_named_by_its_own_stack(tmp_path: Path, first: str, op: str) -> None:
    head = "[rank{r}]:[E511 17:02:13.6 ProcessGroupNCCL.cpp:733] "
    caught = "[Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, NumelIn=6, NumelOut=6, Timeout(ms)=600000) ran for 600046 milliseconds before timing out.\n"  # noqa: E501
    stack = "Stack trace of the failed collective: \n"
    other = (head + caught).format(r=0) + head.format(r=0) + stack + "#0 all_reduce from /x/a.py:1\n\n"
    own = (head + caught).format(r=1) + head.format(r=1) + stack + f"#0 {first}\n#1 main from /x/m.py:9\n\n"
    rows = [row for row in events_of(tmp_path, other + own) if row["kind"] == "watchdog_timeout"]
    assert [row["op"] for row in rows] == ["ALLREDUCE", op]


def test_two_frame_lists_in_one_are_cut_at_the_first_doubt(tmp_path: Path) -> None:
    text = "Stack trace of the failed collective: \n#0 a from /x/a.py:1\n#0 b from /x/b.py:1\n#1 c from /x/c.py:2\n"
    (row,) = events_of(tmp_path, text)
    assert row["fields"] == {"cut": True, "frames": [["a", "/x/a.py", 1]]}


def test_a_timeout_has_the_group_of_the_line_below(tmp_path: Path) -> None:
    w1 = "[rank{r}]:[E511 17:02:13.6 X.cpp:7] [Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={s}, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600046 milliseconds before timing out.\n"  # noqa: E501
    w2 = "[rank{r}]:[E511 17:02:13.6 X.cpp:7] [PG ID {g} PG GUID {g}({d}) Rank 1]  failure detected by watchdog at work sequence id: {s} PG status: last enqueued work: {s}, last completed work: 4\n"  # noqa: E501
    text = (
        w1.format(r=3, s=5)
        + w1.format(r=2, s=6)
        + w2.format(r=2, s=6, g=1, d="tp")
        + w2.format(r=3, s=5, g=2, d="dp")
    )
    rows = [row for row in events_of(tmp_path, text) if row["kind"] == "watchdog_timeout"]
    assert [(row["rank"], row["group_desc"], row["fields"]["group_line"]) for row in rows] == [
        (3, "dp", 4),
        (2, "tp", 3),
    ]
    progress = [row for row in events_of(tmp_path, text) if row["kind"] == "watchdog_progress"]
    assert {row["op"] for row in progress} == {"ALLREDUCE"}


RAS = """\
Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         8         4         1         4        32   RUNNING      OK
    1         1         4       7-8        31        31   RUNNING  MISMATCH,INCOMPLETE

Warnings
========

#0-0 (5c1e77aa02b9d314) MISMATCH
  Communicator ranks have different AllReduce operation counts
  30 ranks have launched up to operation 912
  Rank 6 has launched up to operation 911 -- GPU 6 managed by process 4242 on node 10.1.2.3

#1-0 (77aa) INCOMPLETE
  Missing communicator data from 1 job process
  Process 4242 on node 10.1.2.3 managing GPU 5

DEAD
  1 job process is considered dead (unreachable via the RAS network)
  Process 4243 on node 10.1.2.4 managing GPU 1

TIMEOUT
  Encountered 2 communication timeouts
"""


def test_ras_text(tmp_path: Path) -> None:
    rows = events_of(tmp_path, RAS)
    assert kinds_of(rows) == ["ras_summary", "ras_mismatch", "ras_missing", "ras_dead", "ras_timeouts"]
    assert {row["role"] for row in rows} == {"fact"}
    summary, mismatch, missing, dead, timeouts = (row["fields"] for row in rows)
    assert [(row["communicators"], row["status"], row["errors"]) for row in summary["rows"]] == [
        (8, "RUNNING", "OK"), (1, "RUNNING", "MISMATCH,INCOMPLETE"),
    ]  # fmt: skip
    assert (mismatch["comm_id"], mismatch["majority"]) == ("5c1e77aa02b9d314", [{"ranks": 30, "count": 912}])
    assert mismatch["listed"] == [{"rank": 6, "count": 911, "gpu": "6", "pid": 4242, "host": "10.1.2.3"}]
    assert (rows[1]["about"], rows[1]["about_in"], rows[1]["op"]) == ([6], "group", "AllReduce")
    assert missing["comm_id"] == "77aa"
    assert (rows[2]["pid"], rows[2]["host"]) == (4242, "10.1.2.3")
    assert rows[3]["pid"] == 4243
    assert dead["count"] == 1
    assert timeouts["count"] == 2


def test_a_desync_report_joined_into_one_line(tmp_path: Path) -> None:
    text = "\t - [1] Timeout at collective: ALLREDUCE, #4\t - To our best knowledge, ranks [0, 2] are the lagging ranks that caused this timeout. They never joined any collectives\n"  # noqa: E501
    (row,) = events_of(tmp_path, text)
    assert (row["about"], row["group_rank"]) == ([0, 2], 1)


def test_call_logs_keep_the_end_of_each_communicator(tmp_path: Path) -> None:
    line = "n1:7:7 [0] NCCL INFO AllReduce: opCount {i:x} sendbuff 0x7f recvbuff 0x7f count 10 datatype 9 op 0 root 0 comm {c} [nranks=2] stream 0x5\n"  # noqa: E501
    text = "".join(line.format(i=i, c=f"0x{i % 2}") for i in range(2000))
    rows = events_of(tmp_path, text)
    assert [row["seq"] for row in rows] == list(range(2000 - 512, 2000))
