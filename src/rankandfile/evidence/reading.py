"""What the user says about the files, and what cannot be read whatever they say. Imports nothing heavy."""

from __future__ import annotations

from typing import NamedTuple

from rankandfile.model.errors import UserError


class NotACase(UserError):
    """A directory does not hold what a case directory holds; its text is one line for the person."""


class Reading(NamedTuple):
    """What the user says about the files, over what could be guessed."""

    prefix: str | None = None
    """What stands right before the rank in a file's name; other files are not of the job."""
    replica_ranks: int | None = None
    """Ranks per replica group (torchft), whose dumps count their members from 0."""
    attempt: int | None = None
    """Which attempt to look at, 1 being the earliest. None: the latest that has most of its ranks."""
