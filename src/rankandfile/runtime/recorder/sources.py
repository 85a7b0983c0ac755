"""Which source ran: a hash of each file that stacks show and of each module of the program, and a copy, once per node.

A function that decided and returned before the call is in no stack: its module is kept because the program imported it.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path

from rankandfile.runtime.recorder.ring import Ring
from rankandfile.runtime.recorder.stacks import inner
from rankandfile.wire import layout

LARGEST = 1 << 20
MOST = 500
_OWN = str(Path(__file__).parents[2])
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]")


class Sources:
    def __init__(self, ring: Ring, folder: Path) -> None:
        self._ring = ring
        self._folder = folder
        self._seen: set[str] = set()
        self._modules = 0

    def keep(self, files: list[str]) -> None:
        """Describe and copy the files that were not yet, those of stacks first; never raises."""
        self._keep_all(files)
        # Imports are few and come in bursts: the number of modules tells that there was one.
        if files and len(sys.modules) != self._modules:
            self._modules = len(sys.modules)
            self._keep_all(own_modules())

    def _keep_all(self, files: Iterable[str]) -> None:
        for path in files:
            if path in self._seen or len(self._seen) >= MOST:
                continue
            self._seen.add(path)
            try:
                self._keep(path)
            except OSError:
                continue  # gone, or no room: the record keeps its name and line

    def _keep(self, path: str) -> None:
        size = Path(path).stat().st_size
        if size > LARGEST:
            return
        text = Path(path).read_bytes()
        name = hashlib.sha256(text).hexdigest()
        self._ring.add(layout.SOURCE, [len(self._seen), path, name, size])
        # Packed, so that nobody who is given the folder takes source for a log.
        copy = self._folder / f"{name}.py.zlib"
        if copy.exists():
            return
        self._folder.mkdir(mode=0o700, exist_ok=True)
        part = self._folder / f"{name}.{os.getpid()}.part"
        part.write_bytes(zlib.compress(text))
        part.replace(copy)


def own_modules() -> list[str]:
    """Files of the modules that were imported, but for torch, the standard library and what is installed."""
    found = []
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if not isinstance(path, str) or not path.endswith(".py") or path.startswith(_OWN):
            continue
        if not inner(path) and not _INSTALLED.search(path):
            found.append(path)
    return found
