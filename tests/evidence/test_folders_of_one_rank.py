"""A folder that names one rank, and holds the dumps of several processes, is no clue to a rank."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from support.evidence.sample_dumps import one_rank, plain

from rankandfile.evidence.load import load

pytestmark = pytest.mark.slow


def dump(calls: int, later_s: int = 0, world: int = 3) -> dict[str, Any]:
    """`calls` apart, these are not of one process: what they number alike, they made at other times."""
    found = plain(one_rank(0, calls))
    shift = (calls + 1_000 * later_s * 1_000_000) * 1_000
    for entry in found["entries"]:
        entry["time_created_ns"] += shift
        entry["process_group"] = ("0", "default_pg")
    found["pg_config"] = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(world)))}}
    return found


def ranks(folder: Path, files: dict[str, dict[str, Any]]) -> dict[str, int | None]:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(content))
    spool = folder.parent / f"{folder.name}-spool"
    spool.mkdir()
    dumps = load([folder], spool, jobs=1).dumps
    used = dumps.filter(dumps["set_aside"].is_null())
    return {
        source[len(str(folder)) + 1 :]: rank for source, rank in used.select("source", "rank").iter_rows()
    }


def test_folders_below_it_are_the_next_best_clue(tmp_path: Path) -> None:
    files = {f"job_rank2/n{number}/fr.pkl": dump(6 + number) for number in range(3)}
    assert ranks(tmp_path, files) == {f"job_rank2/n{number}/fr.pkl": number for number in range(3)}


def test_folders_that_are_no_whole_row_give_no_rank(tmp_path: Path) -> None:
    files = {f"job_rank2/host{number}/fr.pkl": dump(6 + number, world=8) for number in range(3)}
    assert ranks(tmp_path, files) == {}


def test_two_attempts_of_one_rank_stay_its_own(tmp_path: Path) -> None:
    files = {"rank_1/attempt_0/fr.pkl": dump(6), "rank_1/attempt_1/fr.pkl": dump(6, later_s=900)}
    assert ranks(tmp_path, files) == {"rank_1/attempt_1/fr.pkl": 1}
