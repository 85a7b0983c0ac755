"""The one kind of error that a person can act on."""

from __future__ import annotations


class UserError(Exception):
    """Something the person who asks can mend: a path that is not there, a folder without evidence. Its text, one
    line, says what."""
