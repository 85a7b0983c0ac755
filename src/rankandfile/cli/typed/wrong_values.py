"""What is wrong with a value of an option, in words of ours: a library's speak of inputs, parsing and errors."""

from __future__ import annotations

import os
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import get_args, get_origin

_NUMBERS: dict[object, str] = {int: "a whole number", float: "a number"}


def what_is_wrong(value: object, kind: object, rules: object = None) -> str | None:
    """`value` was refused as an option of this kind. None where nothing plain can be said."""
    if get_origin(kind) is list and isinstance(value, list | tuple):
        each = (what_is_wrong(one, get_args(kind)[0], rules) for one in value)
        return next(filter(None, each), None)
    if kind in _NUMBERS:
        return _of_number(value, kind, rules)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return f"'{value}' is none of {_listed(one.value for one in kind)}"
    if kind is Path and unreadable(Path(str(value))):
        return f"{value} may not be read"
    return None


def _of_number(value: object, kind: object, rules: object) -> str | None:
    try:
        number = int(str(value)) if kind is int else float(str(value))
    except ValueError:
        return f"'{value}' is not {_NUMBERS[kind]}"
    least, most = (getattr(rules, name, None) for name in ("min", "max"))
    if least is not None and not number >= least:
        return f"{value} is less than {least}"
    if most is not None and not number <= most:
        return f"{value} is more than {most}"
    return None


def _listed(words: Iterable[object]) -> str:
    return ", ".join(map(str, words))


def unreadable(path: Path) -> bool:
    """It is there, and may not be read. Of what lies in a locked folder, whoever opens it says so."""
    try:
        return path.exists() and not os.access(path, os.R_OK)
    except OSError:
        return False
