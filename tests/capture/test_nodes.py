"""Several `raf run` of one job, as on several nodes: they meet in the job's store or in a folder, and one speaks."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.capture.redis_server import redis_server
from support.capture.waiting import until
from support.capture.watched_jobs import Watched, alive
from support.selected import asked_for, in_lab

from rankandfile.capture.meet.nodes import Nodes, Word
from rankandfile.capture.meet.shared_folder import SharedFolder
from rankandfile.capture.meet.where_to_meet import place
from rankandfile.lab.ranks import free_port

TRAIN = """
import os, time
import torch
import torch.distributed as dist

torch.set_num_threads(1)
dist.init_process_group("gloo")
one = torch.ones(4)
for _ in range(3):
    dist.all_reduce(one)
print("came", flush=True)
if dist.get_rank() == 1:
    time.sleep(600)
dist.all_reduce(one)
"""


def two_nodes(folder: Path, command: list[str], *options: str) -> list[Watched]:
    """The same command on each; `{node}` and `{port}` are filled in."""
    port, started = str(free_port()), []
    for node in range(2):
        at = folder / f"at{node}"
        at.mkdir(parents=True)
        (at / "train.py").write_text(TRAIN)
        words = [word.format(node=node, port=port) for word in command]
        started.append(Watched(at, words, ["--stall", "3", *options]))
    return started


TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--node-rank", "{node}"]
TORCHRUN += ["--nproc-per-node", "1", "--master-addr", "127.0.0.1", "--master-port", "{port}", "train.py"]
PLAIN = ["env", "RANK={node}", "WORLD_SIZE=2", "LOCAL_RANK=0", "LOCAL_WORLD_SIZE=1"]
PLAIN += ["MASTER_ADDR=127.0.0.1", "MASTER_PORT={port}", sys.executable, "train.py"]


@pytest.fixture(scope="module")
def pairs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, list[Watched]]]:
    pytest.importorskip("torch")
    folder, ending = tmp_path_factory.mktemp("nodes"), contextlib.ExitStack()

    def in_redis() -> list[Watched]:
        pytest.importorskip("redis")
        return two_nodes(folder / "redis", PLAIN, "--meet", ending.enter_context(redis_server()))

    start = {
        "store": lambda: two_nodes(folder / "store", TORCHRUN),
        "folder": lambda: two_nodes(folder / "folder", PLAIN, "--meet", str(folder / "shared")),
        "redis": in_redis,
    }
    started = {how: start[how]() for how in asked_for(request, "how")}
    yield started
    for job in (job for pair in started.values() for job in pair):
        job.stop()
    ending.close()


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("how", in_lab(["store", "folder", "redis"], ("folder",)))
def test_the_first_node_tells_whom_all_wait_for(pairs: dict[str, list[Watched]], how: str) -> None:
    """The culprit is on the second node, whose evidence the first one gets."""
    first, second = pairs[how]
    # On a busy machine the second node may be late with its evidence: then the next look has it.
    first.until(
        lambda: re.search(r"HANG: rank 1 got stuck.*raf: case: \S+", first.err, re.DOTALL) is not None
    )
    said = first.err[first.err.index("HANG: rank 1 got stuck") :]
    headline, case = said.splitlines()[0], said.split("raf: case: ", 1)[1].split()[0]
    headline = headline.split("  ")[0]
    there = re.compile(rf"{re.escape(headline)}[^;\n]*; case there: {re.escape(case)}")
    second.until(lambda: there.search(second.err) is not None)
    assert not (second.case / "diagnosis.json").exists()


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("how", ["folder"])
def test_a_node_whose_watcher_is_killed(pairs: dict[str, list[Watched]], how: str) -> None:
    """Its job ends with it, and the first node's job ends as it would without us."""
    test_the_first_node_tells_whom_all_wait_for(pairs, how)
    first, second = pairs[how]
    ranks = [row["pid"] for row in json.loads((second.case / "evidence" / "exits.json").read_text())]
    second.process.send_signal(signal.SIGKILL)
    second.process.wait()
    assert first.wait() == 1, first.err
    assert "the verdict above stands" in first.err
    until(lambda: not any(map(alive, ranks)))


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.torch
def test_what_arrives_late_replaces_the_verdict(tmp_path: Path) -> None:
    """The second node's watcher comes to itself when the first has given up on it."""
    first, second = two_nodes(tmp_path, PLAIN, "--meet", str(tmp_path / "shared"))
    try:
        words = tmp_path / "shared"
        until(lambda: len(list(words.rglob("word"))) == 2 and "came" in first.out and "came" in second.out)
        second.process.send_signal(signal.SIGSTOP)
        first.until(lambda: "which is lost" in first.err and "raf: case: " in first.err)
        before = first.err
        assert "HANG: rank 1 got stuck" not in before
        second.process.send_signal(signal.SIGCONT)
        first.until(lambda: "this replaces the verdict above" in first.err)
        later = first.err[len(before) :]
        assert "has arrived: looking again" in later and "HANG: rank 1 got stuck" in later
        verdict = json.loads((first.case / "diagnosis.json").read_text())["verdicts"][0]
        assert (verdict["cause"], [one["rank"] for one in verdict["culprits"]]) == ("host_blocked", [1])
        second.until(lambda: "the verdict is with" in second.err and "HANG: rank 1 got stuck" in second.err)
    finally:
        first.stop()
        second.stop()


def nodes(folder: Path, rank: int, say: list[str]) -> Nodes:
    return Nodes(lambda: SharedFolder(folder), say.append, (rank,), time.time())


@pytest.mark.lab
def test_leftovers_of_an_earlier_attempt_take_no_part(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "word").write_text(
        json.dumps({**Word((0,), "gone").__dict__, "at": time.time() - 60})
    )
    (tmp_path / "old" / "evidence").write_text("of yesterday")
    (tmp_path / "alarm").write_text("7")
    (tmp_path / "verdict-8").write_text(json.dumps({"by": "old", "headline": "RANK 9 DID IT"}))
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "word").write_bytes(b"\xff{[")
    first, second = nodes(tmp_path, 1, []), nodes(tmp_path, 2, [])
    try:
        until(lambda: second.own in first.others() and first.own in second.others())
        assert first.raise_alarm() == second.raise_alarm() == 8
        assert "old" not in first.others() and first.verdict("8") is None
        # What was heard a look ago is heard anew, now that there is something to decide.
        until(lambda: first.first() == second.first() == first.own, limit_s=60)
    finally:
        first.leave(True)
        second.leave(True)
    assert sorted(one.name for one in tmp_path.iterdir() if one.is_dir()) == ["odd", "old"]


def test_a_place_that_goes_away_leaves_the_node_alone(tmp_path: Path) -> None:
    said: list[str] = []
    one = nodes(tmp_path / "shared", 0, said)
    until(lambda: (tmp_path / "shared").exists() and one.raise_alarm() > 0)
    (tmp_path / "shared").rename(tmp_path / "elsewhere")
    one.listen(True)
    until(lambda: one.lost)
    assert one.raise_alarm() == 0 and one.fetch("anybody") is None and one.verdict("1") is None
    until(lambda: bool(said))
    assert "this node goes on alone" in said[0]
    one.leave(True)


def test_where_the_nodes_of_a_job_meet() -> None:
    told = {"WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8", "MASTER_ADDR": "node-0", "MASTER_PORT": "29500"}
    assert place(Path("/shared"), {**told, "LOCAL_WORLD_SIZE": "16"}) is None  # one node
    assert place(None, told) is None
    assert place(Path("/shared"), told) is not None
