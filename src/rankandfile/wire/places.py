"""Where the rings of a user's processes lie, for who writes them and who looks for them."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path


def home(environment: Mapping[str, str]) -> Path:
    """Where a process of this user with this environment records: `RAF_RING_DIR`, or this user's part of shared
    memory."""
    wanted = environment.get("RAF_RING_DIR")
    shared = Path("/dev/shm")
    return Path(wanted) if wanted else (shared if shared.is_dir() else Path("/tmp")) / f"raf-{os.getuid()}"


def made(environment: Mapping[str, str]) -> Path:
    """The same, made where it is not there. Raises OSError, for a place that is somebody else's too."""
    folder = home(environment)
    if environment.get("RAF_RING_DIR"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    else:
        make_private(folder)
    return folder


def make_private(folder: Path) -> None:
    """A folder in a place that everybody may write to, where only this user may. Raises OSError.

    Whoever comes first can put anything under its name: a folder of their own, or a link to one of this user's, in
    which files would then be made, and old ones removed.
    """
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError(f"{folder} is a link, or no folder: remove it") from None
        if found.st_uid != os.getuid():
            raise PermissionError(f"{folder} belongs to another user") from None
        if stat.S_IMODE(found.st_mode) & 0o022:
            folder.chmod(0o700)
