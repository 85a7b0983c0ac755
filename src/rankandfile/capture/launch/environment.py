"""What a job gets under `raf run`: the recorder's way in, settings that its user has not made, a folder for rings."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import rankandfile
from rankandfile.capture.watch.processes import alive, status
from rankandfile.capture.watch.rings import look
from rankandfile.recorder_names import DUMP_FILE, OLD_DUMP_FILE
from rankandfile.wire.places import home, made

INJECT = Path(rankandfile.__file__).resolve().parent / "runtime" / "inject"

#: What a hang is better diagnosed with, and what costs nothing; torch's recorder is set in the rank, by its release.
DEFAULTS = {
    "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
    "PYTHONFAULTHANDLER": "1",
    "NCCL_DEBUG": "WARN",
}
#: Where torch's watchdog writes its dump; a job that names either has said where it wants it.
_DUMP_FILES = (DUMP_FILE, OLD_DUMP_FILE)


def job_environment(
    base: Mapping[str, str], rings: Path, dumps: Path, watcher: int, plan: str = "off"
) -> dict[str, str]:
    """`base`, so that each rank records into `rings`; the user's own settings stand."""
    made = dict(base)
    for name, value in DEFAULTS.items():
        made.setdefault(name, value)
    if not any(name in base for name in _DUMP_FILES):
        # Which release the job has is not known here: the old name is known to all of them.
        made[OLD_DUMP_FILE] = f"{dumps}/nccl_trace_rank_"
    made["RAF_RUN"] = str(watcher)
    made["RAF_RING_DIR"] = str(rings)
    if plan != "off":
        made["RAF_PLAN"] = plan
        made["RAF_NATIVE"] = "0"  # its kernels let nobody ask before a call
    before = base.get("PYTHONPATH")
    made["PYTHONPATH"] = os.pathsep.join([str(INJECT), before]) if before else str(INJECT)
    return made


def cannot_inject(base: Mapping[str, str]) -> str:
    """Why no rank will record; empty if they will."""
    if any(
        base.get(name, "").strip().lower() in ("0", "off", "no", "false") for name in ("RAF", "RAF_RECORDER")
    ):
        return "RAF=0 or RAF_RECORDER=0 turns the recorder off"
    if not (INJECT / "sitecustomize.py").is_file():
        return f"{INJECT / 'sitecustomize.py'} is missing"
    return ""


def folder_for_rings(environment: Mapping[str, str]) -> Path:
    """A new folder for this process's job, in `RAF_RING_DIR` or this user's part of shared memory. Raises OSError."""
    whole = made(environment)
    _sweep(whole)
    folder = whole / _name()
    folder.mkdir(mode=0o700)
    return folder


def work_folder(environment: Mapping[str, str]) -> Path:
    """A new folder for what this process keeps of its job until its end. Raises OSError."""
    for old in Path(tempfile.gettempdir()).glob("raf-run-*-*-*"):
        with contextlib.suppress(OSError):
            rings = home(environment) / "-".join(old.name.split("-")[1:4])
            if old.lstat().st_uid == os.getuid() and _is_left(rings):
                shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"raf-{_name()}-"))


def _name() -> str:
    own = status(os.getpid())
    return f"run-{os.getpid()}-{own.started if own else 0}"


def _sweep(whole: Path) -> None:
    """Remove what runs have left whose watcher was killed, and whose ranks are gone too."""
    for old in whole.glob("run-*-*"):
        if _is_left(old):
            shutil.rmtree(old, ignore_errors=True)


def _is_left(rings: Path) -> bool:
    """By its name, it is of a run whose watcher is gone, and nobody of its ranks lives."""
    words = rings.name.split("-")
    if not (words[1].isdigit() and words[2].isdigit()) or alive(int(words[1]), int(words[2])):
        return False
    return not any(one.lives for one in look(rings))
