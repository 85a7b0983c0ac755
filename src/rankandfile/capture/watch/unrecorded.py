"""Ranks that have no ring: of a job that does not record, or that have not come to make a process group."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from .processes import status
from .rings import Seen

NO_RING = Path("/nonexistent/none.ring")
#: Under which names launchers tell a process its rank; the first that is there counts.
RANK_NAMES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")


def rank_of(environment: Mapping[str, str]) -> int | None:
    """The global rank that a launcher gave; None for whatever is no number."""
    for name in RANK_NAMES:
        word = environment.get(name, "")
        if word:
            return int(word) if word.isdigit() and len(word) < 8 else None
    return None


def attempt_of(environment: Mapping[str, str]) -> int:
    """How often torchrun had started its ranks before; 0 where nothing tells."""
    word = environment.get("TORCHELASTIC_RESTART_COUNT", "")
    return int(word) if word.isdigit() and len(word) < 8 else 0


def unrecorded(environments: Mapping[int, Mapping[str, str]], known: Collection[int]) -> list[Seen]:
    """One per rank that is not known: the uppermost process, if parents come before children."""
    found: dict[int, Seen] = {}
    for pid, environment in environments.items():
        rank = rank_of(environment)
        if rank is not None and rank not in known and rank not in found:
            found[rank] = without_ring(pid, rank)._replace(attempt=attempt_of(environment))
    return list(found.values())


def without_ring(pid: int, rank: int) -> Seen:
    found = status(pid)
    lives = found is not None and found.state not in "ZX"
    started = found.started if found else 0
    return Seen(NO_RING, rank, pid, started, 0, os.uname().nodename, lives, False, (), 0, False)
