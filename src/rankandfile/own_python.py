"""Processes of our own Python that import what this one does, and nothing from the current folder.

`python -m` and a plain `python -c` look for modules in the current folder first, and it may hold a stranger's files: a
`msgspec.py` in an unpacked ticket would run. `-P` forbids it, from Python 3.11 on. Before, the program itself takes the
folder off the path, which from 3.13 on would be too late: that Python imports a module before the program begins.
"""

from __future__ import annotations

import sys
from pathlib import Path

_HERE = ("", ".")
"""Entries of the path that stand for the current folder, whichever it is: an interactive Python has one."""
_SAFE = ["-P"] if sys.version_info >= (3, 11) else []


def own_python(program: str) -> list[str]:
    """The command that runs this program text; words put after it are its `sys.argv[1:]`."""
    path = [entry for entry in sys.path if entry not in _HERE]
    package = str(Path(__file__).parents[1])
    if package not in path:
        path.append(package)
    return [sys.executable, *_SAFE, "-c", f"import sys; sys.path[:] = {path!r}; {program}"]
