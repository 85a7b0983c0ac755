"""A folder that this machine sees: it goes the same way, without a step to another machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rankandfile.capture.collect.target import Target
from rankandfile.model.errors import UserError

#: Runs what follows, here.
_HERE = ("env",)


def target(folder: Path, patterns: Sequence[str]) -> Target:
    """All that lies below it, or what those patterns match there that do not begin elsewhere. Raises `UserError`."""
    if not folder.is_dir():
        raise UserError(f"--shared {folder}: no such folder")
    below = tuple(pattern for pattern in patterns if not pattern.startswith(("/", "~/")))
    whole = str(folder.resolve())
    return Target(name=whole, reach=_HERE, folder=whole, patterns=below or (".",))
