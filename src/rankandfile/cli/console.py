"""Where words go: answers to stdout, everything else to stderr."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

from rich.console import Console
from typer import Option

if TYPE_CHECKING:
    from rankandfile.render.words import Signs

#: Width where nobody is looking at a terminal: a pipe or a CI log, where `grep` wants whole lines.
PIPE_WIDTH = 160

Unicode = Annotated[bool, Option("--unicode/--no-unicode", help="Symbols, or plain ASCII.")]


def _width(stream: object) -> int | None:
    if "COLUMNS" in os.environ or (hasattr(stream, "isatty") and stream.isatty()):
        return None
    return PIPE_WIDTH


# What is printed has names of evidence in it, in which brackets are brackets.
out = Console(highlight=False, markup=False, width=_width(sys.stdout))
err = Console(stderr=True, highlight=False, markup=False, width=_width(sys.stderr))


#: Of a card: lines longer than this are not read at a glance.
CARD_WIDTH = 120
#: As the documentation has it.
_CARD_IN_A_PIPE = 100


def card_size(console: Console) -> tuple[int, int | None]:
    """Columns, and rows: a pipe has none."""
    if not console.is_terminal:
        return (min(console.width, CARD_WIDTH) if "COLUMNS" in os.environ else _CARD_IN_A_PIPE), None
    return min(console.width, CARD_WIDTH), console.height


def shows_symbols(console: Console, unicode: bool) -> bool:
    return unicode and (console.encoding or "").lower().startswith("utf")


def signs_for(unicode: bool) -> Signs:
    """The symbols that this terminal can show."""
    from rankandfile.render.words import PLAIN, UNICODE

    return UNICODE if shows_symbols(out, unicode) else PLAIN


def write_utf8(text: str) -> None:
    """A document for another program: UTF-8, whatever the terminal speaks."""
    write_raw(text.encode("utf-8", "replace"))


def write_raw(data: bytes) -> None:
    """Behind what was printed before."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def complain(message: str) -> None:
    """One line for the person, also where the terminal is narrow."""
    line = " ".join(message.split())
    err.print(f"raf: {line}", style="bold red", soft_wrap=True)
