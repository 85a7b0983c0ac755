"""The one kind of error that a person can act on."""

from __future__ import annotations


class UserError(Exception):
    """Something the person who asks can mend: a path that is not there, a folder without evidence. Its text, one
    line, says what."""


def in_a_line(error: Exception) -> str:
    """What a library's error says, in one line of bounded length; its kind, where it says nothing."""
    return next(iter(str(error).splitlines()), type(error).__name__)[:200]
