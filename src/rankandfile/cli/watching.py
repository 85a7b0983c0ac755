"""What commands that watch a job have in common: their options, and how they speak beside the job's own output."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

from typer import Option

from .console import err
from .output import may_be_folder

Stall = Annotated[
    float | None,
    Option(
        "--stall",
        min=0.5,
        metavar="SECONDS",
        help="Look why when nothing has moved for so long. Default: 10 s, or five times the longest pause so far.",
    ),
]


CaseFolder = Annotated[
    Path | None,
    Option(
        "--out",
        "--output",
        "-o",
        callback=may_be_folder,
        metavar="DIR",
        help="Folder for the case. Default: raf-case-TIME, made when needed.",
    ),
]


class OnPlan(str, Enum):
    off = "off"
    enforce = "enforce"


def say(message: str) -> None:
    err.print(f"raf: {message}", soft_wrap=True)


def show_card(card: str) -> None:
    err.file.write(card)
    err.file.flush()
