"""What a stalled or dead job leaves, as a folder of evidence that `raf diagnose` reads like any other."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rankandfile.capture.gather import worker_server
from rankandfile.capture.watch import processes, ring_files
from rankandfile.capture.watch.rings import NO_RING, Seen
from rankandfile.capture.watch.stall import AT_FIRST
from rankandfile.capture.watch.work import Work
from rankandfile.wire.places import home

#: Beginnings of the variables that matter to a diagnosis. Others may be secrets.
TELLING = ("TORCH_", "NCCL_", "GLOO_", "OMP_", "CUDA_", "MASTER_", "WORLD_SIZE", "LOCAL_WORLD")
_MADE = re.compile(rb'"time_created_ns": ?(\d{1,19})')


def rings(seen: Sequence[Seen], folder: Path) -> None:
    """Copies of the rings, each as of now while anybody of the job lives: whoever lives would have written more."""
    folder.mkdir(parents=True, exist_ok=True)
    lives = any(one.lives for one in seen)
    for one in seen:
        with contextlib.suppress(OSError):
            ring_files.copy(one.path, folder / one.path.name)
            if lives:
                os.utime(folder / one.path.name)
    for sources in {one.path.parent / "raf-sources" for one in seen}:
        with contextlib.suppress(OSError):
            ring_files.copy_folder(sources, folder / sources.name)


def answers(seen: Sequence[Seen], folder: Path) -> None:
    """What torch's own recorder and its counters of waits say, in each rank that serves them.

    A ring knows all that the recorder knows of gloo, and that form stays out of the evidence; of calls on a device the
    recorder knows how far they got. Of a rank that could not record, it is all there is: it counts where no call has
    been made for as long as a stall takes, for nobody watched whether they are.
    """
    served = {one.rank: path for one in seen if one.lives and (path := _socket(one)).exists()}
    silent = {one.rank for one in seen if one.path == NO_RING} & served.keys()
    with ThreadPoolExecutor(max(1, min(len(served), 16))) as pool:
        found = dict(zip(served, pool.map(worker_server.flight, served.values()), strict=True))
        counters = pool.map(lambda path: worker_server.handler(path, "wait_counter_values"), served.values())
        waits = dict(zip(served, counters, strict=True))
    stands = time.time() - max((_newest(dump) for dump in found.values()), default=0.0) > AT_FIRST
    for rank, dump in found.items():
        if dump is not None and dump[0] == "pickle":
            _write(folder / "evidence" / "dumps" / f"nccl_trace_rank_{rank}", dump[1])
        elif dump is not None:
            beside = folder / "evidence" / "dumps" if rank in silent and stands else folder / "torch"
            _write(beside / f"fr_trace_rank_{rank}.json", dump[1])
    for rank, counted in waits.items():
        if counted is not None:
            _write(folder / "torch" / f"wait_counters_rank_{rank}.json", counted)


def _newest(dump: tuple[str, bytes] | None) -> float:
    """When the newest call was made; 0 where that is not told."""
    made = _MADE.findall(dump[1]) if dump is not None else []
    return max(map(int, made), default=0) / 1e9


def _socket(one: Seen) -> Path:
    """As `runtime.answering` makes it."""
    folder = home(processes.environment(one.pid)) if one.path == NO_RING else one.path.parent
    return folder / f"rank-{one.pid}.sock"


def _write(path: Path, data: bytes) -> None:
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def exits(
    seen: Sequence[Seen], codes: Mapping[int, int], path: Path, lost: Mapping[int, str] = MappingProxyType({})
) -> None:
    """How each recorded process stands: running, or ended, and with what where that is known.

    `lost` tells of ranks, also of such as were never seen, why they are not reached any more.
    """
    rows: list[dict[str, Any]] = []
    for one in seen:
        code = codes.get(one.pid)
        row: dict[str, Any] = {"rank": one.rank if one.rank >= 0 else None, "host": one.host, "pid": one.pid}
        if code is None and one.rank in lost:
            row |= {"state": "lost", "reason": lost[one.rank]}
        elif one.lives and one.stopped:
            row |= {"state": "stopped", "since": round(one.stopped, 3)}
        elif one.lives:
            row["state"] = "running"
        elif code is None:
            row["state"] = "ended"
        else:
            row |= {"state": "exited", "exitcode": code, "signal": _signal(code)}
        rows.append(row)
    unseen = sorted(lost.keys() - {one.rank for one in seen})
    rows += [{"rank": r, "host": None, "pid": None, "state": "lost", "reason": lost[r]} for r in unseen]
    path.write_text(json.dumps(rows, indent=1) + "\n")


def work(done: Sequence[Work], counted: Mapping[int, tuple[str, str]], path: Path) -> None:
    """What ranks did between two looks."""
    rows = []
    for one in done:
        first, last = counted.get(one.rank, ("", ""))
        rows.append({**one._asdict(), "first": first, "last": last})
    path.write_text(json.dumps(rows, indent=1) + "\n")


def went_on(ranks: Mapping[int, float], path: Path) -> None:
    """Note in the same file which ranks' calls went on after all, and after how many seconds."""
    rows: list[dict[str, Any]] = []
    with contextlib.suppress(OSError, ValueError):
        rows = json.loads(path.read_bytes())
    known = {row["rank"] for row in rows}
    rows += [{"rank": rank, "over_s": 0, "main_s": 0} for rank in ranks if rank not in known]
    for row in rows:
        if row["rank"] in ranks:
            row["went_on_s"] = round(ranks[row["rank"]], 1)
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
    wanted = (*TELLING, "PET_", "SLURM_N")
    kept = sorted(f"{name}={value}" for name, value in variables.items() if name.startswith(wanted))
    path.write_text("\n".join(kept) + "\n")
