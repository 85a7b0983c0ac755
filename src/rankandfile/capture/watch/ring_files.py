"""Files that processes of a job have put where they record, opened by somebody who may be allowed more than they are.

Root looks at anybody's job. What lies there is the job's user's to choose, and may be exchanged at any moment: a link
to what only root may read, a pipe that keeps whoever opens it, a file of a thousand gigabytes without content.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import BinaryIO

#: Rings have a few megabytes, copies of sources less.
LARGEST = 64 << 20
#: Copies of sources in one folder: a rank keeps 500.
_MOST = 20_000
_BLOCK = 1 << 20
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def opened(path: Path | str, folder: int | None = None) -> BinaryIO:
    """To be read. Raises OSError, for links and whatever else is no plain file too."""
    flags = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0) | _NO_LINK
    descriptor = os.open(path, flags, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is no plain file")
    return os.fdopen(descriptor, "rb")


def read(path: Path) -> bytes:
    """Raises OSError."""
    with opened(path) as file:
        return file.read(LARGEST)


def copy(path: Path | str, to: Path, folder: int | None = None) -> None:
    """With its time, for this user alone. Raises OSError."""
    with opened(path, folder) as file:
        found = os.fstat(file.fileno())
        into = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_LINK, 0o600)
        with os.fdopen(into, "wb") as written:
            left = LARGEST
            while block := file.read(min(_BLOCK, left)):
                written.write(block)
                left -= len(block)
    os.utime(to, ns=(found.st_atime_ns, found.st_mtime_ns))


def copy_folder(folder: Path, to: Path) -> None:
    """Its plain files. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | _NO_LINK)
    try:
        to.mkdir(parents=True, exist_ok=True)
        for name in sorted(os.listdir(descriptor))[:_MOST]:  # noqa: PTH208 - by its descriptor: a name may be another folder's by now
            with contextlib.suppress(OSError):
                copy(name, to / name, descriptor)
    finally:
        os.close(descriptor)
