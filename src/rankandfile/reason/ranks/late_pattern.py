"""A regular expression that is compiled when it is first used: a run needs few of all, and compiling them takes longer
than all matching does."""

from __future__ import annotations

import re
from functools import cached_property


class LatePattern:
    def __init__(self, text: str, flags: int = 0) -> None:
        self._text, self._flags = text, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._text, self._flags)

    def search(self, text: str) -> re.Match[str] | None:
        return self._compiled.search(text)

    def match(self, text: str) -> re.Match[str] | None:
        return self._compiled.match(text)

    def sub(self, by: str, text: str) -> str:
        return self._compiled.sub(by, text)
