"""What the id and the role of a log's shape say of its lines: whose they are, and what they are worth.

An id, as `W1`, `K4`, `P7`, is a family, and a number in it. Two things hang on the family. Lines that tell of another
process than their writer do not get the rank of the file they stand in: what a launcher says of a task, in the log of
rank 0, is no word of rank 0's. And only lines of torch or NCCL show that torch or NCCL ran. So the id of a new shape is
of the family of those who write such lines, never a free one.
"""

from __future__ import annotations

#: Family -> who writes its lines. `P` has one for each number.
FAMILIES = {
    "W": "torch's watchdog",
    "H": "torch's heartbeat monitor",
    "D": "torch's own checks on collectives",
    "G": "Gloo and the store",
    "N": "NCCL, which puts host and process before the line",
    "R": "NCCL's RAS service, of other processes",
    "K": "the kernel, a scheduler, a cluster or a network, of other processes",
    "P1": "Python, and the program of its own numbers",
    "P2": "CUDA and its like, as the process repeats them",
    "P3": "torchrun's agent, of the processes that it started",
    "P4": "torchrun's agent, in its table of failures",
    "P5": "a loader's worker",
    "P6": "DeepSpeed's launcher, of the processes that it started",
    "P7": "any other launcher, or whoever tells how another process ended",
    "P8": "faulthandler, py-spy, pystack",
    "P9": "nobody: what the reader of the log finds by itself",
    "A": "HCCL",
    "B": "Horovod",
    "E": "the process, of what its surroundings did not give it",
    "J": "JAX",
    "V": "vLLM and SGLang",
    "Z": "the process that owns the log, of itself: for shapes that fit nowhere else",
}

#: The roles of an event, the one that tells most of its writer first.
WORTH_OF_ROLE = {"origin": 0, "messenger": 1, "fact": 2, "echo": 3}

#: Kinds of lines that only warn of a wait: it is over where the same log shows work behind them.
WARNINGS = ("vllm_no_block", "horovod_stalled", "xla_rendezvous", "xla_leader_stuck", "no_step")

#: Patterns for the column `shape` of `events`.
OF_ANOTHER_PROCESS = "^(K|R|P3|P4|P6|P7)"
OF_THE_MACHINE = "^K"
OF_NCCL = "^N"
OF_TORCH = "^[WHGD]"


def family(shape_id: str) -> str:
    """
    >>> family("W10"), family("P7")
    ('W', 'P7')
    """
    return shape_id if shape_id.startswith("P") else shape_id[:1]
