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

    @property
    def fingerprint(self) -> str:
        """The same while the code around it moves: no line number is in it."""
        parts = (self.rule, self.file, self.function, " ".join(self.code.split()))
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


class LintReport(Struct, frozen=True, kw_only=True):
    flagged: tuple[Flagged, ...]
    files: int
    lines: int
    notes: tuple[Note, ...] = ()
    rules: tuple[tuple[str, str], ...] = ()
    """Every rule and what it finds, in a line."""
