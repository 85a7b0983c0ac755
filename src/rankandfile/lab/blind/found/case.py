"""What the author of a set of found evidence writes: of each folder, `truth.toml`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import msgspec

from rankandfile.model.causes import CAUSES
from rankandfile.model.errors import UserError

TRUTH, EVIDENCE = "truth.toml", "evidence"


class Place(msgspec.Struct, frozen=True):
    file: str
    line: int


class FoundTruth(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What a perfect reader of this evidence, and of nothing else, could say."""

    title: str
    form: str
    """py-spy text per node, NCCL RAS, Slurm log …"""
    hang: bool | None = None
    """None: this evidence cannot tell."""
    cause: str = ""
    """Empty: this evidence cannot tell."""
    accepted_causes: list[str] = []
    culprits: list[int] = []
    suspects: list[int] = []
    """Whom one could fairly suspect, and not more."""
    waiting: list[int] = []
    location: Place | None = None
    says: list[str] = []
    """Patterns of facts that a useful answer holds."""
    never: list[str] = []
    """Patterns of sentences that would be untrue, or harmful."""


class FoundCase(NamedTuple):
    name: str
    evidence: Path


def cases(folder: Path) -> list[FoundCase]:
    """By name. Raises `UserError` where there is none."""
    found = [
        FoundCase(path.parent.name, path) for path in sorted(folder.glob(f"*/{EVIDENCE}")) if path.is_dir()
    ]
    if not found:
        raise UserError(f"{folder} has no case: no folder in it holds {EVIDENCE}/")
    return found


def check(name: str, truth: FoundTruth) -> None:
    """Raises `UserError` where it cannot be marked."""
    if unknown := [one for one in (truth.cause, *truth.accepted_causes) if one and one not in CAUSES]:
        raise UserError(f"{name}: no such cause: {', '.join(unknown)}")
    if not truth.title.strip() or not truth.form.strip():
        raise UserError(f"{name}: has no title, or no form")
    if truth.hang is False and truth.culprits and truth.cause == "no_hang":
        raise UserError(f"{name}: where all is well nobody is a culprit")
    for pattern in (*truth.says, *truth.never):
        try:
            re.compile(pattern)
        except re.error as error:
            raise UserError(f"{name}: {pattern!r} is no pattern: {error}") from error
