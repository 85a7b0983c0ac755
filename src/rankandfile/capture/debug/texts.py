"""What the page says in plain text, as torch's debug server writes it: stacks, calls, workers' answers, the store."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankandfile.capture.debug import tables
from rankandfile.capture.debug.job import Rank, Settings, ask
from rankandfile.capture.gather import fr_trace, stacks
from rankandfile.own_python import own_python


def where_they_stand(settings: Settings, ranks: Sequence[Rank]) -> str:
    """The threads of each rank: by py-spy, which needs no help of theirs, else by their own word."""
    living = {f"rank_{one.seen.rank}": one.seen.pid for one in ranks if one.here and one.seen.lives}
    parts: list[str] = []
    with tempfile.TemporaryDirectory(prefix="raf-stacks-") as folder:
        stacks.take(living, Path(folder))
        for one in ranks:
            parts += _heading(one), _of(settings, one, Path(folder) / f"pyspy_rank_{one.seen.rank}.json")
    return "\n".join(parts) + "\n"


def _of(settings: Settings, one: Rank, taken: Path) -> str:
    if one.here and one.seen.lives:
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            return _shown(json.loads(taken.read_bytes()))
    # It waits for Python's lock: a rank that holds it inside a C call does not answer.
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


def calls(found: Sequence[Rank]) -> str:
    dumps = calls_of(found)
    missing = [one for one in found if one.seen.rank not in dumps]
    head = ""
    if missing:
        head = f"PARTIAL DATA: {len(dumps)}/{len(found)} workers responded\n"
        head += "".join(f"  Rank {one.seen.rank}: its ring cannot be read\n" for one in missing) + "\n"
    return head + tables.text(dumps)


def calls_of(found: Sequence[Rank]) -> dict[int, dict[str, Any]]:
    return fr_trace.dumps(one.seen.path for one in found)


def from_workers(settings: Settings, found: Sequence[Rank], handler: str) -> str:
    """What each rank of this node answers."""
    parts = [part for one in found for part in (_heading(one), ask(settings, one, handler))]
    return "\n".join(parts) + "\n"


def _heading(one: Rank) -> str:
    return f"=== Rank {one.seen.rank}: pid {one.seen.pid} on {one.seen.host} ==="


_PATIENCE_S = 60.0

_PROGRAM = """
from datetime import timedelta
import torch.distributed as dist
host, _, port = sys.argv[1].rpartition(":")
store = dist.TCPStore(host, int(port), is_master=False, timeout=timedelta(seconds=10), wait_for_workers=False)
keys = sorted(store.list_keys())[:1000]
for key, value in zip(keys, store.multi_get(keys)):
    print(f"{key}: {bytes(value)[:100]!r}")
"""


def in_the_store(settings: Settings) -> str:
    """What the job's store holds, a line per key, values cut. Asked by a process of its own, which has torch: the
    ranks' own connections may be waiting.

    Values can be secrets of the job: hence only behind the token.
    """
    try:
        done = subprocess.run(
            [*own_python(_PROGRAM), settings.store],
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "Error: the store does not answer\n"
    return done.stdout if done.returncode == 0 else f"Error: {done.stderr.strip()[-500:]}\n"
