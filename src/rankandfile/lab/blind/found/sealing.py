"""Check what the author says of each folder, and seal it."""

from __future__ import annotations

from pathlib import Path

from rankandfile.lab.blind import case as files
from rankandfile.lab.blind import sealed
from rankandfile.model.errors import UserError

from . import case


def seal(folder: Path) -> str:
    """The checksum of the sealed set. Raises `UserError` where a folder cannot be marked by what is said of it."""
    truths = {}
    for one in case.cases(folder):
        truth = files.read(folder / one.name / case.TRUTH, case.FoundTruth)
        case.check(one.name, truth)
        if not any(path.is_file() for path in one.evidence.rglob("*")):
            raise UserError(f"{one.name}: {case.EVIDENCE}/ is empty")
        truths[one.name] = truth
    checksum = sealed.write(folder, found=truths)
    for name in truths:
        (folder / name / case.TRUTH).unlink()
    return checksum
