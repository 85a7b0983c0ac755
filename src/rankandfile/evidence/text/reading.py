"""Text."""

from __future__ import annotations

from pathlib import Path

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.text import logs, stacks


def read_stacks(path: Path, name: str) -> Decoded:
    # A log may begin with faulthandler's stacks; what else it says counts too.
    log = logs.read(path)
    return Decoded(stacks=stacks.read(path, name), log=log if log.columns else None)


def read_log(path: Path, _name: str) -> Decoded:
    found = stacks.read_log(path)
    return Decoded(stacks=found if found.threads else None, log=logs.read(path))
