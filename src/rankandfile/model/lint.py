"""What the linter found: places of a program where ranks can part around a collective, each with its story."""

from __future__ import annotations

import hashlib
from typing import Literal, TypeAlias

from msgspec import Struct

from .ledger import Note

Severity: TypeAlias = Literal["error", "warning", "hint"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "hint")


class Told(Struct, frozen=True, kw_only=True):
    """One step of a finding's story."""

    file: str
    line: int
    words: str


class Change(Struct, frozen=True, kw_only=True):
    """A change of the source after which the finding is gone, and no other one is there."""

    title: str
    words: str
    """Why this mends it."""
    diff: str
    decide: str = ""
    """What only a person can decide; empty where it is safe."""


class Flagged(Struct, frozen=True, kw_only=True):
    """One place where ranks can part."""

    rule: str
    severity: Severity
    file: str
    line: int
    code: str
    """The line as written."""
    message: str
    story: tuple[Told, ...] = ()
    fix: str = ""
    function: str = ""
    change: Change | None = None
    unchanged: str = ""
    """Why no change is offered, where one was asked for."""

    @property
    def fingerprint(self) -> str:
        """The same while the code around it moves: no line number is in it."""
        parts = (self.rule, self.file, self.function, " ".join(self.code.split()))
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


class Changed(Struct, frozen=True, kw_only=True):
    """A file as it is, and with the changes."""

    file: str
    before: bytes
    after: bytes
    findings: int
    """How many are gone then."""
    diff: bytes
    """As `git apply` reads it."""


class LintReport(Struct, frozen=True, kw_only=True):
    flagged: tuple[Flagged, ...]
    files: int
    lines: int
    notes: tuple[Note, ...] = ()
    changed: tuple[Changed, ...] = ()
    """The files with every change in them that was asked for."""
    rules: tuple[tuple[str, str], ...] = ()
    """Every rule and what it finds, in a line."""
