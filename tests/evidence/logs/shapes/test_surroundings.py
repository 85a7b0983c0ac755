"""What a job needs of its surroundings, and did not get."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

MACHINE = [
    Example("E1", "disk_full", "OSError: [Errno 28] No space left on device: '/ckpt/run/7.pt'", {"path": "/ckpt/run/7.pt"}),
    Example("E2", "name_unresolved", "[W socket.cpp:663] [c10d] The IPv6 network addresses of (gx-07.hpc.int, 29500) cannot be retrieved (gai error: -2 - Name or service not known).", {"error": "Name or service not known"}),
    Example("K8", "host_lost", "ssh: connect to host 10.40.5.19 port 22: No route to host", {"host": "10.40.5.19", "error": "No route to host"}),
    Example("K8", "host_unreachable", "From 10.1.1.1 icmp_seq=1 Destination Host Unreachable", {"error": "Host Unreachable"}),
    Example("K8", "host_lost", "error: Nodes node07 not responding", {"host": "node07"}),
    Example("K8", "rank_on_host", "rank 3/8 running on node07", {"rank": 3, "host": "node07"}),
]  # fmt: skip


class TestSurroundings(ShapeTests):
    machine = MACHINE
