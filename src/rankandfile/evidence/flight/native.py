"""The native reader of dumps: another package, `rankandfile-native`, which is used where it is installed.

`RAF_NATIVE=0` in the environment leaves it out. So does a version of it that was made for another one of this package.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

SWITCH = "RAF_NATIVE"
#: What its `read` returns is a matter of both packages: this is the number of the form that is known here.
INTERFACE = 1

#: Of each file: calls, what is told, what repeats, blocks of columns, processor seconds. None: it is not for it to say.
Answer = tuple[int, bytes, bytes, list[bytes], float]
Read = Callable[[Sequence[bytes], int], list[Answer | None]]


class Native(NamedTuple):
    read: Read | None
    said: str
    """Of it, for people: its version, or why it is not used; empty where there is none."""


@cache
def native() -> Native:
    if os.environ.get(SWITCH) == "0":
        return Native(None, f"native reader off: {SWITCH}=0")
    try:
        import rankandfile_native as package
    except ImportError as error:
        if error.name == "rankandfile_native":
            return Native(None, "")
        return Native(None, f"native reader not used: it does not load: {error}")
    version = package.__version__
    if package.interface != INTERFACE:
        return Native(None, f"native reader {version} not used: it is for another version of raf")
    return Native(package.read, f"native reader {version}")
