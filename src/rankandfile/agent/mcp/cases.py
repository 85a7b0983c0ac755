"""The cases that a client may ask about: the one of the command line, or those that it opened itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from rankandfile.agent.bench import Bench
from rankandfile.agent.playbook import Investigation, investigate
from rankandfile.agent.tool import ToolError
from rankandfile.pipeline import Options

from .confine import Roots

_MOST_OPEN = 4


@dataclass(frozen=True)
class Asked:
    """What a case is read from."""

    paths: tuple[Path, ...]
    options: Options = Options()


Reader = Callable[[Asked], Bench]
"""Reads a case. Raises ToolError with a sentence that whoever asks can act on."""


@dataclass(frozen=True)
class Opened:
    name: str
    bench: Bench
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Clients share a case; what it works out on demand is for one at a time."""

    @cached_property
    def investigation(self) -> Investigation:
        return investigate(self.bench)


class GivenCase:
    """The one case that the server was started for. It is read when it is first asked for: clients wait for a server
    to answer their greeting, and not for long."""

    roots: Roots | None = None
    """Where a client may open cases; None: it may not."""

    def __init__(self, asked: Asked, read: Reader) -> None:
        self._asked, self._read = asked, read
        self._opened: Opened | None = None
        self._lock = threading.Lock()

    def named(self, name: str | None) -> Opened:
        """Raises ToolError if it is not clear which case is meant."""
        if name not in (None, "case"):
            raise ToolError("this server has one case, which is called 'case'")
        with self._lock:
            if self._opened is None:
                self._opened = Opened("case", self._read(self._asked))
            return self._opened

    def names(self) -> list[str]:
        return ["case"]


class OpenCases:
    """Cases that clients opened, a few at a time: the one that was not asked for longest makes room."""

    def __init__(self, roots: Roots, read: Reader) -> None:
        self.roots = roots
        self._read = read
        self._open: dict[str, Opened] = {}
        self._known: dict[Asked, str] = {}
        self._lock = threading.Lock()

    def open(self, asked: Asked) -> Opened:
        """Read it, anew if it is open already: more evidence may have come since."""
        bench = self._read(asked)
        bench = replace(bench, folders=tuple(filter(self.roots.has_history_of, bench.folders)))
        with self._lock:
            name = self._known.setdefault(asked, f"c{len(self._known) + 1}")
            self._open.pop(name, None)
            while len(self._open) >= _MOST_OPEN:
                del self._open[next(iter(self._open))]
            self._open[name] = Opened(name, bench)
            return self._open[name]

    def named(self, name: str | None) -> Opened:
        with self._lock:
            if name is None and len(self._open) == 1:
                name = next(iter(self._open))
            found = self._open.pop(name, None) if name is not None else None
            if found is not None and name is not None:
                self._open[name] = found
                return found
            if not self._open:
                raise ToolError("no case is open: open one with open_case")
            which = f"there is no open case '{name[:40]}'" if name is not None else "several cases are open"
            raise ToolError(f"{which}: name one of {', '.join(self._open)} as `case`, or use open_case")

    def names(self) -> list[str]:
        with self._lock:
            return list(self._open)


Cases = GivenCase | OpenCases
