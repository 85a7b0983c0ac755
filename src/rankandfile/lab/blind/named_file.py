"""Which file of a program an answer names: it may say more of the path than the program has, or lie in a folder."""

from __future__ import annotations

from pathlib import Path


def named_file(said: str, src: Path) -> str | None:
    """Its name below `src`; of `run.py` and `job/run.py` the one that is named whole."""
    names = (path.relative_to(src).as_posix() for path in src.rglob("*.py"))
    return max((name for name in names if f"/{said}".endswith(f"/{name}")), key=len, default=None)
