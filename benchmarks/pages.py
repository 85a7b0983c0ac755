"""The marked blocks of a page of the documentation, each written by one benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def write_block(page: Path, begin: str, end: str, lines: Sequence[str], heading: str) -> None:
    """Put the lines between the marks, in place of the last ones; under `heading` at the end of a page without."""
    block = "\n".join([begin, *lines, end])
    text = page.read_text(encoding="utf-8") if page.exists() else "# Performance\n"
    if begin in text and end in text:
        text = text.partition(begin)[0] + block + text.partition(end)[2]
    else:
        text = f"{text.rstrip()}\n\n## {heading}\n\n{block}\n"
    page.write_text(text, encoding="utf-8")
