"""``raf control run``: the same script, under one controller."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from rankandfile.cli.console import Unicode, err, shows_symbols
from rankandfile.cli.errors import UserError
from rankandfile.cli.extras import needs_monarch
from rankandfile.cli.loading import Source
from rankandfile.cli.output import may_be_folder
from rankandfile.cli.watching import CaseFolder, Certificates, OnPlan, Stall, say, show_card

ORDER = 10
EXAMPLES = (
    "raf control run --ranks 8 -- train.py --lr 0.1",
    "raf control run --ranks 8 --policy restart --restarts 3 --logs logs -- -m my_package.train",
    "raf control run --hosts node0:7400,node1:7400 --tls job-certificates --ranks 8 -- train.py",
    "raf control run --ranks 4 --plan enforce --stall 30 --src train/ -- train/main.py",
)
CONTEXT = {"allow_interspersed_args": False}


class Policy(str, Enum):
    report = "report"
    stop = "stop"
    restart = "restart"
    restart_without = "restart-without"


def run(
    script: Annotated[
        list[str], Argument(help="The script and its arguments, or -m and a module.", metavar="-- SCRIPT...")
    ],
    ranks: Annotated[int, Option("--ranks", "-n", min=1, help="How many ranks on each host.")] = 1,
    hosts: Annotated[
        str,
        Option(
            "--hosts",
            metavar="HOST:PORT,...",
            help="Machines on which raf control worker waits, in the order of their ranks; without, this one.",
        ),
    ] = "",
    tls: Certificates = None,
    policy: Annotated[
        Policy,
        Option(
            "--policy",
            help="What follows a hang: report, and let the job be; stop it; or restart it. A job of which a rank has "
            "failed is ended in any case, and restarted by restart; restart-without leaves hosts out that are gone.",
        ),
    ] = Policy.stop,
    restarts: Annotated[int, Option("--restarts", min=1, help="How often restart does so.")] = 1,
    stall: Stall = None,
    plan: Annotated[OnPlan, Option("--plan", help="As of raf run.")] = OnPlan.off,
    out: CaseFolder = None,
    logs: Annotated[
        Path | None,
        Option(
            "--logs",
            callback=may_be_folder,
            metavar="DIR",
            help="Also keep what each rank writes, in files of its own: attempt_0/rank_3.stdout.log and .stderr.log.",
        ),
    ] = None,
    src: Source = None,
    unicode: Unicode = True,
) -> None:
    """Run a script as the ranks of one controller (PyTorch Monarch), which watches, diagnoses and restarts them.

    The script is as under torchrun: it is told its rank by the same variables. With --hosts this machine opens a port,
    too, for the workers: on loopback, or with --tls for who has a certificate. Needs the extra `monarch`.
    """
    needs_monarch()
    from rankandfile.capture.control import doors

    workers = [worker.strip() for worker in hosts.split(",") if worker.strip()]
    try:
        _ = doors.scheme(workers, tls)  # before Monarch is imported
        from rankandfile.capture.control.controller import Options
        from rankandfile.capture.control.controller import run as controlled

        options = Options(
            script, ranks, workers, tls, policy.value, restarts, stall, plan.value, out, logs, src,
            shows_symbols(err, unicode), min(err.width, 100),
        )  # fmt: skip
        raise Exit(controlled(options, say, show_card))
    except doors.NoWay as error:
        raise UserError(str(error)) from error
