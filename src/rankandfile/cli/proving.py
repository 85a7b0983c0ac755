"""`--prove`: a command of the person's, in a copy of the source, with a change and without it."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from .console import err
from .errors import UserError

if TYPE_CHECKING:
    from rankandfile.agent.bench import Bench
    from rankandfile.agent.proof import Proof


class What(str, Enum):
    fix = "fix"
    probe = "probe"
    model = "model"


Prove = Annotated[
    str | None,
    Option(
        "--prove",
        metavar="COMMAND",
        help="Run this in a copy of the source with the fix, where it must pass, and without it, where it must fail. "
        "{src} stands for the copy, which is also the working directory.",
    ),
]
ProveWhat = Annotated[
    What,
    Option(
        "--prove-what",
        help="The fix of the rules, their probe, or the fix that the model proposes: read that one first, for it runs "
        "as you.",
    ),
]
ProveTimeout = Annotated[float, Option("--prove-timeout", min=0.1, metavar="SECONDS", help="For each run.")]


def proved(
    bench: Bench, what: What, model_fix: str | None, command: str, folder: Path, timeout: float
) -> Proof:
    from rankandfile.agent.proof import CannotProve, prove

    def say(words: str) -> None:
        err.print(f"prove          {words}", soft_wrap=True)

    try:
        return prove(bench, what.value, model_fix, command, folder, timeout, say)
    except CannotProve as error:
        raise UserError(str(error)) from error
