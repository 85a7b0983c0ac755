"""Numbers that no job has: nothing counts up to them, and many of them take no more than a few times their room."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.evidence.sample_dumps import one_rank, plain
from support.selected import in_lab

import rankandfile
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.load import load
from rankandfile.evidence.reading import NotACase
from rankandfile.evidence.tables import case_dir
from rankandfile.model.case import Case
from rankandfile.model.ledger import NO_ROOM
from rankandfile.model.ranks import MOST_RANKS

pytestmark = pytest.mark.slow

NCCL = (
    "host:1:1 [0] NCCL INFO comm 0x1 rank 0 nRanks {} nNodes 9 localRanks 8 localRank 0 MNNVL 0\n"
    "host:1:1 [0] NCCL INFO ncclCommInitRankConfig comm 0x1 rank 0 nranks {} cudaDev 0 nvmlDev 0 busId 1000 "
    "commId 0x2 - Init START\n"
)
LIES = {
    "NCCL's size": ("job.log", NCCL.format(2_000_000_000, 2_000_000_000)),
    "a rank": ("job.log", "[rank9999999]:[E1125 08:41:09.5 ProcessGroupNCCL.cpp:616] [Rank 2000000000] Watchdog caught "
     "collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) "
     "ran for 600009 milliseconds before timing out.\n"),
    "ranks": ("job.log", "[Rank 0]: Ranks 9000000, 9000001 failed to pass monitoredBarrier in 300000 ms\n"),
    "more digits than a number has": ("job.log",
     "[rank3]: connected rankinfo[LINE 0]: [03],[0088888888888888888888812];\n"),
    "more digits than an actor's pid has": ("job.log",
     "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n\tclass_name: Worker\n"
     "\tpid: 88888888888888888888888\n\tip: 10.0.0.7\nThe actor is dead because its worker process has died.\n"),
    "the size of RAS": ("ras.json", '{"nccl_version": "2.28.3", "communicators_count": 1, "communicators": '
     '[{"hash": "0x1", "size": 2000000000, "ranks": [{"rank": 0, "host": "a", "pid": 1}], "missing_ranks": []}]}'),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_more_ranks_than_a_job_has_are_not_believed(tmp_path: Path, lie: str) -> None:
    name, text = LIES[lie]
    (tmp_path / name).write_text(text)
    case = rankandfile.load(tmp_path)
    assert case.events.height, "the line itself is read"
    assert (case.world_size or 0) <= MOST_RANKS
    ranks = [*case.events["rank"], *case.events["group_rank"], *(case.events["about"].explode())]
    assert all(rank is None or rank < MOST_RANKS for rank in ranks)
    assert "2000000000" not in "".join(fields or "" for fields in case.events["fields"])
    rankandfile.diagnose(tmp_path)


def test_a_case_of_more_ranks_than_a_job_has_is_none(tmp_path: Path) -> None:
    evidence, kept = tmp_path / "evidence", tmp_path / "case"
    evidence.mkdir()
    (evidence / "trace_0").write_bytes(pickle.dumps(plain(one_rank(0)), 2))
    case_dir.write(rankandfile.load(evidence), kept)
    assert rankandfile.load(kept).calls.height
    manifest = msgspec.json.decode((kept / "case.json").read_bytes())
    (kept / "case.json").write_bytes(msgspec.json.encode(manifest | {"world_size": 1 << 40}))
    with pytest.raises(NotACase, match="more ranks than any job has"):
        rankandfile.load(kept)


def test_a_group_of_a_hundred_thousand_ranks_of_whom_two_left_something(tmp_path: Path) -> None:
    """A few hundred kilobytes, which took minutes."""
    for rank in (0, 1):
        dump = plain(one_rank(rank, calls=20 - 2 * rank))
        for group in dump["pg_config"].values():
            group["ranks"] = list(range(100_000))
        (tmp_path / f"trace_{rank}").write_bytes(pickle.dumps(dump, 2))
    began = time.process_time()
    rankandfile.diagnose(tmp_path)
    assert time.process_time() - began < 40


def test_watchdogs_that_gave_up_on_thousands_of_calls(tmp_path: Path) -> None:
    """Each is an end of waits, and for each all others were gone through: minutes for a log of a megabyte."""
    for rank in range(3):
        lines = (
            f"[rank{rank}]:[E1125 08:41:{n % 60:02d}.{n:06d} ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught "
            f"collective operation timeout: WorkNCCL(SeqNum={rank * 10_000 + n}, OpType=ALLREDUCE, NumelIn={n}, "
            f"NumelOut=1, Timeout(ms)=600000) ran for {600_000 + n} milliseconds before timing out.\n"
            for n in range(4000)
        )
        (tmp_path / f"rank{rank}.log").write_text("".join(lines))
    began = time.process_time()
    rankandfile.diagnose(tmp_path)
    assert time.process_time() - began < 8


PEAK = """
import resource, sys
import rankandfile, rankandfile.evidence.sorting, rankandfile.reason.calls.facts
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
rankandfile.diagnose(sys.argv[1])
print(peak() - before)
"""


#: Of each kind of call, none like another: what it has, and how many times their files' size a case of them may take.
UNLIKE: dict[str, tuple[Callable[[int], dict[str, Any]], int]] = {
    "sizes": (lambda n: {"input_sizes": [[n, k] for k in range(500)], "input_dtypes": ["Float"] * 500}, 15),
    "frames": (lambda n: {"frames": [{"name": f"f{n}_{k}", "filename": f"{k}.py", "line": k} for k in range(100)]}, 24),
}  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="kilobytes on Linux only")
@pytest.mark.parametrize("what", in_lab([*UNLIKE], ("frames",)))
def test_calls_of_which_none_is_like_another_take_a_few_times_the_room_of_their_files(
    tmp_path: Path, what: str
) -> None:
    """In the process that has no limit of its own. Sizes were objects there, twenty-five times as large as the file."""
    more, times = UNLIKE[what]
    for rank in range(3):
        dump = plain(one_rank(rank, calls=2))
        entries = [
            dump["entries"][0] | {"record_id": n, "collective_seq_id": n} | more(n + rank * 1000 + 1)
            for n in range(500)
        ]
        (tmp_path / f"trace_{rank}").write_bytes(pickle.dumps(dump | {"entries": entries}, 2))
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    done = subprocess.run([sys.executable, "-c", PEAK, str(tmp_path)], capture_output=True, check=True)
    assert int(done.stdout) < times * size


def unlike(folder: Path, dumps: int, calls: int, what: str) -> None:
    for rank in range(dumps):
        dump = plain(one_rank(rank, calls=2))
        entries = [
            dump["entries"][0]
            | {"record_id": n, "collective_seq_id": n}
            | UNLIKE[what][0](n + rank * 100_000 + 1)
            for n in range(calls)
        ]
        (folder / f"trace_{rank}").write_bytes(pickle.dumps(dump | {"entries": entries}, 2))


def loaded(folder: Path, spool: Path, most: int) -> Case:
    spool.mkdir()
    return load([folder], spool, jobs=1, limits=Limits(memory_bytes=most))


@pytest.mark.parametrize("what", UNLIKE)
def test_of_many_dumps_without_two_like_calls_so_many_are_kept_as_have_room(
    tmp_path: Path, what: str
) -> None:
    """Each is within the bounds of a dump, and as many as anybody likes would end the process."""
    evidence = tmp_path / "evidence"
    evidence.mkdir()
    unlike(evidence, 8, 20, what)
    case = loaded(evidence, tmp_path / "spool", 5_000_000)
    used = case.dumps_used
    assert 1 < used.height < 7
    assert set(case.calls["rank"]) == set(used["rank"]), "what was read is kept"
    assert sorted(case.dumps["rank"]) == [*range(8)]
    (note,) = (note.what for note in case.notes if NO_ROOM in note.what)
    assert note == f"set aside: {NO_ROOM}; so were {7 - used.height} more files"
    assert loaded(evidence, tmp_path / "again", 50_000_000).dumps_used.height == 8


def test_what_repeats_takes_room_once(tmp_path: Path) -> None:
    evidence = tmp_path / "evidence"
    evidence.mkdir()
    unlike(evidence, 1, 20, "frames")
    dump = pickle.loads((evidence / "trace_0").read_bytes())
    for rank in range(1, 12):
        for entry in dump["entries"]:
            entry["time_created_ns"] += 1
        (evidence / f"trace_{rank}").write_bytes(pickle.dumps(dump, 2))
    assert loaded(evidence, tmp_path / "spool", 5_000_000).dumps_used.height == 12


BOUND = """
from pathlib import Path
from rankandfile.pipeline import Options
from rankandfile.evidence.files.limits import Limits
""" + PEAK.replace(
    "diagnose(sys.argv[1])",
    "pipeline.run([Path(sys.argv[1])], Options(limits=Limits(memory_bytes=int(sys.argv[2]))))",
)


@pytest.mark.lab
@pytest.mark.skipif(sys.platform != "linux", reason="kilobytes on Linux only")
def test_the_bound_is_one_of_memory(tmp_path: Path) -> None:
    unlike(tmp_path, 6, 300, "frames")
    most = 20_000_000
    done = subprocess.run(
        [sys.executable, "-c", BOUND, str(tmp_path), str(most)], capture_output=True, check=True
    )
    assert int(done.stdout) < 50_000_000, "which is ninety without the bound"
