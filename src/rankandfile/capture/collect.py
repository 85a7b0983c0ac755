"""What a stalled or dead job leaves, as a folder of evidence that `raf diagnose` reads like any other."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankandfile.capture.rings import Seen

#: Variables that matter to a diagnosis. Others may be secrets.
_PREFIXES = (
    "TORCH_",
    "NCCL_",
    "GLOO_",
    "OMP_",
    "CUDA_",
    "MASTER_",
    "WORLD_SIZE",
    "LOCAL_WORLD",
    "PET_",
    "SLURM_N",
)


def rings(seen: Sequence[Seen], folder: Path) -> None:
    """Copies of the rings, each as of now while anybody of the job lives: whoever lives would have written more."""
    folder.mkdir(parents=True, exist_ok=True)
    lives = any(one.lives for one in seen)
    for one in seen:
        with contextlib.suppress(OSError):
            copy = Path(shutil.copy2(one.path, folder / one.path.name))
            if lives:
                os.utime(copy)
    sources = seen[0].path.parent / "raf-sources" if seen else None
    if sources is not None and sources.is_dir():
        with contextlib.suppress(OSError, shutil.Error):
            shutil.copytree(sources, folder / sources.name, dirs_exist_ok=True)


def exits(seen: Sequence[Seen], codes: Mapping[int, int], path: Path) -> None:
    """How each recorded process stands: running, or ended, and with what where that is known."""
    rows: list[dict[str, Any]] = []
    for one in seen:
        code = codes.get(one.pid)
        row: dict[str, Any] = {"rank": one.rank if one.rank >= 0 else None, "host": one.host, "pid": one.pid}
        if one.lives:
            row["state"] = "running"
        elif code is None:
            row["state"] = "ended"
        else:
            row |= {"state": "exited", "exitcode": code, "signal": _signal(code)}
        rows.append(row)
    path.write_text(json.dumps(rows, indent=1) + "\n")


def _signal(code: int) -> str | None:
    try:
        return signal.Signals(-code).name if code < 0 else None
    except ValueError:
        return None


def logs(files: Sequence[Path], folder: Path) -> None:
    """The job's output so far."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        for part in (file.with_name(f"{file.name}.before"), file):
            with contextlib.suppress(OSError):
                if part.stat().st_size:
                    shutil.copy2(part, folder / part.name)


def dumps(made: Path, folder: Path) -> None:
    """What torch's own watchdog has written so far."""
    for file in sorted(made.iterdir()) if made.is_dir() else []:
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError):
            shutil.copy2(file, folder / file.name)


def environment(variables: Mapping[str, str], path: Path) -> None:
    kept = sorted(f"{name}={value}" for name, value in variables.items() if name.startswith(_PREFIXES))
    path.write_text("\n".join(kept) + "\n")
