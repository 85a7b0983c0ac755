"""Where the rings of a user's processes lie, for who writes them and who looks for them."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
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
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    # Looked at and closed by one handle: what has this name may be another one a moment later.
    try:
        found = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except NotADirectoryError:
        raise NotADirectoryError(f"{folder} is a link, or no folder: remove it") from None
    try:
        state = os.fstat(found)
        if state.st_uid != os.getuid():
            raise PermissionError(f"{folder} belongs to another user")
        if stat.S_IMODE(state.st_mode) & 0o022:
            os.fchmod(found, 0o700)
    finally:
        os.close(found)
