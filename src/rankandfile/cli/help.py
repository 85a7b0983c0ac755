"""Examples under ``--help``."""

from __future__ import annotations

from rich.markup import escape


def examples(*lines: str) -> str:
    """An epilog with one command a line. Typer joins lines but keeps paragraphs, and reads markup."""
    return "\n\n".join(["Examples:", *(f"  {escape(line)}" for line in lines)])
