"""What somebody means who does not begin with a command: `raf dumps/` is `raf diagnose dumps/`."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from rankandfile.cli import commands
from rankandfile.cli.errors import UserError
from rankandfile.cli.settings import settings
from rankandfile.evidence.files.addresses import is_address

_ITS_OWN = ("-h", "--help", "-V", "--version", "--install-completion", "--show-completion")
_MERGED: dict[tuple[str, ...], tuple[str, ...]] = {("show", "divergence"): ("show", "cohorts")}
"""What one may look for under a name of its own, and where it is."""
_LAUNCHER = re.compile(r"torchrun|python[\d.]*|srun|mpirun|mpiexec|deepspeed|accelerate")


def understood(words: Sequence[str], modules: Collection[str]) -> list[str]:
    """`words` with the command that they leave out; `modules`: the commands, as their files are called.

    A command comes before a file of its name: `./show` is the file.
    """
    if merged := _MERGED.get(tuple(words[:2])):
        return [*merged, *words[2:]]
    if not words:
        # Where a project says what its evidence is, nothing need be named.
        return ["diagnose"] if settings().dumps else []
    if words[0] in _ITS_OWN or words[0].replace("-", "_") in modules:
        return list(words)
    first = words[0]
    if first == "help":
        return [*words[1:], "--help"]
    if first.startswith("-") or is_address(first) or "/" in first or Path(first).exists():
        return ["diagnose", *words]
    if first.isdigit():
        raise UserError(f"{first}: no such file; of a process that is stuck: raf attach {first}")
    if _LAUNCHER.fullmatch(first):
        raise UserError(f"{first} starts a job: raf run -- {' '.join(words)}")
    if inner := _in_groups(first):
        raise UserError(f"no command '{first}'; there is raf {' '.join([inner, *words[1:]])}")
    # A file's name, though none of here: whoever opens it says so, and which one is like it.
    return ["diagnose", *words] if "." in first else list(words)


def _in_groups(word: str) -> str:
    """``show calls`` for ``calls``: the command of that name in a group; empty where none has one."""
    above = f"{commands.__name__}."
    modules = pkgutil.walk_packages(commands.__path__, above)
    names = (one.name.removeprefix(above).replace("_", "-").split(".") for one in modules)
    shortest: list[str] = min((name for name in names if name[-1] == word), key=len, default=[])
    return " ".join(shortest)
