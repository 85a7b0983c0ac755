"""NCCL's setup that fails for another version on some rank: who is out of line, and when nobody can tell."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from pathlib import Path

import rankandfile
from rankandfile.model.diagnosis import Verdict

WARN = "{host}:41:{tid} [{dev}] init.cc:938 NCCL WARN Mismatched {lib} version detected : rank {i} version {vi} rank {own} version {vo}\n"


def verdict(folder: Path, files: dict[str, str]) -> Verdict:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return rankandfile.diagnose([folder]).verdicts[0]


def logs(versions: dict[int, int], lib: str = "NCCL", first: int = 0) -> dict[str, str]:
    """Each rank names the first whose version is not its own."""
    out = {}
    for rank, own in versions.items():
        other = next(one for one, version in versions.items() if version != own)
        line = WARN.format(
            host=f"w{rank}",
            tid=90,
            dev=0,
            lib=lib,
            i=other + first,
            vi=versions[other],
            own=rank + first,
            vo=own,
        )
        begun = f"[rank {rank}/{len(versions)}] backend up\n"
        failed = f"[rank {rank}/{len(versions)}] init failed: invalid usage, retry in 30 s\n"
        out[f"rank{rank}.log"] = begun + line + failed + line + failed
    return out


def test_the_one_with_another_version_is_named(tmp_path: Path) -> None:
    found = verdict(tmp_path, logs({0: 22703, 1: 22703, 2: 22703, 3: 22705}))
    assert (found.cause, found.hang, [one.rank for one in found.culprits]) == ("init_stuck", True, [3])
    assert "rank 3 runs 2.27.5" in found.sentence
    assert "did not come" not in str(found)


def test_old_numbers_and_two_that_are_out_of_line(tmp_path: Path) -> None:
    found = verdict(tmp_path, logs({0: 2708, 1: 2804, 2: 2804, 3: 2804, 4: 2804, 5: 2708}, lib="RCCL"))
    assert [one.rank for one in found.culprits] == [0, 5]
    assert "2.7.8" in found.sentence
    assert "2.8.4" in found.sentence


def test_of_two_ranks_nobody_is_named(tmp_path: Path) -> None:
    found = verdict(tmp_path, logs({0: 22703, 1: 22501}))
    assert (found.cause, found.culprits, found.suspects) == ("init_stuck", [], [])
    assert "rank 1 runs 2.25.1" in found.sentence


def test_numbers_of_a_communicator_are_no_ranks_of_the_job(tmp_path: Path) -> None:
    found = verdict(tmp_path, logs({0: 22703, 1: 22703, 2: 22703, 3: 22501}, first=4))
    assert (found.culprits, found.suspects) == ([], [])
    assert "numbers in the communicator" in found.sentence
