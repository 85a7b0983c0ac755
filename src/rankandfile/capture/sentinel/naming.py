"""What a job is called, by its ranks' processes: the same on all nodes where these were told where to meet."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from rankandfile.capture.sentinel.ranks import Rank
from rankandfile.capture.watch.processes import environment
from rankandfile.model.digest import Job


def job_of(program: str, first: Rank) -> Job:
    """Of the ranks of a program, by its first one on this node."""
    head = first.tail.header
    own = (
        ""
        if program.strip("\0") and "parent" not in program
        else f"{os.uname().nodename} {first.seen.started}"
    )
    told = environment(first.seen.pid)
    name = told.get("SLURM_JOB_NAME") or told.get("TORCHELASTIC_RUN_ID", "")
    return Job(
        id=hashlib.sha256(f"{program}\0{own}".encode()).hexdigest()[:16],
        name=name if name and name != "none" else _program_of(first.seen.pid),
        attempt=first.seen.attempt,
        world=max(head.world, 0) if head is not None else 0,
        started=head.wall_ns / 1e9 if head is not None else 0.0,
    )


def _program_of(pid: int) -> str:
    """The script that a process runs."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return ""
    return next((word.rpartition("/")[2] for word in words[1:] if word and not word.startswith("-")), "")[
        :400
    ]
