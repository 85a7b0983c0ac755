"""Errors that a person can act on: one line, exit status 2, never a traceback."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from rankandfile.model.errors import UserError

__all__ = [
    "INTERNAL",
    "INTERRUPTED",
    "NO_HANG",
    "PIPE_CLOSED",
    "UNDETERMINED",
    "USAGE",
    "VERDICT",
    "UserError",
    "refused_by_the_machine",
    "told_as",
]

NO_HANG, VERDICT, USAGE, UNDETERMINED = 0, 1, 2, 3
"""Exit statuses of the commands that diagnose."""
INTERNAL = 70
"""Something is wrong with raf itself: never 1, which is a verdict."""
PIPE_CLOSED = 141
"""Whoever read the answer went, as SIGPIPE would have it."""
INTERRUPTED = 130
"""By the person at the keyboard; what there was is kept."""

_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENAMETOOLONG}


def refused_by_the_machine(error: Exception) -> str | None:
    """What a disk or a permission refuses, which is no mistake of raf's; None for any other error."""
    if not isinstance(error, OSError) or error.errno not in _REFUSED:
        return None
    return f"{error.filename or 'cannot go on'}: {error.strerror}"


@contextmanager
def told_as(what: str) -> Iterator[None]:
    """Where the system refuses something in the block, the user's error: `what`, and the reason."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{what}: {error.strerror or error}") from error
