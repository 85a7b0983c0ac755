"""Who is out of line by the numbers of the calls that watchdogs gave up on, and who is not by the same numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile import diagnose
from rankandfile.model.diagnosis import Verdict

C10D = "torch/distributed/distributed_c10d.py"
IN_SUM = f"    all_reduce ({C10D}:3252)\n    train_step (train.py:14)\n    main (train.py:22)\n"
IN_BARRIER = f"    barrier ({C10D}:5356)\n    finish (train.py:29)\n    main (train.py:25)\n"


def looked(folder: Path, stacks: dict[int, str]) -> None:
    for rank, stack in stacks.items():
        told = f'Process {100 + rank}: python train.py\n\nThread {100 + rank} (idle): "MainThread"\n{stack}'
        (folder / f"stack_rank{rank}.txt").write_text(told)


def named(verdict: Verdict) -> tuple[list[int], list[int]]:
    return [one.rank for one in verdict.culprits], [one.rank for one in verdict.suspects]


Call = tuple[int, str, int, int]
"""Number, operation, elements, line."""


def said(folder: Path, rank: int, call: Call, group: str, place: int | None = None, caller: int = 40) -> None:
    """`place`: its number in the group, where that is not its rank."""
    number, op, size, line = call
    own = f"[rank{rank}]:[E1121 10:00:00.000000000 ProcessGroupNCCL.cpp"
    whose = f"[PG ID 0 PG GUID {group} Rank {rank if place is None else place}]"
    (folder / f"rank_{rank}.log").write_text(
        f"{own}:722] {whose} Watchdog caught collective operation timeout: "
        f"WorkNCCL(SeqNum={number}, OpType={op}, NumelIn={size}, NumelOut={size}, Timeout(ms)=600000) ran "
        "for 600029 milliseconds before timing out.\n"
        f"{own}:2271] {whose}  failure detected by watchdog at work sequence "
        f"id: {number} PG status: last enqueued work: {number}, last completed work: {number - 1}\n"
        f"{own}:733] Stack trace of the failed collective: \n"
        "#0 all_reduce from /venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py:3252\n"
        f"#1 sync from /job/train.py:{line}\n#2 main from /job/train.py:{caller}\n\n"
    )


def gave_up(
    folder: Path, calls: dict[int, Call], group: str = "0(default_pg)", callers: dict[int, int] | None = None
) -> Verdict:
    for rank, call in calls.items():
        said(folder, rank, call, group, caller=(callers or {}).get(rank, 40))
    return diagnose(folder).verdicts[0]


SUM, BEFORE = (7, "ALLREDUCE", 64, 12), (6, "ALLREDUCE", 64, 12)
ROOTED, PAST = (6, "BROADCAST", 8, 5), (7, "ALLREDUCE", 64, 12)


@pytest.mark.parametrize(
    ("calls", "culprits"),
    [
        # One got past a call that takes all, in which all others are.
        ({0: BEFORE, 1: BEFORE, 2: SUM}, [2]),
        # One has made a call fewer than all others to be where they are.
        ({0: SUM, 1: SUM, 2: SUM, 3: BEFORE}, [3]),
        # Those that are past it made the broadcast.
        ({0: ROOTED, 1: PAST, 2: BEFORE, 3: PAST}, [2]),
        # Of all members more than half made one call, and the other nothing like it.
        ({0: SUM, 1: (7, "BARRIER", 0, 30), 2: SUM}, [1]),
        ({0: SUM, 1: SUM, 2: (7, "ALLREDUCE", 32, 12)}, [2]),
        # Two and two, and one and one, accuse nobody.
        ({0: BEFORE, 1: BEFORE, 2: SUM, 3: SUM}, []),
        ({0: BEFORE, 1: SUM}, []),
        # Whoever is past a broadcast may have been its root.
        ({0: ROOTED, 1: ROOTED, 2: SUM}, []),
        # Those that wait are in two calls themselves.
        ({0: BEFORE, 1: (6, "ALLREDUCE", 64, 20), 2: SUM}, []),
        # Alone at another line than three others, whoever of them got past one call or the next.
        ({0: SUM, 1: SUM, 2: SUM, 3: (6, "ALLREDUCE", 32, 20)}, [3]),
        ({0: SUM, 1: SUM, 2: SUM, 3: (7, "ALLREDUCE", 64, 20)}, [3]),
        ({0: SUM, 1: BEFORE, 2: (7, "ALLREDUCE", 5, 20), 3: BEFORE}, [2]),
        ({0: SUM, 1: SUM, 2: (7, "ALLREDUCE", 64, 20)}, []),
        # All that are past it made the gather, in which its root still is.
        ({0: (6, "GATHER", 8, 5), 1: PAST, 2: PAST, 3: PAST, 4: (6, "ALLREDUCE", 3, 44)}, [4]),
        ({0: (6, "GATHER", 8, 5), 1: PAST, 2: (6, "ALLREDUCE", 3, 44)}, []),
        # Of all members two are in one call and one at another line: what strikes one rank seldom strikes two alike.
        ({0: SUM, 1: (7, "ALLREDUCE", 32, 20), 2: SUM}, [1]),
        ({0: SUM, 1: (7, "ALLREDUCE", 32, 20)}, []),
    ],
)
def test_the_number_that_nobody_else_has(tmp_path: Path, calls: dict[int, Call], culprits: list[int]) -> None:
    verdict = gave_up(tmp_path, calls)
    assert (verdict.hang, named(verdict)[0]) == (True, culprits)
    assert not culprits or verdict.confidence == "supported"


def test_two_that_came_to_a_line_on_two_ways_are_no_majority(tmp_path: Path) -> None:
    verdict = gave_up(tmp_path, {0: SUM, 1: (7, "BARRIER", 0, 30), 2: SUM}, callers={2: 44})
    assert (verdict.hang, named(verdict)[0]) == (True, [])


def test_numbers_of_a_group_whose_members_nobody_lists_name_nobody(tmp_path: Path) -> None:
    assert named(gave_up(tmp_path, {0: BEFORE, 1: BEFORE, 2: SUM}, group="3(mesh_tp)"))[0] == []


@pytest.mark.parametrize("group", ["0(default_pg)", "3(mesh_tp)"])
@pytest.mark.parametrize(
    ("calls", "suspects"),
    [
        ({0: BEFORE, 1: SUM, 2: SUM}, [0]),
        ({0: BEFORE, 1: BEFORE, 2: SUM, 3: SUM, 4: SUM}, [0, 1]),
        # As many are past it as wait in it.
        ({0: BEFORE, 1: SUM}, []),
        ({0: BEFORE, 1: BEFORE, 2: SUM, 3: SUM}, []),
        # It ends for its root before all have come.
        ({0: ROOTED, 1: PAST, 2: PAST}, []),
    ],
)
def test_who_waits_in_a_call_that_most_got_past_is_suspected(
    tmp_path: Path, calls: dict[int, Call], suspects: list[int], group: str
) -> None:
    verdict = gave_up(tmp_path, calls, group)
    assert (verdict.hang, named(verdict)) == (True, ([], suspects))
    assert all(one.doing == "waits in a call that most are past" for one in verdict.suspects)


@pytest.mark.parametrize("odd", [(1, 4), (4,), ()])
def test_groups_beside_each_other_each_have_their_odd_one(tmp_path: Path, odd: tuple[int, ...]) -> None:
    for rank in range(6):
        group = f"{9 + rank % 2}(mesh_dp)"
        said(tmp_path, rank, (7, "ALLREDUCE", 32 if rank in odd else 64, 12), group, place=rank // 2)
    (tmp_path / "launch.log").write_text("world_size=6\n")
    found = [named(verdict) for verdict in diagnose(tmp_path).verdicts]
    assert sorted(culprits for culprits, _ in found if culprits) == [[rank] for rank in odd]


@pytest.mark.parametrize(
    "world", ["", "world_size=12\n"], ids=["nobody tells of how many", "half of the job"]
)
def test_groups_that_may_have_more_members_name_nobody(tmp_path: Path, world: str) -> None:
    for rank in range(6):
        group = f"{9 + rank % 2}(mesh_dp)"
        said(tmp_path, rank, (7, "ALLREDUCE", 32 if rank == 4 else 64, 12), group, place=rank // 2)
    (tmp_path / "launch.log").write_text(world)
    assert [named(verdict)[0] for verdict in diagnose(tmp_path).verdicts] == [[]]


def test_a_stack_is_as_good_as_a_word_of_the_watchdog(tmp_path: Path) -> None:
    """Rank 0 wrote nothing, and stands where ranks 1 and 3 do."""
    looked(tmp_path, {0: IN_SUM, 1: IN_SUM, 2: IN_BARRIER, 3: IN_SUM})
    verdict = gave_up(tmp_path, {1: SUM, 2: (7, "BARRIER", 0, 29), 3: SUM})
    assert named(verdict) == ([2], [])


@pytest.mark.parametrize(("group", "culprits"), [("0(default_pg)", [2]), ("3(mesh_tp)", [])])
def test_few_in_a_call_of_all_ranks_are_out_of_line_whatever_groups_there_are(
    tmp_path: Path, group: str, culprits: list[int]
) -> None:
    mesh = IN_SUM.replace("train_step (train.py:14)", "forward (tensor_parallel.py:14)")
    looked(tmp_path, {0: mesh, 1: mesh, 2: IN_BARRIER})
    assert named(gave_up(tmp_path, {2: (7, "BARRIER", 0, 29)}, group)) == (culprits, [] if culprits else [2])


CLOSED = (
    "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer "
    "[10.0.0.{0}]:33671. This is typically caused by a remote worker crashing.\n"
)


@pytest.mark.parametrize(
    ("last", "culprits"), [("step 40 loss 1.2", [1]), (CLOSED.format(9), []), (None, [])]
)
def test_who_went_without_a_word_while_all_others_lost_a_peer(
    tmp_path: Path, last: str | None, culprits: list[int]
) -> None:
    for rank in (0, 2, 3):
        (tmp_path / f"rank_{rank}.log").write_text(f"step 40 loss 1.2\n{CLOSED.format(rank)}")
    if last is not None:
        (tmp_path / "rank_1.log").write_text(f"step 39 loss 1.2\n{last}\n")
    assert named(diagnose(tmp_path).verdicts[0])[0] == culprits


@pytest.mark.parametrize(
    ("line", "seen", "culprits", "suspects"),
    [
        pytest.param("step 39", False, [2], [], id="its log is here, and its watchdog is not in it"),
        pytest.param(None, False, [], [2], id="neither a log nor a stack: they may not have been collected"),
        pytest.param("step 39", True, [], [], id="it stands with the others"),
    ],
)
def test_whose_watchdog_alone_is_silent_and_who_alone_left_no_stack(
    tmp_path: Path, line: str | None, seen: bool, culprits: list[int], suspects: list[int]
) -> None:
    looked(tmp_path, {rank: IN_SUM for rank in range(4) if rank != 2 or seen})
    if line is not None:
        (tmp_path / "rank_2.log").write_text(f"[rank2]: {line}\n")
    verdict = gave_up(tmp_path, {0: SUM, 1: SUM, 3: SUM})
    assert named(verdict) == (culprits, suspects)


@pytest.mark.parametrize(("others", "culprits", "suspects"), [((0, 2, 3), [], [0, 2, 3]), ((0,), [0], [])])
def test_most_who_stand_at_a_line_that_shows_no_call_may_wait_for_the_one_that_went_on(
    tmp_path: Path, others: tuple[int, ...], culprits: list[int], suspects: list[int]
) -> None:
    """`work.wait()` leaves no frame: it may be of another group's call, which the one that went on left out."""
    looked(tmp_path, dict.fromkeys(others, "    finish (reducer.py:28)\n    main (train.py:22)\n"))
    for rank in others:
        (tmp_path / f"rank_{rank}.log").write_text(
            f"[rank{rank}]:[E1121 10:00:01.000000000 ProcessGroupNCCL.cpp:1746] [PG ID 0 PG GUID 0(default_pg) Rank "
            f"{rank}] Received a dump signal due to a collective timeout from  rank 1 and we will try our best to dump "
            "the debug info. Last enqueued NCCL work: 1, last completed NCCL work: 1.\n"
        )
    verdict = gave_up(tmp_path, {1: (2, "ALLREDUCE", 1, 28)})
    assert named(verdict) == (culprits, suspects)
