"""Lists of hosts as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rankandfile.model.errors import UserError

_COMMA = re.compile(r",(?![^\[\]]*\])")
_BRACKETS = re.compile(r"\[([\d,\-]+)\]")
_MOST = 100_000
_COUNTED = "hosts are counted as in node[01-16,20]"


def listed(text: str) -> list[str]:
    """Names parted by commas, each of which may stand for several, as Slurm and pdsh write them.

    >>> listed("node[08-10,12],login")
    ['node08', 'node09', 'node10', 'node12', 'login']
    """
    return checked(one for word in _COMMA.split(text) for one in _expanded(word.strip()))


def of_file(text: str) -> list[str]:
    """The first word of each line, as in the host files of MPI: `node-1 slots=8`.

    >>> of_file("# ours\\nnode-1 slots=8\\n\\nnode-[2-3]\\n")
    ['node-1', 'node-2', 'node-3']
    """
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    return checked(one for words in lines if words for one in listed(words[0]))


def checked(names: Iterable[str]) -> list[str]:
    """Each once, in order. Raises `UserError` for what would be taken for an option, or for several lines."""
    found: dict[str, None] = {}
    for name in names:
        if not name or name.startswith("-") or not name.isprintable():
            raise UserError(f"{name!r}: no name of a host")
        found[name] = None
        if len(found) > _MOST:
            raise UserError(f"more than {_MOST:,} hosts")
    return list(found)


def _expanded(name: str) -> Iterator[str]:
    match = _BRACKETS.search(name)
    if match is None:
        if "[" in name or "]" in name:
            raise UserError(f"{name}: {_COUNTED}")
        yield name
        return
    for part in match[1].split(","):
        first, dash, last = part.partition("-")
        if not first.isdigit() or (dash and not last.isdigit()) or len(first + last) > 16:
            raise UserError(f"{name}: {_COUNTED}")
        numbers = range(int(first), int(last or first) + 1)
        if len(numbers) > _MOST:
            raise UserError(f"{name}: more than {_MOST:,} hosts")
        for number in numbers:
            yield from _expanded(f"{name[: match.start()]}{number:0{len(first)}d}{name[match.end() :]}")
