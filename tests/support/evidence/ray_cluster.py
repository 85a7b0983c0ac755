"""A cluster of Ray on this machine: two nodes of one processor each."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rankandfile.lab.ranks import free_port
from support.capture.waiting import until


class RayCluster(NamedTuple):
    address: str
    """As RAY_ADDRESS has it."""
    client: str
    """As `--engine` takes it from elsewhere."""
    pids: list[int]
    """Of what started the nodes' workers."""


@contextmanager
def ray_cluster() -> Iterator[RayCluster]:
    pytest.importorskip("ray", reason="no Ray: make ray installs it")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster

    port = free_port()
    cluster = Cluster()
    try:
        _node(cluster, num_cpus=1, include_dashboard=False, ray_client_server_port=port)
        _node(cluster, num_cpus=1)
        pids = [node.all_processes["raylet"][0].process.pid for node in cluster.list_all_nodes()]
        yield RayCluster(cluster.address, f"ray://127.0.0.1:{port}", pids)
    finally:
        cluster.shutdown()


def _node(cluster: Any, **how: Any) -> None:
    """Ray gives a node half a minute to start, which it takes on a busy machine."""
    for again in reversed(range(5)):
        try:
            cluster.add_node(**how)
            return
        except Exception as error:
            if again == 0 or "timed out during startup" not in str(error):
                raise


def decoding(cluster: RayCluster) -> list[int]:
    """Workers that have a decoding process at work now."""
    workers = [worker for raylet in cluster.pids for worker in _children(raylet)]
    return [
        pid for pid in workers if any(b"evidence.files.worker" in _command(child) for child in _children(pid))
    ]


def kill_one(cluster: RayCluster) -> None:
    """One that decodes."""
    until(lambda: decoding(cluster), lambda: "no worker decodes", 120)
    os.kill(decoding(cluster)[0], signal.SIGKILL)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, task.read_text().split())
        except OSError:
            continue
    return found


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
