"""What a stalled or dead job leaves, as a folder of evidence that `raf diagnose` reads like any other."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rankandfile.capture import asking
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
    for sources in {one.path.parent / "raf-sources" for one in seen}:
        with contextlib.suppress(OSError, shutil.Error):
            shutil.copytree(sources, folder / sources.name, dirs_exist_ok=True)


def answers(seen: Sequence[Seen], folder: Path) -> None:
    """What torch's own recorder and its counters of waits say, in each rank that serves them.

    A ring knows all that the recorder knows of gloo, and that form stays out of the evidence; of calls on a device the
    recorder knows how far they got.
    """
    served = {one.rank: path for one in seen if one.lives and (path := _socket(one)).exists()}
    with ThreadPoolExecutor(max(1, min(len(served), 16))) as pool:
        found = list(pool.map(asking.flight, served.values()))
        counters = list(pool.map(lambda path: asking.handler(path, "wait_counter_values"), served.values()))
    for rank, dump, waits in zip(served, found, counters, strict=True):
        if dump is not None and dump[0] == "pickle":
            _write(folder / "evidence" / "dumps" / f"nccl_trace_rank_{rank}", dump[1])
        elif dump is not None:
            _write(folder / "torch" / f"fr_trace_rank_{rank}.json", dump[1])
        if waits is not None:
            _write(folder / "torch" / f"wait_counters_rank_{rank}.json", waits)


def _socket(one: Seen) -> Path:
    """As `runtime.answering` makes it."""
    return one.path.parent / f"rank-{one.pid}.sock"


def _write(path: Path, data: bytes) -> None:
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def exits(seen: Sequence[Seen], codes: Mapping[int, int], path: Path) -> None:
    """How each recorded process stands: running, or ended, and with what where that is known."""
    rows: list[dict[str, Any]] = []
    for one in seen:
        code = codes.get(one.pid)
        row: dict[str, Any] = {"rank": one.rank if one.rank >= 0 else None, "host": one.host, "pid": one.pid}
        if one.lives and one.stopped:
            row |= {"state": "stopped", "since": round(one.stopped, 3)}
        elif one.lives:
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
