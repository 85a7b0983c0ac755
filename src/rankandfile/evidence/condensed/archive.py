"""The archive that condensed evidence travels in: a tar, packed as a whole, since ranks that behave alike leave alike
files. It is like any other that a person packs, but for the times of its files: they are kept to the nanosecond.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rankandfile.evidence.files.blobs import Blob
from rankandfile.evidence.files.members import inside
from rankandfile.evidence.objects.at_hand import AtHand


class Archive:
    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.bytes = 0
        """Of all that is in it."""

    def add(self, name: str, written_ns: int, content: Path) -> None:
        """Raises OSError."""
        info = tarfile.TarInfo(name)
        if written_ns > 0:
            seconds, rest = divmod(written_ns, 10**9)
            info.pax_headers = {"mtime": f"{seconds}.{rest:09d}"}
        with content.open("rb") as file:
            # It may be a log that grows.
            info.size = os.fstat(file.fileno()).st_size
            self._tar.addfile(info, file)
        self.bytes += info.size


@contextmanager
def archive(path: Path, *, packed: bool) -> Iterator[Archive]:
    with tarfile.open(path, "w:xz" if packed else "w:", format=tarfile.PAX_FORMAT) as tar:
        yield Archive(tar)


def names(blobs: Sequence[Blob], copied: AtHand) -> list[str]:
    """What each file is called in the archive: its path below the folder that all that was named lies in, as names of
    folders and files tell whose a file is."""
    whole = {
        copied.called(str(path)): os.path.abspath(path)  # noqa: PTH100 - a link keeps its own name
        for path in copied.paths
    }
    base = os.path.commonpath([os.path.dirname(path) for path in whole.values()])  # noqa: PTH120
    return [_name(blob.source, whole, base) for blob in blobs]


def _name(source: str, whole: dict[str, str], base: str) -> str:
    for given in sorted(whole, key=len, reverse=True):
        if source == given or source.startswith((f"{given}!/", f"{given.rstrip('/')}/")):
            source = whole[given] + source[len(given.rstrip("/")) :]
            break
    below = os.path.relpath(source, base) if source.startswith(base) else source
    return inside(below.replace("!/", "/"))[0]
