"""``raf control run``: the same script, under one controller."""

from __future__ import annotations

import importlib.util
import sys
from enum import Enum
from typing import Annotated

from typer import Argument, Exit, Option

from rankandfile.cli.console import Unicode, err, shows_symbols
from rankandfile.cli.errors import UserError
from rankandfile.cli.loading import Source
from rankandfile.cli.watching import CaseFolder, OnPlan, Stall, say, show_card

ORDER = 10
EXAMPLES = (
    "raf control run --ranks 8 -- train.py --lr 0.1",
    "raf control run --ranks 8 --policy restart --restarts 3 -- -m my_package.train",
    "raf control run --ranks 4 --plan enforce --stall 30 --src train/ -- train/main.py",
)
CONTEXT = {"allow_interspersed_args": False}


class Policy(str, Enum):
    report = "report"
    stop = "stop"
    restart = "restart"


def run(
    script: Annotated[
        list[str], Argument(help="The script and its arguments, or -m and a module.", metavar="-- SCRIPT...")
    ],
    ranks: Annotated[int, Option("--ranks", "-n", min=1, help="How many ranks on this host.")] = 1,
    policy: Annotated[
        Policy,
        Option(
            "--policy",
            help="What follows a hang: report, and let the job be; stop it; or restart it. A job of which a rank has "
            "failed is ended in any case, and restarted by restart.",
        ),
    ] = Policy.stop,
    restarts: Annotated[int, Option("--restarts", min=1, help="How often restart does so.")] = 1,
    stall: Stall = None,
    plan: Annotated[OnPlan, Option("--plan", help="As of raf run.")] = OnPlan.off,
    out: CaseFolder = None,
    src: Source = None,
    unicode: Unicode = True,
) -> None:
    """Run a script as the ranks of one controller (PyTorch Monarch), which watches, diagnoses and restarts them.

    The script is as under torchrun: it is told its rank by the same variables. Needs the extra `monarch`.
    """
    if importlib.util.find_spec("monarch") is None:
        raise UserError("raf control needs Monarch: pip install 'rankandfile[monarch]'")
    if sys.platform != "linux":
        raise UserError("raf control watches processes through Linux's /proc")
    from rankandfile.capture.control.controller import Options
    from rankandfile.capture.control.controller import run as controlled

    options = Options(
        [sys.executable, *script], ranks, policy.value, restarts, stall, plan.value, out, src,
        shows_symbols(err, unicode), min(err.width, 100),
    )  # fmt: skip
    raise Exit(controlled(options, say, show_card))
