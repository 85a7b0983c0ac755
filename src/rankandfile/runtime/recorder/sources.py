"""Which source ran: a hash of every file of the program that stacks show, and a copy of it, once per node."""

from __future__ import annotations

import hashlib
import os
import zlib
from pathlib import Path

from rankandfile.runtime.recorder.ring import Ring
from rankandfile.wire import layout

LARGEST = 1 << 20
MOST = 500


class Sources:
    def __init__(self, ring: Ring, folder: Path) -> None:
        self._ring = ring
        self._folder = folder
        self._kept = 0

    def keep(self, files: list[str]) -> None:
        """Describe and copy the files that were not yet; never raises."""
        while self._kept < min(len(files), MOST):
            path = files[self._kept]
            self._kept += 1
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
        self._ring.add(layout.SOURCE, [self._kept, path, name, size])
        # Packed, so that nobody who is given the folder takes source for a log.
        copy = self._folder / f"{name}.py.zlib"
        if copy.exists():
            return
        self._folder.mkdir(mode=0o700, exist_ok=True)
        part = self._folder / f"{name}.{os.getpid()}.part"
        part.write_bytes(zlib.compress(text))
        part.replace(copy)
