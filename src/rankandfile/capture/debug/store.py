"""What the job's store holds, by a process of its own that has torch: the ranks' own connections may be waiting."""

from __future__ import annotations

import subprocess
import sys

from rankandfile.capture.debug.settings import Settings

PATIENCE_S = 60.0

_PROGRAM = """
import sys
from datetime import timedelta
import torch.distributed as dist
host, _, port = sys.argv[1].rpartition(":")
store = dist.TCPStore(host, int(port), is_master=False, timeout=timedelta(seconds=10), wait_for_workers=False)
keys = sorted(store.list_keys())[:1000]
for key, value in zip(keys, store.multi_get(keys)):
    print(f"{key}: {bytes(value)[:100]!r}")
"""


def text(settings: Settings) -> str:
    """A line per key, values cut. They can be secrets of the job: hence only behind the token."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, settings.store],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "Error: the store does not answer\n"
    return done.stdout if done.returncode == 0 else f"Error: {done.stderr.strip()[-500:]}\n"
