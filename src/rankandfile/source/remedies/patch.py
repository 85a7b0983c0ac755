"""What a pattern hands back: a patch, or the words that say why there is none."""

from __future__ import annotations

import difflib
import re

from msgspec import Struct


class Patch(Struct, frozen=True):
    """A change of one file, and what a person must know before making it."""

    pattern: str
    title: str
    text: str
    """Why this mends it."""
    path: str
    before: str
    after: str
    decide: str = ""
    """What only a person can decide."""

    @property
    def diff(self) -> str:
        return unified(self.path, self.before, self.after)


class Refusal(Struct, frozen=True):
    """A mechanical patch would be wrong: why, and what to decide instead."""

    pattern: str
    words: str


def lines_with_ends(text: str) -> list[str]:
    """The lines as Python and git count them: only a line feed ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def unified(path: str, before: str, after: str) -> str:
    """The change as `git apply` reads it, also where the last line has no end."""
    old, new = lines_with_ends(before), lines_with_ends(after)
    lines = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
