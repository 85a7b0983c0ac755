"""How a rank asks `raf run` for a stream of its own, in place of the one that all ranks have together.

The environment names the two shared streams (`RAF_STREAMS`). A rank whose descriptor 1 or 2 is one of them connects to
a socket in the folder of the rings and says its rank, its attempt and which of the streams it asks for; the answer is
one descriptor for each, in that order.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

VARIABLE = "RAF_STREAMS"
SOCKET = "streams.sock"
LONGEST = 64
OUT, ERR = 1, 2


class Wish(NamedTuple):
    rank: int
    attempt: int
    streams: tuple[int, ...]

    def pack(self) -> bytes:
        return f"{self.rank} {self.attempt} {''.join(map(str, self.streams))}\n".encode()


def unpack(data: bytes) -> Wish | None:
    """What was asked for; None for anything else."""
    words = data.decode("ascii", "replace").split()
    if len(words) != 3 or not all(word.isdecimal() and len(word) < 8 for word in words):
        return None
    streams = tuple(dict.fromkeys(map(int, words[2])))
    if not set(streams) <= {OUT, ERR}:
        return None
    return Wish(int(words[0]), int(words[1]), streams)


def identity(fd: int) -> str:
    """The same for two descriptors exactly if they are the same pipe or terminal."""
    found = os.fstat(fd)
    return f"{found.st_dev}:{found.st_ino}:{found.st_rdev}"


def address(folder: int) -> str:
    """Of the socket in an open folder: the folder's own path may be longer than a socket's may be."""
    return str(Path(f"/proc/self/fd/{folder}") / SOCKET)
