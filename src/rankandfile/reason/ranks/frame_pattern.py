"""How frames that show an activity are written down.

Files and functions are written as in a shell (``*``), several functions side by side. A file fits from any
folder on; a Python function without its class. `NATIVE` stands for C and C++ frames, whose names are compared
whole. In a phrase, ``{op}`` is the function that fits, ``{function}`` and ``{at}`` the program's own.
"""

from __future__ import annotations

import re
from fnmatch import translate
from typing import NamedTuple

NATIVE = "native"
ANY = "*"
#: The phrase of most that a program asks for.
ASKED = "in {op} ← {function}, {at}"


class Where(NamedTuple):
    """Frames, by file and function."""

    file: re.Pattern[str] | None
    """None for native frames."""
    function: re.Pattern[str]

    def fits(self, function: str, file: str, native: bool) -> bool:
        if native or self.file is None:
            return native and self.file is None and self.function.match(function) is not None
        return self.function.match(function) is not None and self.file.search(file) is not None


class Pattern(NamedTuple):
    activity: str
    phrase: str
    where: tuple[Where, ...]


def where(file: str, functions: str) -> Where:
    names = re.compile("|".join(translate(name) for name in functions.split()))
    return Where(None if file == NATIVE else re.compile(r"(?:^|/)" + translate(file)), names)


def pattern(activity: str, phrase: str, *frames: tuple[str, str]) -> Pattern:
    return Pattern(activity, phrase, tuple(where(file, functions) for file, functions in frames))
