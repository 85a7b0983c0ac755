"""How frames that show an activity are written down.

Files and functions are written as in a shell (``*``), several functions side by side. A file fits from any
folder on; a Python function without its class. `NATIVE` stands for C and C++ frames, whose names are compared
whole. In a phrase, ``{op}`` is the function that fits, ``{function}`` and ``{at}`` the program's own.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import cache
from typing import NamedTuple

NATIVE = "native"
ANY = "*"
#: The phrase of most that a program asks for.
ASKED = "in {op} ← {function}, {at}"


class Where(NamedTuple):
    """Frames, by file and function."""

    file: str | None
    """None for native frames."""
    functions: frozenset[str]
    """Those that are written out."""
    shapes: tuple[str, ...]
    """Those that are not."""

    def fits(self, function: str, file: str, native: bool) -> bool:
        if native or self.file is None:
            return native and self.file is None and self._named(function)
        return self._named(function) and _is_file(self.file, file)

    def _named(self, function: str) -> bool:
        if function in self.functions:
            return True
        return bool(self.shapes) and _shape(self.shapes).match(function) is not None


class Pattern(NamedTuple):
    activity: str
    phrase: str
    where: tuple[Where, ...]


def where(file: str, functions: str) -> Where:
    names = functions.split()
    plain = frozenset(name for name in names if _written_out(name))
    return Where(None if file == NATIVE else file, plain, tuple(name for name in names if name not in plain))


def _is_file(written: str, file: str) -> bool:
    if _written_out(written):
        return file == written or file.endswith(f"/{written}")
    return _shape((written,), r"(?:^|/)").search(file) is not None


def _written_out(name: str) -> bool:
    return not any(sign in name for sign in "*?[")


@cache
def _shape(names: tuple[str, ...], ahead: str = "") -> re.Pattern[str]:
    return re.compile("|".join(ahead + translate(name) for name in names))


def pattern(activity: str, phrase: str, *frames: tuple[str, str]) -> Pattern:
    return Pattern(activity, phrase, tuple(where(file, functions) for file, functions in frames))
