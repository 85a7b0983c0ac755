"""Cases handed to a tower, as archives of their evidence: it reads them as anybody's, and shows their pages."""

from __future__ import annotations

import os
import tempfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from .way import way_to

#: Of an archive; and how long the end waits for those that are on their way.
MOST, END_S = 60 << 20, 20.0

Say = Callable[[str], None]


class Handing:
    """Each case once, in a thread of its own."""

    def __init__(self, url: str, say: Say) -> None:
        self._way, self._say = way_to(url), say
        self._handed: set[Path] = set()
        self._sent: list[threading.Thread] = []

    def hand(self, case: Path, job: str) -> None:
        """Never waits."""
        if case not in self._handed:
            self._handed.add(case)
            thread = threading.Thread(target=self._deliver, args=(case, job), name="raf-case", daemon=True)
            thread.start()
            self._sent.append(thread)

    def finish(self) -> None:
        for thread in self._sent:
            thread.join(END_S)

    def _deliver(self, case: Path, job: str) -> None:
        try:
            with tempfile.TemporaryFile() as file:
                left_out = archive(case, file)
                size = file.tell()
                file.seek(0)
                self._way.hand(job, f"{os.uname().nodename}-{case.name}.zip", file, size)
        except (OSError, ValueError, zipfile.LargeZipFile) as error:
            self._say(f"the tower did not take the case {case}: {error}")
            return
        if left_out:
            self._say(
                f"the tower got the case {case} without {left_out} large files: more than {MOST >> 20} MiB"
            )


def archive(case: Path, into: IO[bytes]) -> int:
    """Its evidence, the small files first; how many had no place in it. Raises OSError."""
    files = sorted(
        (path for path in (case / "evidence").rglob("*") if path.is_file() and not path.is_symlink()),
        key=lambda path: (path.stat().st_size, path),
    )
    left_out = 0
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as zipped:
        for path in files:
            # Rings and logs become a tenth and less; what does not may be too much.
            if into.tell() + path.stat().st_size // 4 > MOST:
                left_out += 1
                continue
            zipped.write(path, path.relative_to(case))
    if into.tell() > MOST:
        raise ValueError(f"an archive of {into.tell() >> 20} MiB")
    return left_out
