"""``raf skill show``: the skill, read."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from rankandfile.cli.console import write_utf8
from rankandfile.cli.errors import UserError

ORDER = 20
EXAMPLES = ("raf skill show", "raf skill show references/mistakes.md")


def show(
    file: Annotated[
        str, Argument(help="Which file of the skill, such as references/mistakes.md.")
    ] = "SKILL.md",
) -> None:
    """Print a file of the skill."""
    from rankandfile.agent.skill.install import files

    found = files()
    if file not in found:
        raise UserError(f"the skill has no file '{file}'; it has {', '.join(found)}")
    write_utf8(found[file].decode())
