"""What is run on the far side: the shell script beside this module, with what is asked of it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from importlib.resources import files

from .target import Target

#: What a shell expands in a pattern. Everything else of it is a name, whatever is in it.
_WILD = re.compile(r"(\*+|\?|\[[!^]?[\w.,:-]+\])")


def script(target: Target, stacks: bool, condense: bool) -> bytes:
    asked = [
        f"cd {shlex.quote(target.folder)} || exit" if target.folder else "",
        " ".join(["set --", *map(quoted, target.patterns)]),
        f"stacks={'yes' if stacks else ''}",
        f"condense={'yes' if condense else ''}",
    ]
    body = files(__package__).joinpath("far.sh").read_text(encoding="utf-8")
    return "\n".join([*asked, body]).encode("utf-8", "surrogateescape")


def command(target: Target, length: int) -> list[str]:
    """The command that runs a script of so many bytes there. It comes on standard input, and what the script reads
    comes behind it: no shell on the way has to take it apart, and no list of arguments is too short for it."""
    words = ["sh", "-c", f'eval "$(dd bs=1 count={length} 2>/dev/null)"']
    return [*target.reach, *([shlex.join(words)] if target.login_shell else words)]


def quoted(pattern: str) -> str:
    """A pattern as a word of the far shell, which expands it there and nothing else in it.

    >>> quoted("/tmp/my dumps;/rank_[0-9]*")
    "'/tmp/my dumps;/rank_'[0-9]*"
    >>> quoted("~/logs")
    '~/logs'
    """
    home, rest = ("~/", pattern[2:]) if pattern.startswith("~/") else ("", pattern)
    return home + "".join(_parts(rest))


def _parts(pattern: str) -> Iterable[str]:
    for number, part in enumerate(_WILD.split(pattern)):
        if part:
            yield part if number % 2 else shlex.quote(part)
