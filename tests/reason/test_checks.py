"""Torch's own checks and NCCL's RAS, where there is nothing else: heard only where they surely speak of ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason.witnesses import IN_LOADER, Witnesses, best, blamed

import rankandfile
from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Verdict

WORLD = 8


def logs(world: int | None = WORLD) -> Witnesses:
    """Nothing but a log per rank."""
    witnesses = Witnesses(Case(world_size=world))
    for rank in range(world or WORLD):
        witnesses.log(rank, rank)
    return witnesses


def compared(witnesses: Witnesses, odd: dict[int, dict[str, Any]], ranks: range = range(WORLD)) -> Witnesses:
    """Every rank compares its call with that of one other."""
    usual = {"seq": 217, "op": "ALLREDUCE", "sizes": "64", "dtype": "Float"}
    for rank in ranks:
        peer = (rank + 1) % WORLD
        own, theirs = {**usual, **odd.get(rank, {})}, {**usual, **odd.get(peer, {})}
        peers = {f"peer_{name}": value for name, value in theirs.items()}
        witnesses.event(
            "wrapper_mismatch", "messenger", rank, group_rank=rank, about=[peer], about_in="group", **own, **peers
        )  # fmt: skip
    return witnesses


@pytest.mark.parametrize(
    ("odd", "cause"),
    [
        ({"sizes": "32"}, "size_mismatch"),
        ({"dtype": "Half"}, "dtype_mismatch"),
        ({"op": "BROADCAST"}, "different_collective"),
        ({"seq": 216}, "skipped_collective"),
        ({"seq": 218}, "extra_collective"),
    ],
)
def test_the_wrapper_compared_and_one_is_out_of_line(odd: dict[str, Any], cause: str) -> None:
    verdict = best(compared(logs(), {5: odd}))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == (cause, "supported", [5])
    assert verdict.evidence


def test_one_against_one_names_nobody() -> None:
    assert blamed(best(compared(logs(), {r: {"sizes": "32"} for r in range(4)}))) == []


def test_a_comparison_inside_a_smaller_group_names_nobody() -> None:
    """Its numbers are of the group, and nothing tells which ranks of the job those are."""
    assert blamed(best(compared(logs(), {1: {"sizes": "32"}}, range(3)))) == []


def desync(witnesses: Witnesses, late: list[int], joined: list[int], writer: int = 0) -> Witnesses:
    return witnesses.event(
        "desync_report", "messenger", writer, group_rank=writer, about=late, about_in="group",
        snapshot=[{"number": 88, "ranks": joined, "state": "started", "op": "ALLREDUCE"}],
    )  # fmt: skip


def test_the_desync_report_names_who_never_joined() -> None:
    verdict = best(desync(logs(), [6], [0, 1, 2, 3, 4, 5, 7]))
    assert (blamed(verdict), verdict.confidence) == ([6], "supported")
    stuck = best(desync(logs(), [6], [0, 1, 2, 3, 4, 5, 7]).stack(6, IN_LOADER, IN_LOADER))
    assert (blamed(stuck), stuck.cause) == ([6], "host_blocked")


def test_a_desync_report_of_part_of_the_job_names_nobody() -> None:
    assert blamed(best(desync(logs(), [1], [0, 2, 3]))) == []
    assert blamed(best(desync(logs(), [1, 2, 3, 4, 5, 6], [0, 7]))) == []


def ras(
    witnesses: Witnesses, odd: dict[int, int], *, log: int = 70, size: int = WORLD, pid: int = 0
) -> Witnesses:
    listed = [{"rank": r, "count": n, "pid": pid or 5000 + r, "host": "node01"} for r, n in odd.items()]
    witnesses.event(
        "ras_mismatch", "fact", None, op="AllReduce", comm_id="5c1e", listed=listed,
        majority=[{"ranks": size - len(odd), "count": 912}], about=sorted(odd), about_in="group",
    )  # fmt: skip
    last = witnesses.case.events.height - 1
    number = pl.when(pl.int_range(pl.len()) == last).then(pl.lit(log)).otherwise("log").cast(pl.UInt32)
    events = witnesses.case.events.with_columns(log=number)
    witnesses.case = replace(witnesses.case, events=events)
    return witnesses.log(log, None)


def test_two_equal_answers_of_ras_name_who_is_behind() -> None:
    verdict = best(ras(ras(logs(), {6: 911}), {6: 911}, log=71))
    assert blamed(verdict) == [6]
    assert "912 launches of AllReduce on 7 ranks and 911 on rank 6" in verdict.sentence


def test_one_answer_of_a_job_that_may_move_names_nobody() -> None:
    assert blamed(best(ras(logs(), {6: 911}))) == []
    assert blamed(best(ras(ras(logs(), {6: 911}), {6: 915}, log=71))) == []


def test_ahead_is_not_behind() -> None:
    assert blamed(best(ras(ras(logs(), {6: 913}), {6: 913}, log=71))) == []


def test_a_smaller_communicators_numbers_are_no_ranks_unless_the_process_tells() -> None:
    small = ras(ras(logs(), {1: 911}, size=4), {1: 911}, size=4, log=71)
    assert blamed(best(small)) == []
    known = logs().exit(5, "running")
    known = ras(ras(known, {1: 911}, size=4, pid=1005), {1: 911}, size=4, pid=1005, log=71)
    assert blamed(best(known)) == [5]


def test_half_against_half_names_nobody() -> None:
    odd = {4: 911, 5: 911, 6: 911, 7: 911}
    assert blamed(best(ras(ras(logs(), odd), odd, log=71))) == []


# What NCCL's RAS answers where there is nothing else.

RAS_TABLE = """\
Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      2          4            1          8        8

Communicators... (0.01s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         2         4         8         8   RUNNING  {errors}

Errors
======

{above}
#0-0 (4be1) {errors}
{below}
"""
RAS_COUNTS = """\
  Communicator ranks have different {op} operation counts
  7 ranks have launched up to operation {usual}
  Rank 6 has launched up to operation {other} -- GPU 2 managed by process 77 on node 10.1.0.2
"""


def _ras(folder: Path, *texts: str) -> Verdict:
    folder.mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        (folder / f"look-{number}.txt").write_text(text)
    return rankandfile.diagnose([folder]).verdicts[0]


def _look(*counts: tuple[str, int, int]) -> str:
    below = "".join(RAS_COUNTS.format(op=op, usual=usual, other=other) for op, usual, other in counts)
    return RAS_TABLE.format(errors="MISMATCH", above="", below=below)


def test_a_call_in_the_place_of_another(tmp_path: Path) -> None:
    look = _look(("AllGather", 88, 87), ("Reduce", 4, 5))
    found = _ras(tmp_path, look, look)
    assert (found.cause, [c.rank for c in found.culprits]) == ("different_collective", [6])
    assert "Reduce 5 instead of AllGather 88" in found.sentence
    behind = _look(("AllGather", 88, 87), ("Reduce", 4, 3))
    assert _ras(tmp_path / "behind", behind, behind).cause != "different_collective"


def test_counts_that_go_up_from_look_to_look_are_of_a_job_that_moves(tmp_path: Path) -> None:
    looks = [_look(("AllReduce", count, count - 1)) for count in (910, 955, 1003)]
    found = _ras(tmp_path / "moves", *looks)
    assert (found.cause, found.hang, found.culprits) == ("no_hang", False, [])
    stands = _ras(tmp_path / "stands", *looks, looks[-1])
    assert stands.cause != "no_hang"
    assert [c.rank for c in stands.culprits] == [6]


DEAD = """\
DEAD
  2 job processes are considered dead (unreachable via the RAS network)
  Process 41 on node 10.1.0.2 managing GPU 0
  Process 42 on node 10.1.0.2 managing GPU 1
"""
SILENT = """\
INCOMPLETE
  Missing communicator data from 2 job processes
  Process 41 on node 10.1.0.2 managing GPU 0
  Process 42 on node 10.1.0.2 managing GPU 1
"""
NUMBERS = """\
  Missing communicator data from 2 ranks
  The missing ranks: 4,5
"""
ROWS = """\
  Missing communicator data from 2 ranks
  Rank 4 -- GPU 0 managed by process 41 on node 10.1.0.2
  Rank 5 -- GPU 1 managed by process 42 on node 10.1.0.2
"""


@pytest.mark.parametrize("below", [NUMBERS, ROWS], ids=["numbers", "rows"])
def test_ranks_of_a_host_that_ras_considers_dead(tmp_path: Path, below: str) -> None:
    def answer(above: str) -> str:
        return RAS_TABLE.format(errors="INCOMPLETE", above=above, below=below)

    found = _ras(tmp_path / "host", answer(DEAD))
    assert (found.cause, [c.rank for c in found.culprits]) == ("peer_unreachable", [4, 5])
    found = _ras(tmp_path / "silent", answer(SILENT))
    assert (found.culprits, [c.rank for c in found.suspects]) == ([], [4, 5])
