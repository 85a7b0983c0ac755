"""Files decoded as tasks of a real cluster of Ray: the answer is the same, byte for byte, whatever dies meanwhile."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.evidence.ray_cluster import RayCluster, kill_one, ray_cluster
from support.evidence.stores import bucket
from support.opened_sets import archives, unpacked
from support.places import EARLY_STOP

from rankandfile import diagnose
from rankandfile.cluster import share
from rankandfile.evidence.files.decoded import UNREAD, Decoded
from rankandfile.evidence.files.patience import Patience
from rankandfile.evidence.files.pool import Task
from rankandfile.lab.sim.run import simulate
from rankandfile.model.errors import UserError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store() -> Iterator[Any]:
    with bucket() as found:
        yield found


@pytest.fixture(scope="module")
def cluster(store: Any) -> Iterator[RayCluster]:
    """Its machines can read the bucket, as those of a real one could."""
    before = dict(os.environ)
    os.environ.update(store[1])
    try:
        with ray_cluster() as found:
            yield found
    finally:
        os.environ.clear()
        os.environ.update(before)


def diagnosed(paths: list[str], cwd: Path, engine: str = "", **env: str) -> tuple[int, str, str]:
    words = ["diagnose", *paths, "--format", "json", *(["--engine", engine] if engine else [])]
    done = subprocess.run(
        [sys.executable, "-m", "rankandfile", *words],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stdout, done.stderr


def same(paths: list[str], cwd: Path, engine: str = "ray", **env: str) -> None:
    here = diagnosed(paths, cwd)
    there = diagnosed(paths, cwd, engine, **env)
    assert here[0] in (0, 1, 3), here[2]
    assert there == here


@pytest.mark.parametrize(
    "path", ["evidence", "/proc/self/cwd/evidence"], ids=["seen by all", "of this machine"]
)
def test_an_example_has_the_same_answer(cluster: RayCluster, path: str) -> None:
    """What a worker does not have under that path is sent: its own working directory is another."""
    same([path], EARLY_STOP, RAY_ADDRESS=cluster.address)


def test_a_cluster_is_reached_from_elsewhere(cluster: RayCluster) -> None:
    same(["evidence"], EARLY_STOP, cluster.client)


def test_an_opened_set_has_the_same_answers(cluster: RayCluster, tmp_path: Path) -> None:
    folder = unpacked(archives("found")[0], tmp_path)
    for case in sorted(folder.glob("*/evidence"))[:3]:
        same([str(case)], tmp_path, RAY_ADDRESS=cluster.address)


def test_an_archive_has_the_same_answer(cluster: RayCluster, tmp_path: Path) -> None:
    same([str(archives("found")[0])], tmp_path, RAY_ADDRESS=cluster.address)


def test_objects_are_read_by_the_tasks(cluster: RayCluster, store: Any, tmp_path: Path) -> None:
    log = "2026-01-01 10:00:00,000 step {n}\n[rank{n}]: ValueError: bad batch\n"
    for n in range(30):
        store[0].put(f"logs/rank_{n}.log", log.format(n=n).encode())
    same(["s3://jobs/logs"], tmp_path, RAY_ADDRESS=cluster.address)


def test_objects_that_the_cluster_cannot_read_are_sent(
    cluster: RayCluster, store: Any, tmp_path: Path
) -> None:
    """Another server, of which only this machine knows."""
    log = "2026-01-01 10:00:00,000 step {n}\n[rank{n}]: ValueError: bad batch\n"
    with bucket() as (private, env):
        for n in range(30):
            private.put(f"private/rank_{n}.log", log.format(n=n).encode())
        here = diagnosed(["s3://jobs/private"], tmp_path, **env)
        assert here[0] in (1, 3), here[2]
        assert diagnosed(["s3://jobs/private"], tmp_path, "ray", RAY_ADDRESS=cluster.address, **env) == here


def test_a_worker_that_is_killed_costs_nothing_but_time(cluster: RayCluster, tmp_path: Path) -> None:
    lines = "".join(
        f"2026-01-01 10:00:{n % 60:02d},000 [rank1]: step {n} loss 0.{n}\n[rank1]: Warning {n}\n"
        for n in range(500_000)
    )
    (tmp_path / "rank_1.log").write_text(lines)
    (tmp_path / "rank_0.log").write_text("[rank0]: ValueError: bad batch\n")
    here = diagnosed(["."], tmp_path)
    killing = threading.Thread(target=kill_one, args=(cluster,))
    killing.start()
    there = diagnosed(["."], tmp_path, "ray", RAY_ADDRESS=cluster.address)
    killing.join(1)
    assert not killing.is_alive(), "none was killed"
    assert there == here


@pytest.fixture
def connected(cluster: RayCluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from rankandfile.cluster.connection import connected as to

    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    with to("ray", None, 60) as processors:
        assert processors == 2
        yield


def spread(tasks: list[Task], seconds: float = 120) -> dict[int, Decoded]:
    from rankandfile.cluster.spreading import Spreading

    found: dict[int, Decoded] = {}

    def receive(index: int, decoded: Decoded) -> None:
        assert index not in found, "told twice"
        found[index] = decoded

    Spreading(tasks, receive, Patience(seconds), lambda: True).run(1, 2)
    return found


def files(folder: Path, number: int) -> list[Task]:
    found = []
    for n in range(number):
        path = folder / f"rank_{n}.log"
        path.write_text(f"[rank{n}]: ValueError: bad batch {n}\n")
        found.append(Task(path, str(path), path.stat().st_size))
    return found


def test_a_file_that_ends_each_worker_is_a_note_and_the_others_count(
    connected: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deadly(files: list[share.File], seconds: float, lines: bool) -> share.Answer:
        if any(file.name.endswith("rank_3.log") for file in files):
            os._exit(1)
        from rankandfile.cluster import share as there

        return there.decoded(files, seconds, lines)

    monkeypatch.setattr(share, "decoded", deadly)
    found = spread(files(tmp_path, 8))
    assert sorted(found) == list(range(8))
    assert found[3].kind == "unreadable"
    assert "the cluster cannot decode it: WorkerCrashedError" in found[3].notes[0].what
    assert all(found[n].log is not None for n in found if n != 3)


def test_what_is_not_done_in_time_is_a_note(
    connected: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(files: list[share.File], seconds: float, lines: bool) -> share.Answer:
        import time

        time.sleep(600)
        raise AssertionError

    monkeypatch.setattr(share, "decoded", slow)
    found = spread(files(tmp_path, 3), seconds=2)
    assert [found[n].kind for n in range(3)] == [UNREAD] * 3


@pytest.mark.parametrize(
    "engine, address, words",
    [
        ("ray", "127.0.0.1:1", "no cluster answers at 127.0.0.1:1"),
        ("ray://127.0.0.1:1", "", "no cluster answers at ray://127.0.0.1:1"),
        ("dask", "", "it is ray, or ray://HOST:PORT"),
    ],
)
def test_no_such_cluster_is_one_line(engine: str, address: str, words: str) -> None:
    pytest.importorskip("ray", reason="no Ray: make ray installs it")
    status, _, err = diagnosed(["evidence"], EARLY_STOP, engine, RAY_ADDRESS=address)
    assert status == 2
    assert len(err.strip().splitlines()) == 1 and words in err


def test_from_python_the_answer_is_the_same(cluster: RayCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    evidence = EARLY_STOP / "evidence"
    assert diagnose(evidence, engine="ray").to_json() == diagnose(evidence).to_json()


def test_incidents_of_the_lab_get_the_same_marks(cluster: RayCluster, tmp_path: Path) -> None:
    for name in ("skip-nonfinite-ddp", "healthy-ddp"):
        simulate(name, tmp_path / "set" / name)
    marks = []
    for engine in ([], ["--engine", "ray"]):
        file = tmp_path / "marks.json"
        words = ["lab", "score", "--set", tmp_path / "set", "-a", "raf-dumps", "-o", file, *engine]
        done = subprocess.run(
            [sys.executable, "-m", "rankandfile", *words],
            env={**os.environ, "RAY_ADDRESS": cluster.address},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        marks.append(re.sub(r'"(seconds|peak_mib)": [0-9.e-]+', "", file.read_text()))
    assert marks[0] == marks[1]


def test_a_cluster_with_another_version_is_refused(
    cluster: RayCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rankandfile.cluster.connection import connected as to

    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    monkeypatch.setattr(share, "version", lambda: "0.0.1")
    with pytest.raises(UserError, match=r"its machines have raf 0\.0\.1, and this one"), to("ray", None, 60):
        pass


def test_nothing_in_the_current_folder_runs(cluster: RayCluster, tmp_path: Path) -> None:
    """Ray's workers import from the folder in which they were asked for, and it may hold a stranger's files."""
    for name in ("msgspec", "rankandfile", "numpy"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write(__name__)\n")
    raf = Path(sys.executable).with_name("raf")
    done = subprocess.run(
        [raf, "diagnose", EARLY_STOP / "evidence", "--engine", "ray"],
        cwd=tmp_path,
        env={**os.environ, "RAY_ADDRESS": cluster.address},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 1, done.stderr
    assert not (tmp_path / "ran").exists()


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from rankandfile.cluster.chosen import chosen

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install 'rankandfile\[ray\]'"):
        chosen("ray", None)
