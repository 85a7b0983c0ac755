"""The engine that `--engine` names."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from rankandfile.model.errors import UserError

if TYPE_CHECKING:
    from rankandfile.evidence.files.engine import Engine


def chosen(word: str | None, jobs: int | None) -> Engine | None:
    """None: processes of this machine. Raises `UserError` before anything is read, if it is none, or not installed."""
    if word is None:
        return None
    if word != "ray" and not word.startswith("ray://"):
        raise UserError(f"--engine {word}: it is ray, or ray://HOST:PORT of a cluster")
    if importlib.util.find_spec("ray") is None:
        raise UserError("--engine ray needs Ray: pip install 'rankandfile[ray]'")
    from .on_ray import OnRay

    return OnRay(word, jobs)
