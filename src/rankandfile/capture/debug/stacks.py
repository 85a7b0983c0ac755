"""Where every rank of this node stands: by py-spy, which needs no help of theirs, else by their own word."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rankandfile.capture.debug.job import Rank, ask
from rankandfile.capture.debug.settings import Settings
from rankandfile.capture.gather import stacks


def text(settings: Settings, ranks: Sequence[Rank]) -> str:
    """As torch's debug server writes it: a heading for each rank, then its threads."""
    living = {f"rank_{one.seen.rank}": one.seen.pid for one in ranks if one.here and one.seen.lives}
    parts = []
    with tempfile.TemporaryDirectory(prefix="raf-stacks-") as folder:
        stacks.take(living, Path(folder))
        for one in ranks:
            parts.append(f"=== Rank {one.seen.rank}: pid {one.seen.pid} on {one.seen.host} ===")
            parts.append(_of(settings, one, Path(folder) / f"pyspy_rank_{one.seen.rank}.json"))
    return "\n".join(parts) + "\n"


def _of(settings: Settings, one: Rank, taken: Path) -> str:
    if one.here and one.seen.lives:
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            return _shown(json.loads(taken.read_bytes()))
    # This one waits for Python's lock: a rank that holds it inside a C call does not answer.
    return ask(settings, one, "dump_traceback")


def _shown(threads: list[dict[str, object]]) -> str:
    """py-spy's answer in faulthandler's form."""
    lines = []
    for thread in threads:
        number = int(str(thread["thread_id"]))
        lines.append(
            f"Thread 0x{number & (1 << 64) - 1:016x} [{thread['thread_name']}] (most recent call first):"
        )
        frames = thread["frames"]
        assert isinstance(frames, list)
        lines += [f'  File "{one["filename"]}", line {one["line"]} in {one["name"]}' for one in frames]
        lines.append("")
    return "\n".join(lines)
