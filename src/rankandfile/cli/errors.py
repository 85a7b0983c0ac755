"""Errors that a person can act on: one line, exit status 2, never a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rankandfile.model.errors import UserError

__all__ = ["INTERRUPTED", "NO_HANG", "UNDETERMINED", "USAGE", "VERDICT", "UserError", "told_as"]

NO_HANG, VERDICT, USAGE, UNDETERMINED = 0, 1, 2, 3
"""Exit statuses of the commands that diagnose."""
INTERRUPTED = 130
"""By the person at the keyboard; what there was is kept."""


@contextmanager
def told_as(what: str) -> Iterator[None]:
    """Where the system refuses something in the block, the user's error: `what`, and the reason."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{what}: {error.strerror or error}") from error
