"""A folder that names one rank, and holds the dumps of several processes, is no clue to a rank."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from support.evidence.sample_dumps import one_rank, plain

from rankandfile.evidence.load import load
from rankandfile.lab import truth
from rankandfile.lab.sim.run import simulate
from rankandfile.pipeline import Options, run

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


def test_two_files_of_one_content_under_two_ranks_names_are_nobodys_and_that_is_said(tmp_path: Path) -> None:
    own = {f"fr_rank_{rank}.pkl": dump(6 + rank) for rank in (0, 1)}
    files = {**own, "fr_rank_2.pkl": own["fr_rank_1.pkl"]}
    assert set(ranks(tmp_path / "job", files).values()) == {0}
    case = load([tmp_path / "job"], tmp_path / "job-spool", jobs=1)
    assert [n.what for n in case.notes if "set aside" in n.what and "ranks 1,2 cannot" in n.what]
    # Both are in the table of files, with the reason.
    assert case.dumps["rank"].drop_nulls().sort().to_list() == [0, 1, 2]


def test_files_of_like_times_are_no_copies_where_their_calls_are_others(tmp_path: Path) -> None:
    """A clock may be coarse, or set alike: what was called, from where, tells them apart."""
    files = {f"fr_rank_{rank}.pkl": dump(6) for rank in range(3)}
    for entry in files["fr_rank_2.pkl"]["entries"]:
        entry["frames"] = [{"filename": "/job/other.py", "name": "main", "line": 3}]
    assert set(ranks(tmp_path / "job", files).values()) == {2}


def test_of_two_files_of_one_content_the_groups_tell_whose_it_is(tmp_path: Path) -> None:
    incident = simulate("blocked-loader-3d", tmp_path / "job")
    dumps = incident / "evidence" / "dumps"
    (dumps / "nccl_trace_rank_6").write_bytes((dumps / "nccl_trace_rank_3").read_bytes())
    case = load([dumps], tmp_path / "spool", jobs=1)
    assert case.dumps_used["rank"].sort().to_list() == [rank for rank in range(16) if rank != 6]
    assert [n.file for n in case.notes if "their groups are those of rank 3" in n.what] == [
        str(dumps / "nccl_trace_rank_6")
    ]


@pytest.mark.parametrize("name", ["skip-nonfinite-ddp", "peers-other-size", "dtype-metrics"])
def test_who_bears_anothers_record_is_not_said_to_have_asked_for_the_same(name: str, tmp_path: Path) -> None:
    incident = simulate(name, tmp_path / "job")
    evidence = incident / "evidence"
    dumps = sorted((evidence / "dumps").iterdir())
    (culprit,) = truth.read(incident).culprits
    dumps[culprit].write_bytes(dumps[0].read_bytes())
    made = run([evidence], Options(jobs=1)).diagnosis
    said = " ".join(verdict.sentence for verdict in made.verdicts)
    assert "asked for the same" not in said and "All members" not in said
    assert {one.rank for verdict in made.verdicts for one in verdict.culprits} <= {culprit}


def test_who_left_a_file_that_cannot_be_read_is_not_missing(tmp_path: Path) -> None:
    incident = simulate("skip-nonfinite-ddp", tmp_path / "job")
    dumps = incident / "evidence" / "dumps"
    (dumps / "nccl_trace_rank_5").write_bytes(bytes(range(7, 207)))
    made = run([dumps], Options(jobs=1)).diagnosis
    assert [one.what for one in made.standings if one.ranks == "5" and "cannot be read" in one.what]
    verdict = made.verdicts[0]
    assert not verdict.culprits and "never issued" not in verdict.sentence
