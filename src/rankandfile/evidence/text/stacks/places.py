"""One name for one file: py-spy shortens paths, faulthandler does not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable


class Places:
    """The full paths that a case knows, to look shortened ones up in."""

    def __init__(self, files: Iterable[str]) -> None:
        self._by_name: dict[str, set[str]] = defaultdict(set)
        for file in files:
            if file.startswith("/"):
                self._by_name[file.rpartition("/")[2]].add(file)

    def full(self, file: str) -> str:
        """The path that this one is short for, if only one can be meant."""
        if file.startswith(("/", "<")) or "." not in file:
            return file
        candidates = self._by_name.get(file.rpartition("/")[2], ())
        ends = [path for path in candidates if path.endswith("/" + file)]
        if len(ends) > 1 and "/" not in file:
            # A bare name is of a folder in the search path; what lies in a package would name the package.
            ends = [path for path in ends if "/site-packages/" not in path]
        return ends[0] if len(ends) == 1 else file
