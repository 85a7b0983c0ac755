"""The programs on the Markdown pages of the linter's rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

PAGES = sorted((Path(__file__).parents[1] / "lint").glob("rules/*.md"))
FOLLOWED = (Path(__file__).parents[1] / "lint" / "followed.md",)
"""About no rule, but about what the linter follows on the way to a collective; no twins to be counted."""


class Program(NamedTuple):
    page: str
    title: str
    files: dict[str, str]


def programs(pages: Sequence[Path] = PAGES) -> list[Program]:
    found = []
    for page in pages:
        for part in re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            title, _, body = part.partition("\n")
            files = {}
            for block in re.findall(r"```python\n(.*?)```", body, flags=re.DOTALL):
                named = re.match(r"# file: (\S+)\n", block)
                files[named[1] if named else "train.py"] = block
            found.append(Program(page.stem, title.strip(), files))
    return found
