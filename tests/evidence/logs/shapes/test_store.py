"""What torch's store writes."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

EXAMPLES = [
    Example("G3", "store_connection_lost", "[c10d] recvValueWithTimeout failed on SocketImpl(fd=4, addr=[node07]:58884, remote=[node01]:29500): Failed to recv, got 0 bytes. Connection was likely closed. Did the remote server shutdown or crash?",
            {"peer_host": "node01", "peer_port": 29500, "role": "echo"}),
    Example("G3", "store_connection_lost", "[c10d] sendBytes failed on SocketImpl(fd=4, addr=[node07]:58884, remote=[node01]:29500): Broken pipe", {"operation": "sendBytes"}),
    Example("G4", "store_wait", "[c10d] waitForInput: socket SocketImpl(fd=3, addr=[node07]:1, remote=[node01]:29500) timed out after 600000ms", {"timeout_ms": 600_000}),
    Example("G4", "store_wait", "torch.distributed.DistStoreError: wait timeout after 600000ms, keys: /default_pg/0//some_key", {"timeout_ms": 600_000, "keys": "/default_pg/0//some_key"}),
    Example("G4", "store_wait", "RuntimeError: Socket Timeout", {}),
    Example("G5", "unique_id_wait", "[5] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer. This may indicate a possible application crash on rank 0 or a network set up issue.",
            {"group_rank": 5, "about": [0], "about_in": "group", "error": "Connection reset by peer", "role": "messenger"}),
    Example("G5", "unique_id_wait", "[1] is setting up NCCL communicator and retreiving ncclUniqueId from [0] via c10d key-value store by key '0:1', but store->get('0:1') got error: Socket Timeout", {"key": "0:1"}),
    Example("G6", "join_timeout", "The client socket has timed out after 300000ms while trying to connect to (node01, 29500).", {"timeout_ms": 300_000, "peer": "node01, 29500"}),
    Example("G6", "join_timeout", "Timed out after 601 seconds waiting for clients. 14/16 clients joined.", {"waited_ms": 601_000, "joined": 14, "expected": 16}),
    Example("G7", "model_mismatch", "RuntimeError: DDP expects same model across all ranks, but Rank 1 has 214 params, while rank 0 has inconsistent 212 params.", {"group_rank": 1, "params": 214, "about": [0], "peer_params": 212}),
]  # fmt: skip


class TestStore(ShapeTests):
    examples = EXAMPLES
