"""A monitored barrier whose first rank keeps count and does not come: the others say that they were there."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from pathlib import Path

import pytest

import rankandfile
from rankandfile.model.diagnosis import Verdict

WORLD = "[2026-01-09 07:00:02,101] [INFO] [launch.py:163:main] dist_world_size=3\n"


def verdict(folder: Path, text: str) -> Verdict:
    folder.mkdir(exist_ok=True)
    (folder / "nohup.out").write_text(text)
    return rankandfile.diagnose([folder]).verdicts[0]


def gave_up(rank: int, why: str = "Timed out waiting 900000ms for recv operation to complete") -> str:
    said = f"Rank {rank} successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 0. Please check rank 0 logs for faulty rank."
    return (
        f"[E ProcessGroupGloo.cpp:2794] {said}\n"
        "Traceback (most recent call last):\n"
        '  File "/srv/pre/index.py", line 77, in <module>\n'
        "    dist.monitored_barrier()\n"
        f"RuntimeError: {said}\n"
        " Original exception: \n"
        f"[../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] {why}\n"
    )


def rows(first: int, last: int) -> str:
    return "".join(f"indexed {n * 5000}/2000000 rows [{n:02}:00, 83.1 rows/s]\n" for n in range(first, last))


def test_who_is_still_at_work_when_the_others_give_up(tmp_path: Path) -> None:
    found = verdict(tmp_path, WORLD + rows(1, 15) + gave_up(1) + gave_up(2) + rows(15, 19))
    assert (found.cause, [one.rank for one in found.culprits]) == ("host_slow", [0])
    assert "say ranks 1 and 2" in found.sentence
    assert "indexed 90000/2000000 rows" in found.sentence
    assert found.location is not None
    assert (found.location.file, found.location.line) == ("/srv/pre/index.py", 77)


def test_who_is_silent_did_not_come(tmp_path: Path) -> None:
    found = verdict(tmp_path, WORLD + rows(1, 9) + gave_up(1) + gave_up(2))
    assert (found.cause, [one.rank for one in found.culprits]) == ("undetermined", [0])
    assert "did not come to the monitored barrier within 900 s" in found.sentence


@pytest.mark.parametrize(
    "text",
    [
        gave_up(1),
        gave_up(1, "Connection closed by peer [10.0.0.1]:4811")
        + gave_up(2, "Connection closed by peer [10.0.0.1]:4811"),
    ],
    ids=["another is missing too", "it gave up itself"],
)
def test_the_one_that_keeps_count_may_have_waited_for_another(tmp_path: Path, text: str) -> None:
    found = verdict(tmp_path, WORLD + rows(1, 9) + text)
    assert not found.culprits
    assert "rank 0 did not come" not in found.sentence.lower()


HCCL = "[ERROR] HCCL({pid},python3):2026-01-20-11:04:40.301.118 [topoinfo_exchange_server.cc:517] [9][InitGroupStage]"


def exchange(met: tuple[int, ...], size: int = 16) -> str:
    head = HCCL.format(pid=4100)
    text = f"{head}[RanktableDetect]topo exchange server get socket timeout! timeout[120 s]\n"
    text += f"{head}[DisplayConnectedRank]need connect rankNum is [{size}]\n"
    for line in range(0, len(met), 8):
        listed = ",".join(f"[{rank:016}]" for rank in met[line : line + 8])
        text += f"{head}[DisplayConnectedRank]connected rankinfo[LINE {line // 8}]: {listed};\n"
    return text


def agents(absent: str) -> str:
    return f'{HCCL.format(pid=4101)}[RanktableDetect] TopoDetect ERROR occur !!! fault_type[1], fault_info["Failed to connect agent[{absent}]"]\n'


@pytest.mark.parametrize(
    "text",
    [
        exchange(tuple(rank for rank in range(16) if rank not in (6, 11))),
        exchange(()) + agents("6,11,"),
    ],
    ids=["by its server", "by the others"],
)
def test_who_has_not_come_to_the_exchange_of_hccl(tmp_path: Path, text: str) -> None:
    found = verdict(tmp_path, text)
    assert (found.cause, [one.rank for one in found.culprits]) == ("init_stuck", [6, 11])
    assert "HCCL sets up the communicator of all 16 ranks" in found.sentence


def test_an_exchange_to_which_most_have_not_come_names_nobody(tmp_path: Path) -> None:
    assert not verdict(tmp_path, exchange((0, 2, 4))).culprits
