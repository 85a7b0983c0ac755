"""What only some commands need, and an extra of the package brings."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import UserError


@contextmanager
def brought_by(extra: str, needs: str, *packages: str) -> Iterator[None]:
    """Around the import of what stands on these packages. `needs`: "raf explore needs Textual"."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in packages:
            raise
        raise UserError(f"{needs}: pip install 'rankandfile[{extra}]'") from error


def needs_monarch() -> None:
    """Of `raf control`: asked before anything of Monarch's is imported, which starts threads."""
    if importlib.util.find_spec("monarch") is None:
        raise UserError("raf control needs Monarch: pip install 'rankandfile[monarch]'")
    if sys.platform != "linux":
        raise UserError("raf control watches processes through Linux's /proc")
