"""A share of the files, decoded where a task of the cluster runs: read there where it can be, and else as it was sent.

Nothing here needs Ray: what runs in a task is what `Here` does on any machine.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from rankandfile import __version__
from rankandfile.evidence.files.addresses import Left
from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.engine import Here
from rankandfile.evidence.files.patience import Patience
from rankandfile.evidence.files.pool import Task
from rankandfile.evidence.objects.at_hand import fetch
from rankandfile.evidence.raw import pack


class File(NamedTuple):
    """One file, as a task of the cluster is told of it."""

    path: bytes
    name: str
    size: int
    written_ns: int
    dump_bytes: int
    left: Left | None
    content: bytes | None
    """None: the task is to read it by itself."""


class Answer(NamedTuple):
    lacking: list[int]
    """Those that cannot be read there: whoever asked is to send them."""
    decoded: bytes
    """What the others hold, in their order."""


def version() -> str:
    return __version__


def decoded(files: Sequence[File], seconds: float, lines: bool) -> Answer:
    """What these files hold. `lines`: those of logs are to be kept."""
    with tempfile.TemporaryDirectory(prefix="raf-") as folder:
        tasks: list[Task] = []
        lacking: list[int] = []
        barred: set[str] = set()
        for number, file in enumerate(files):
            path = None
            if file.left is None or file.left.address not in barred:
                path = _at_hand(file, Path(folder, str(number)), seconds)
            if path is None:
                lacking.append(number)
                # What cannot be read once, is not tried for each object.
                barred |= {file.left.address} if file.left is not None else set()
            else:
                tasks.append(Task(path, file.name, file.size, file.dump_bytes))
        answers: dict[int, Decoded] = {}
        # The cluster runs a task for each of its processors.
        Here(1).decode(tasks, answers.__setitem__, Patience(seconds), lambda: lines)
    return Answer(lacking, pack([answers[number] for number in range(len(tasks))]))


def _at_hand(file: File, copy: Path, seconds: float) -> Path | None:
    """Where its content is on this machine."""
    if file.content is not None:
        copy.write_bytes(file.content)
        return copy
    with suppress(OSError, ValueError):
        if file.left is not None:
            fetch(file.left, file.size, copy, seconds)
            return copy
        # A file that another machine has under this name was not written at the same nanosecond.
        status = os.stat(file.path)  # noqa: PTH116 - a name need not be text
        if (status.st_size, status.st_mtime_ns) == (file.size, file.written_ns):
            path = Path(os.fsdecode(file.path))
            with path.open("rb"):
                return path
    return None


unpack = msgspec.msgpack.Decoder(list[Decoded]).decode
