"""The launch script of a folder, where it has one: scripts that start ranks, and manifests with containers."""

from __future__ import annotations

import re
from pathlib import Path

from .pins import NAMES
from .plain import MOST_BYTES, plain
from .read import Kind, Unreadable, kind_of, read_bytes

_LAUNCHES = re.compile(
    r"^[^#\n]*\b(?:torchrun|srun|sbatch|mpirun|mpiexec|deepspeed|accelerate launch|torch\.distributed\.(?:run|launch))"
    r"\b",
    re.MULTILINE,
)
_SHOWN = 4


def launch_script_in(folder: Path) -> Path:
    """Raises `Unreadable` where there is none, or more than one: what two jobs set is not to be mixed."""
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file() and not NAMES.fullmatch(path.name))
    except OSError as error:
        raise Unreadable(f"{folder}: {error.strerror or error}") from error
    found = [path for path in files if _launches(path)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise Unreadable(f"{folder}: no launch script in it; name the job's files")
    names = ", ".join(path.name for path in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    raise Unreadable(f"{folder}: several launch scripts in it: {names}{more}; name the files of one job")


def _launches(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES)
        text = plain(data)
        kind = kind_of(path.name, text)
        if kind is Kind.MANIFEST:
            return bool(read_bytes(data, str(path)))
    except (OSError, Unreadable):
        return False
    return kind is Kind.SCRIPT and _LAUNCHES.search(text) is not None
