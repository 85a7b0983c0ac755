"""One machine whose evidence is wanted, and how it is reached."""

from __future__ import annotations

from msgspec import Struct


class Also(Struct, frozen=True):
    """Something that the site itself tells of a machine or a job: what a command prints is the file."""

    name: str
    command: tuple[str, ...]


class Target(Struct, frozen=True, kw_only=True):
    name: str
    """As the person calls it, and as the folder of its evidence is called."""
    reach: tuple[str, ...] = ()
    """The command that runs another one there. Empty: no file of it is wanted, or can be had."""
    login_shell: bool = False
    """What is run there goes through the user's shell, of whatever kind, as ssh does it."""
    folder: str = ""
    """Where patterns begin that say nothing else; empty: where one is when one comes there."""
    patterns: tuple[str, ...] = ()
    """Of files and folders there; none: where torch writes its dumps."""
    stacks: bool = False
    also: tuple[Also, ...] = ()
    node: bool = True
    """Counts as one: what belongs to a job as a whole does not."""
    out_of_reach: str = ""
    """Why no file of it can be had."""
