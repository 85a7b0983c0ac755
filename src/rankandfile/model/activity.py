"""What a thread can be doing, as its stack tells it: the words, and what each means for a hang."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

#: Whether a thread that does this waits for other ranks. maybe: it can, and its stack does not tell.
Waits = Literal["ranks", "maybe", "no"]


class Kind(NamedTuple):
    meaning: str
    waits: Waits


ACTIVITIES: dict[str, Kind] = {
    "collective": Kind("in a collective: waits until the other members join", "ranks"),
    "p2p": Kind("in a send or receive: waits for its peer", "ranks"),
    "init": Kind("setting up the job or a group: waits for the other members", "ranks"),
    "backward": Kind("in a backward pass, which may be running or wait in a collective", "maybe"),
    "cuda_sync": Kind("waits for its device, which may wait for other ranks", "maybe"),
    "nccl_call": Kind("in a call of NCCL on the host, which can wait for other ranks", "maybe"),
    "teardown": Kind("leaving: destroys the process group, or the interpreter shuts down", "maybe"),
    "data_loader": Kind("waits for its data loader", "no"),
    "lock": Kind("waits for a lock", "no"),
    "queue": Kind("waits for somebody of its own process or host to put something into a queue", "no"),
    "thread": Kind("waits for another thread of its process", "no"),
    "subprocess": Kind("waits for a process it started", "no"),
    "sleep": Kind("sleeps", "no"),
    "file_io": Kind("reads or writes a file or a pipe", "no"),
    "network_io": Kind("reads or writes a socket, outside the job's own communication", "no"),
    "import": Kind("imports modules", "no"),
    "compile": Kind("compiles", "no"),
    "debugger": Kind("stands at the prompt of a debugger: waits for a person", "no"),
    "gc": Kind("collects garbage", "no"),
    "checkpoint": Kind("saves or loads a checkpoint", "no"),
    "exception": Kind("handles or prints an exception", "no"),
    "idle": Kind("has nothing to do: waits for work", "no"),
    # A call into C leaves no frame: the program's own line may be waiting for anything.
    "user_code": Kind("in the program's own code", "maybe"),
}


class Doing(msgspec.Struct, frozen=True, kw_only=True):
    """What one stack shows its thread doing."""

    activity: str
    """A key of `ACTIVITIES`."""
    within: str | None
    """The larger thing it is part of, such as `checkpoint` or `data_loader`; a key of `ACTIVITIES`."""
    waits: Waits
    frame: int
    """Position, in the stack, of the frame that shows it; 0 is innermost."""
    site: int
    """Position of the innermost frame of the program itself, or of the nearest to it."""
    phrase: str
    """As one would say it: `waiting for a lock in checkpoint.py:41`."""
    op: str = ""
    """The function that the source line calls, where no frame is of it: a call into C leaves none."""
