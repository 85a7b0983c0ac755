"""Hangs of real NCCL (2.28.9, torch 2.11) on one GPU, as `record.py` recorded them: what is said of each is so."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

import rankandfile
from rankandfile.model.diagnosis import Verdict

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nccl")
    with tarfile.open(HERE / "recorded.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    return folder / "recorded"


def verdict(folder: Path, *names: str) -> Verdict:
    """Of all that a hang left, or of what is named, with the program."""
    paths = [folder / name for name in names] or [folder]
    return rankandfile.diagnose(paths, src=[PROGRAMS]).verdicts[0]


def line_of(program: str, text: str) -> int:
    lines = (PROGRAMS / f"{program}.py").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


#: Program -> culprits, and a piece of the line to be named where one is to be.
ANSWERS = {
    "skipped_nan": ([2], "if not torch.isfinite(loss):"),
    "runs_out_first": ([3], "12 if rank == 3 else 20"),
    "shards_left_out": ([1], "if len(batch) < 8:"),
    "reads_a_pipe": ([1], "return float(shard.read())"),
    "kernel_never_ends": ([3], ""),
    "killed": ([1], ""),
    # All but one of its rounds send: the rest is a circle of waits.
    "message_left_out": ([1], "if rank < world - 1 and not empty:"),
    # RAS counts the launches, and the stacks show where: no dump is there.
    "extra_evaluation": ([0], "if step % 10 == 9 and rank == 0:"),
}


@pytest.mark.parametrize("program", ANSWERS)
def test_who_and_where(recorded: Path, program: str) -> None:
    ranks, text = ANSWERS[program]
    found = verdict(recorded / program)
    assert found.hang
    assert [one.rank for one in found.culprits] == ranks
    if text:
        assert found.location is not None
        lines = (found.location.line, found.location.condition_line)
        # A file's line, or that of the statement which opens and reads it.
        assert any(
            abs(line - line_of(program, text)) <= (program == "reads_a_pipe") for line in lines if line
        )


@pytest.mark.parametrize("program", ["healthy", "two_roots", "other_length"])
def test_no_hang_where_there_was_none(recorded: Path, program: str) -> None:
    """NCCL compares neither roots nor sizes: both jobs came to their ends, with wrong numbers."""
    found = verdict(recorded / program)
    assert found.hang is not True
    if program == "other_length":
        assert [one.rank for one in found.culprits] == [3]
        assert "may have gone on with wrong numbers" in found.sentence
        assert not found.anti_advice, "nobody waits: no time is too short"


def test_what_only_the_abort_ended_is_in_flight(recorded: Path) -> None:
    """A barrier that two ranks were in is found completed after the abort, though the others never came to it."""
    diagnosis = rankandfile.diagnose([recorded / "message_left_out"], src=[PROGRAMS])
    found = diagnosis.verdicts[0]
    assert {"barrier", "recv"} <= {str(wait.op) for wait in found.waits}
    assert not [note for note in diagnosis.notes if "have completed call" in note.what]


@pytest.mark.parametrize("program", ["extra_evaluation", "two_orders", "graph_replayed"])
def test_nobody_innocent_is_named(recorded: Path, program: str) -> None:
    """Without a dump: of the first the rank that is behind, of the second nobody, of the third the one who left."""
    blamed = {"extra_evaluation": {0}, "two_orders": set(), "graph_replayed": {2}}[program]
    assert {one.rank for one in verdict(recorded / program).culprits} <= blamed


@pytest.mark.parametrize(
    ("program", "rank"), [("skipped_nan", 2), ("runs_out_first", 3), ("reads_a_pipe", 1)]
)
def test_logs_alone_name_the_rank(recorded: Path, program: str, rank: int) -> None:
    found = verdict(recorded / program, *(f"rank_{n}.log" for n in range(4)))
    assert [one.rank for one in found.culprits] == [rank]
