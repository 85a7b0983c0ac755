"""The verdict card as a terminal without colour shows it."""

from __future__ import annotations

import io

from rich.console import Console

from rankandfile.model.diagnosis import Diagnosis
from rankandfile.render.card import card
from rankandfile.render.words import UNICODE, Signs
from support.places import TESTS

SNAPSHOTS = TESTS / "render" / "snapshots"
WIDTHS = (100, 60)


def shown(
    diagnosis: Diagnosis,
    width: int,
    signs: Signs = UNICODE,
    color: bool = False,
    height: int | None = None,
    verbose: bool = False,
) -> str:
    file = io.StringIO()
    console = Console(
        file=file,
        width=width,
        highlight=False,
        color_system="standard" if color else None,
        force_terminal=color,
    )
    console.print(card(diagnosis, signs, width, height, verbose))
    # Tables are filled up with blanks.
    return "\n".join(line.rstrip() for line in file.getvalue().rstrip().split("\n")) + "\n"
