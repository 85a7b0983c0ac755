"""``raf lab blind new``: the skeleton of a blind set."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from rankandfile.cli.console import out
from rankandfile.cli.errors import told_as

ORDER = 10
EXAMPLES = ("raf lab blind new spring/", "raf lab blind new summer/ --evidence")


def new(
    folder: Annotated[Path, Argument(metavar="DIR", help="Of the set; empty, or not there yet.")],
    evidence: Annotated[
        bool,
        Option("--evidence", help="A set of found evidence: folders as people have them, without programs."),
    ] = False,
) -> None:
    """Make the skeleton of a set: the protocol, templates with comments, and an example of a case."""
    from rankandfile.lab.blind import skeleton

    with told_as(f"cannot write {folder}"):
        commit = skeleton.new(folder, evidence)
    lines = [
        ("set", str(folder)),
        ("read", str(folder / "README.md")),
        ("to score", f"commit {commit}" if commit else "commit unknown: write it into set.toml"),
        ("then", f"raf lab blind seal {shlex.quote(str(folder))}"),
    ]
    for label, value in lines:
        out.print(f"{label:<10} {value}", soft_wrap=True)
