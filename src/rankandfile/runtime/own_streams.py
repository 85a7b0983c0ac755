"""A stream of its own for what this rank writes, where it would share one with all ranks under `raf run`.

It replaces descriptors, so that it holds for whatever writes: Python, C++, NCCL, and children that come later.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping, MutableMapping

from rankandfile.wire import streams
from rankandfile.wire.streams import ERR, OUT, Wish

#: Longer than `raf run` takes on a busy machine; without an answer everything stays as it is.
ANSWER_S = 5.0


def take(environment: MutableMapping[str, str], rank: int | None = None) -> None:
    """Of this rank, by default the one in the environment. Output that goes elsewhere is left there; raises nothing."""
    with contextlib.suppress(Exception):
        wanted = _shared(environment.get(streams.VARIABLE, ""))
        number = int(environment.get("RANK", "")) if rank is None or rank < 0 else rank
        if wanted:
            attempt = int(environment.get("TORCHELASTIC_RESTART_COUNT") or 0)
            _replace(wanted, Wish(number, attempt, tuple(sorted(set(wanted.values())))), environment)
            del environment[streams.VARIABLE]  # children have it already


def _shared(named: str) -> dict[int, int]:
    """Which of the shared streams our descriptors are: both may be the same one."""
    known = dict(zip(named.split(), (OUT, ERR), strict=False))
    found = {}
    for fd in (OUT, ERR):
        with contextlib.suppress(OSError):
            if (stream := known.get(streams.identity(fd))) is not None:
                found[fd] = stream
    return found


def _replace(wanted: Mapping[int, int], wish: Wish, environment: Mapping[str, str]) -> None:
    folder = os.open(environment["RAF_RING_DIR"], os.O_PATH | os.O_DIRECTORY)
    given: list[int] = []
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
            asked.settimeout(ANSWER_S)
            asked.connect(streams.address(folder))
            asked.sendall(wish.pack())
            _, given, _, _ = socket.recv_fds(asked, 1, len(wish.streams))
        if len(given) == len(wish.streams):
            for fd, stream in wanted.items():
                os.dup2(given[wish.streams.index(stream)], fd)
    finally:
        for fd in (folder, *given):
            os.close(fd)
