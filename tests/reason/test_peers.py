"""The cases on which today's analysers were run, and where most of them fail: each must come out right."""

from __future__ import annotations

import polars as pl
import pytest
from support.reason.building import SECOND, START, WORLD, Call, Job, Step, Stop, case_of, loop
from support.reason.data_parallel import STEP, all_reduce, only, world
from support.reason.witnesses import blamed

from rankandfile.model.case import Case
from rankandfile.model.tables import schema


@pytest.mark.parametrize("timing", [False, True])
def test_a_rank_never_joins(timing: bool) -> None:
    job = world(4, {2: [*loop(STEP, 3), Stop()]}, timing=timing)
    verdict = only(case_of(job))
    assert verdict.hang
    assert blamed(verdict) == [2]
    assert verdict.divergence is not None
    assert (verdict.divergence.kind, verdict.divergence.seq) == ("absent", 10)
    assert verdict.victims == "0,1,3"


def test_a_broadcast_root_that_finished_early_is_no_culprit() -> None:
    body: list[Step] = [Call(WORLD, "broadcast", 16, "metrics.py:26")]
    root: list[Step] = [Call(WORLD, "broadcast", 16, "metrics.py:26", early=True)]
    job = world(
        4, {0: [*loop(STEP, 3), *root], **{r: [*loop(STEP, 3), *body] for r in (1, 2, 3)}}, timing=True
    )
    job = Job(job.groups, job.programs, timing=True, stalled=frozenset({(WORLD, 10)}))
    assert blamed(only(case_of(job))) == []
    assert not only(case_of(job, waited_s=0.1)).hang


def test_a_send_without_a_receive() -> None:
    job = world(4, {0: [*loop(STEP, 3), Call(WORLD, "send", 64, "pipe.py:70", peer=1), Stop()]})
    programs: dict[int, list[Step]] = {r: [*loop(STEP, 3), Stop()] for r in (1, 2, 3)}
    verdict = only(case_of(Job(job.groups, {**job.programs, **programs})))
    assert blamed(verdict) == [1]


def test_a_cascade_through_two_groups_ends_at_its_root() -> None:
    """Rank 3 stalls on the host before a TP call; 2 waits for 3, 0 and 1 wait for both through DP."""
    groups = {WORLD: [0, 1, 2, 3], "tp0": [0, 1], "tp1": [2, 3], "dp0": [0, 2], "dp1": [1, 3]}
    places = {0: ("tp0", "dp0"), 1: ("tp0", "dp1"), 2: ("tp1", "dp0"), 3: ("tp1", "dp1")}

    def step(rank: int) -> list[Step]:
        tp, dp = places[rank]
        return [all_reduce(2048, "layers.py:15", tp), all_reduce(4096, "optimizer.py:10", dp)]

    programs = {rank: loop(step(rank), 6) for rank in range(4)}
    programs[3] = [*loop(step(3), 4), Stop()]
    descs = {"tp0": "mesh_tp", "tp1": "mesh_tp", "dp0": "mesh_dp", "dp1": "mesh_dp"}
    for backend in ("gloo", "nccl"):
        verdict = only(case_of(Job(groups, programs, backend=backend, descs=descs)))
        assert blamed(verdict) == [3], backend
        assert verdict.divergence is not None
        assert verdict.divergence.group.startswith("mesh_tp")
        assert verdict.victims == "0-2"


def test_a_wrapped_ring_with_uneven_counts() -> None:
    groups = {WORLD: [0, 1, 2, 3], "tp": [0, 1]}
    chatty: list[Step] = [*STEP, *(all_reduce(8, "layers.py:15", "tp") for _ in range(4))]
    programs: dict[int, list[Step]] = {
        0: loop(chatty, 8),
        1: [*loop(chatty, 6), Stop()],
        2: loop(STEP, 8),
        3: loop(STEP, 8),
    }
    verdict = only(case_of(Job(groups, programs), ring=12))
    assert blamed(verdict) == [1]


def mesh(ranks: int, culprit: int, steps: int = 3) -> Case:
    """TP 8 x DP as its dumps are when `culprit` stops before a TP call: its TP group waits there, all others a call
    later. Written down, and not played: a thousand ranks take their time."""
    open_ = {True: "issued", False: "ended"}
    stuck = culprit // 8
    rows: list[tuple[int, int, int, int, str, int]] = []
    for rank in range(ranks):
        tp, dp = rank // 8, ranks // 8 + rank % 8
        made = [(group, seq) for seq in range(1, steps) for group in (tp, dp)]
        made += [] if rank == culprit else [(tp, steps)] if tp == stuck else [(tp, steps), (dp, steps)]
        for record, (group, seq) in enumerate(made):
            last = record == len(made) - 1 and rank != culprit
            rows.append((rank, group, seq, record, open_[last], 0 if group == tp else 1))
    columns = ("rank", "group", "seq", "record", "state", "site")
    calls = pl.DataFrame(rows, schema=columns, orient="row").with_columns(
        dump="rank", op_id="seq", stack="site", shape="site", is_p2p=False, op=pl.lit("all_reduce"),
        name=pl.lit("gloo:all_reduce"), timeout_ms=600_000, created_ns=START + pl.col("record") * SECOND,
    )  # fmt: skip
    groups = [(i, f"tp{i}", "mesh_tp", [*range(8 * i, 8 * i + 8)]) for i in range(ranks // 8)]
    groups += [(ranks // 8 + i, f"dp{i}", "mesh_dp", [*range(i, ranks, 8)]) for i in range(8)]
    dumps = {
        "dump": range(ranks), "rank": range(ranks), "source": [f"rank_{r}" for r in range(ranks)],
        "backend": ["gloo"] * ranks, "last_ns": [START + 2 * steps * SECOND] * ranks,
        "written_ns": [START + 900 * SECOND] * ranks, "wrapped": [False] * ranks, "truncated": [False] * ranks,
    }  # fmt: skip
    sites = {
        "frame": [0, 1],
        "function": ["step"] * 2,
        "file": ["/workspace/layers.py"] * 2,
        "line": [15, 30],
    }
    return Case(
        calls=_as_table("calls", calls),
        groups=_as_table(
            "groups", pl.DataFrame(groups, schema=["group", "name", "desc", "members"], orient="row")
        ),
        dumps=_as_table("dumps", pl.DataFrame(dumps)),
        frames=_as_table("frames", pl.DataFrame({**sites, "is_torch": [False, False]})),
        stacks=_as_table("stacks", pl.DataFrame({"stack": [0, 1], "frames": [[0], [1]], "site": [0, 1]})),
        shapes=_as_table(
            "shapes",
            pl.DataFrame(
                {
                    "shape": [0, 1],
                    "in_sizes": [[[2048]], [[4096]]],
                    "out_sizes": [[[2048]], [[4096]]],
                    "in_dtypes": [["Float"]] * 2,
                    "out_dtypes": [["Float"]] * 2,
                }
            ),
        ),
        world_size=ranks,
    )


def _as_table(name: str, given: pl.DataFrame) -> pl.DataFrame:
    columns = schema(name)
    missing = [
        pl.lit(None, dtype).alias(column) for column, dtype in columns.items() if column not in given.columns
    ]
    return given.with_columns(missing).select(pl.col(c).cast(t) for c, t in columns.items())


@pytest.mark.parametrize("ranks", [64, 1024])
def test_one_of_many_ranks_stuck_on_the_host(ranks: int) -> None:
    verdict = only(mesh(ranks, culprit=21))
    assert blamed(verdict) == [21]
    assert verdict.divergence is not None and verdict.divergence.group.startswith("mesh_tp")
    assert f"In {ranks // 8 - 1} of {ranks // 8} mesh_tp groups nobody waits." in verdict.sentence
