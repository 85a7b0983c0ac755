"""Who says that it goes on from another place than all others, and who alone logged an exception of two that parted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.reason.building import WORLD, Call, Job, case_of
from support.reason.witnesses import Witnesses, best, blamed

from rankandfile import diagnose, load
from rankandfile.model.diagnosis import Verdict

C10D = "torch/distributed/distributed_c10d.py"
IN_RECV = (
    f'Thread 4711 (idle): "MainThread"\n    recv ({C10D}:2600)\n    run (pipe.py:31)\n    main (train.py:9)\n'
)
STEP = Call(WORLD, "all_reduce", 4, "train.py:29")
SAVE = Call(WORLD, "broadcast", 8, "train.py:40")

SOURCE = """
import json


def newest(folder, log):
    for path in sorted(folder.glob("step-*"), reverse=True):
        try:
            state = json.loads(path.read_text())
        except ValueError:  # passed by
            continue
        log.info("restored %s/%s", path.parent.name, path.name)
        return state
    return None


def pointed(folder, log, stage):
    tag = (folder / "latest").read_text()  # read
    log.info("stage %d resumed from %s", stage, tag)
    return tag
"""


def said(folder: Path, lines: dict[int, str], *, looks: int = 2) -> Verdict:
    """All wait in a receive, with a word of each before; `looks` a minute apart."""
    for rank, line in lines.items():
        (folder / f"rank_{rank}.log").write_text(f"{line}\n")
        for look in range(looks):
            told = f"Process {100 + rank}: python train.py\n# 2026-11-30T10:0{look}:00Z\n{IN_RECV}"
            (folder / f"spy_rank{rank}_{look}.txt").write_text(told)
    (folder / "state.py").write_text(SOURCE)
    return diagnose(folder, src=folder, hung=looks > 1).verdicts[0]


def line_of(words: str) -> int:
    return next(n for n, line in enumerate(SOURCE.splitlines(), 1) if words in line)


@pytest.mark.parametrize(
    ("line", "odd", "decides"),
    [
        ("restored rank{rank}/step-{step:06d}.json", 100, "# passed by"),
        ("stage {rank} resumed from iter_{step:07d}", 39, "# read"),
    ],
)
def test_who_goes_on_from_another_place_is_named_and_what_made_it_so(
    tmp_path: Path, line: str, odd: int, decides: str
) -> None:
    verdict = said(
        tmp_path, {rank: line.format(rank=rank, step=odd if rank == 2 else 120) for rank in range(4)}
    )
    assert blamed(verdict) == [2]
    assert verdict.location is not None and verdict.location.line == line_of(decides)
    assert line.format(rank=2, step=odd) in verdict.sentence and "3 others" in verdict.sentence


@pytest.mark.parametrize(
    "lines",
    [
        {rank: f"restored rank{rank}/step-000120.json" for rank in range(4)},
        {
            rank: f"restored rank{rank}/step-{100 + 20 * (rank % 2):06d}.json" for rank in range(4)
        },  # two and two
        {rank: f"rank {rank} runs on port {4000 + (rank == 2)}" for rank in range(4)},  # its own
    ],
)
def test_nobody_is_named_who_says_what_the_others_say(tmp_path: Path, lines: dict[int, str]) -> None:
    assert not blamed(said(tmp_path, lines))


def test_without_proof_of_a_standstill_it_is_suspected(tmp_path: Path) -> None:
    lines = {rank: f"restored rank{rank}/step-{100 if rank == 2 else 120:06d}.json" for rank in range(4)}
    verdict = said(tmp_path, lines, looks=1)
    assert (verdict.hang, blamed(verdict), [one.rank for one in verdict.suspects]) == (None, [], [2])


def test_labels_of_torchrun_are_ranks_where_the_job_has_as_many(tmp_path: Path) -> None:
    """One log of one machine, in which nothing else tells a rank."""
    lines = [f"[default{rank}]:stage {rank} resumed from iter_{39 if rank == 2 else 40}" for rank in range(4)]
    (tmp_path / "job.log").write_text("\n".join(lines) + "\n")
    assert not load(tmp_path).compared_lines
    exits = [{"rank": rank, "pid": 100 + rank, "state": "running", "exitcode": None} for rank in range(4)]
    (tmp_path / "exits.json").write_text(json.dumps(exits))
    assert [row["rank"] for row in load(tmp_path).compared_lines] == [2]
    exits = [{"rank": rank, "pid": 100 + rank, "state": "running", "exitcode": None} for rank in range(8)]
    (tmp_path / "exits.json").write_text(json.dumps(exits))
    assert not load(tmp_path).compared_lines


def parted(*lines: tuple[int, str]) -> Verdict:
    """Of two ranks, rank 1 made another call in the place of rank 0's."""
    before = [Call(WORLD, "all_reduce", 4, f"train.py:{line}") for line in range(20, 26)]
    programs = {0: [*before, STEP], 1: [*before, SAVE]}
    seen = Witnesses(case_of(Job({WORLD: [0, 1]}, programs, backend="gloo")))
    for rank, line in lines:
        seen.event("own_last_line", "fact", rank, line)
    return best(seen.case)


def test_of_two_that_parted_who_alone_logged_an_exception_left_the_way() -> None:
    assert not blamed(parted())
    told = parted((1, "batch 14: ValueError: zero-size array"))
    assert (blamed(told), told.cause) == ([1], "swallowed_exception")
    assert "zero-size array" in told.sentence


@pytest.mark.parametrize(
    "lines",
    [
        [(1, "terminate called after throwing an instance of 'gloo::EnforceNotMet'")],
        [(1, "RuntimeError: Connection closed by peer [127.0.0.1]:4242")],
        [(1, "batch 14: ValueError: zero-size array"), (0, "batch 12: KeyError: 'x'")],
        [(1, "batch 14 begins")],
    ],
)
def test_what_comes_of_others_or_is_met_by_both_names_nobody(lines: list[tuple[int, str]]) -> None:
    assert not blamed(parted(*lines))
