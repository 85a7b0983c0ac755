"""Where the rings of one run lie."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from rankandfile.capture.watch.processes import alive, status


def folder_for_rings(environment: Mapping[str, str]) -> Path:
    """A new folder for this process's job, in `RAF_RING_DIR` or this user's part of shared memory. Raises OSError."""
    whole = home(environment)
    whole.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not environment.get("RAF_RING_DIR") and whole.stat().st_uid != os.getuid():
        raise PermissionError(f"{whole} belongs to another user")
    _sweep(whole)
    own = status(os.getpid())
    folder = whole / f"run-{os.getpid()}-{own.started if own else 0}"
    folder.mkdir(mode=0o700)
    return folder


def home(environment: Mapping[str, str]) -> Path:
    """Where a process of this user with this environment records."""
    wanted = environment.get("RAF_RING_DIR")
    shared = Path("/dev/shm")
    return Path(wanted) if wanted else (shared if shared.is_dir() else Path("/tmp")) / f"raf-{os.getuid()}"


def _sweep(whole: Path) -> None:
    """Remove what runs have left whose watcher was killed, and whose ranks are gone too."""
    from rankandfile.capture.watch.rings import look

    for old in whole.glob("run-*-*"):
        words = old.name.split("-")
        if not (words[1].isdigit() and words[2].isdigit()) or alive(int(words[1]), int(words[2])):
            continue
        if not any(one.lives for one in look(old)):
            shutil.rmtree(old, ignore_errors=True)
