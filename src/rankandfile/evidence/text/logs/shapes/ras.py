"""NCCL's RAS service, as text. Its counts are launches: OK is not healthy, and a moving job mismatches normally."""

from __future__ import annotations

from rankandfile.evidence.text.logs.ras.as_text import counted, gone, missing_ranks, rows
from rankandfile.evidence.text.logs.shape import Shape

ORDER = 60

SHAPES = (
    Shape("ras_summary", "R1", "fact", "Group     Comms", r"Group Comms Nodes Ranks", then=rows),
    Shape(
        "ras_mismatch", "R2", "fact", "Communicator ranks have different",
        r"Communicator ranks have different (?P<op>\w+) operation counts",
        then=counted,
    ),
    Shape(
        "ras_mismatch", "R2", "fact", "Communicator ranks have different",
        r"Communicator ranks have different (?P<what>[\w ]+)",
        then=counted,
    ),
    Shape(
        "ras_missing", "R3", "fact", "Missing communicator data",
        r"Missing communicator data from (?P<count>\d+) job process",
        then=gone,
    ),
    Shape(
        "ras_missing_ranks", "R3", "fact", "Missing communicator data",
        r"Missing communicator data from (?P<count>\d+) ranks?\b",
        then=missing_ranks,
    ),
    Shape(
        "ras_dead", "R3", "fact", "considered dead (unreachable",
        r"(?P<count>\d+) job process(?:es)? (?:is|are) considered dead",
        then=gone,
    ),
    Shape(
        "ras_timeouts", "R3", "fact", "communication timeout",
        r"Encountered (?P<count>\d+) communication timeouts?",
        then=gone,
    ),
    Shape(
        "ras_event", "R5", "fact",
        ("PEER_DEAD:", "PEER_UNRESPONSIVE:", "PEER_TIMEOUT_DEAD:", "PEER_DISCONNECTED:", "PEER_RETRY:",
         "PEER_SEND_STUCK:"),
        r"(?P<what>PEER_[A-Z_]+): (?:Process (?P<pid>\d+) on node (?P<host>\S+) managing GPUs? (?P<device>[\d,]+))?",
    ),
)  # fmt: skip
