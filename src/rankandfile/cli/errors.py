"""Errors that a person can act on: one line, exit status 2, never a traceback."""

from __future__ import annotations

from rankandfile.model.errors import UserError

__all__ = ["INTERRUPTED", "NO_HANG", "UNDETERMINED", "USAGE", "VERDICT", "UserError"]

NO_HANG, VERDICT, USAGE, UNDETERMINED = 0, 1, 2, 3
"""Exit statuses of the commands that diagnose."""
INTERRUPTED = 130
"""By the person at the keyboard; what there was is kept."""
