"""The store and the meeting of the ranks. The store's host ended first, or somebody has not come yet."""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

from rankandfile.evidence.text.logs.shape import Shape

ORDER = 80

_SOCKET = r"(?: on SocketImpl\(.*?remote=\[(?P<peer_host>[^\]]*)\]:(?P<peer_port>\d+)\))?"

SHAPES = (
    Shape(
        "store_connection_lost", "G3", "echo",
        ("recvValueWithTimeout failed", "recvValue failed", "recvVector failed", "sendBytes failed"),
        rf"(?P<operation>recvValueWithTimeout|recvValue|recvVector|sendBytes) failed{_SOCKET}(?:: (?P<error>.*))?",
    ),
    Shape(
        "store_wait", "G4", "messenger", ("wait timeout after", "waitForInput"),
        r"wait timeout after (?P<timeout_ms>\d+)\s*ms, keys: (?P<keys>.*)",
    ),
    Shape(
        "store_wait", "G4", "messenger", "waitForInput",
        r"waitForInput.*?timed out after (?P<timeout_ms>\d+)\s*ms",
    ),
    Shape(
        "store_wait", "G4", "messenger", "Socket Timeout",
        r"(?:RuntimeError|DistStoreError|Error): Socket Timeout",
    ),
    Shape(
        "unique_id_wait", "G5", "messenger", ("ncclUniqueId from", "setting up NCCL communicator"),
        r"\[(?P<group_rank>\d+)\] is setting up \w+ communicator and (?:retrieving|retreiving) \w+UniqueId from \[(?P<about>\d+)\] via c10d key-value store by key '(?P<key>[^']*)'(?:, but store->get\('[^']*'\) got error: (?P<error>.*?)(?:\. This may|$))?",
        about_in="group",
    ),
    Shape(
        "join_timeout", "G6", "messenger", "client socket has timed out",
        r"client socket has timed out after (?:(?P<timeout_ms>\d+)\s*ms|(?P<waited_s>\d+)\s*s\w*) while trying to connect to \((?P<peer>[^)]*)\)",
    ),
    Shape(
        "join_timeout", "G6", "messenger", "waiting for clients",
        r"Timed out after (?P<waited_s>\d+) seconds waiting for clients\. (?P<joined>\d+)/(?P<expected>\d+) clients joined",
    ),
    Shape(
        "store_refused", "G6", "fact", "socket has failed to connect to",
        r"client socket (?:\[[^\]]*\] )?has failed to connect to (?P<peer>\S+) \(errno: (?P<errno>\d+) - (?P<error>[^)]*)\)",
    ),
    Shape("join_timeout", "G6", "messenger", "RendezvousTimeoutError", r"RendezvousTimeoutError"),
    Shape(
        "model_mismatch", "G7", "fact", "expects same model across",
        r"DDP expects same model across all ranks, but Rank (?P<group_rank>\d+) has (?P<params>\d+) params, while rank (?P<about>\d+) has inconsistent (?P<peer_params>\d+) params",
        about_in="group",
    ),
)  # fmt: skip
