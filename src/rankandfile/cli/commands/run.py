"""``raf run``: the black box, in one word in front of the launch command."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from rankandfile.cli.asking import choice_of
from rankandfile.cli.console import Unicode, err, shows_symbols
from rankandfile.cli.errors import UserError, told_as
from rankandfile.cli.linting.flagged_sites import FlaggedSites, source_of
from rankandfile.cli.loading import Source
from rankandfile.cli.model_options import Model
from rankandfile.cli.panels import LIVE
from rankandfile.cli.watching import (
    CaseFolder,
    Notify,
    OnPlan,
    Otel,
    Stall,
    TowerUrl,
    check_notify,
    check_tower,
    events_to,
    goes_to_redis,
    say,
    show_card,
)

if TYPE_CHECKING:
    from rankandfile.capture.meet.where_to_meet import Meeting

PANEL = LIVE
ORDER = 20
EXAMPLES = (
    "raf run -- torchrun --nproc-per-node 8 train.py",
    "raf run --stall 30 --out hang/ -- python -m torch.distributed.run train.py",
    "raf run --investigate --src train/ -- torchrun --nproc-per-node 8 train/main.py",
    "raf run --watch-lint -- torchrun --nproc-per-node 8 train.py",
    "raf run --src train/ --on-hang dump-and-kill -- torchrun --nproc-per-node 8 train/main.py",
    "raf run --notify https://hooks.slack.com/services/T0/B0/XX -- torchrun --nproc-per-node 8 train.py",
    "raf run --meet /shared/raf -- torchrun --nnodes 4 --node-rank $N --nproc-per-node 8 train.py",
)
CONTEXT = {"allow_interspersed_args": False}


class OnHang(str, Enum):
    report = "report"
    dump_and_kill = "dump-and-kill"
    kill = "kill"


class Watch(str, Enum):
    off = "off"
    observe = "observe"
    enforce = "enforce"


class OnDesync(str, Enum):
    report = "report"
    abort = "abort"


def run(
    command: Annotated[
        list[str], Argument(help="The launch command and its arguments.", metavar="-- COMMAND...")
    ],
    stall: Stall = None,
    on_hang: Annotated[
        OnHang,
        Option(
            "--on-hang",
            help="report: tell, and let the job's own watchdog act. dump-and-kill: tell, then end the job. "
            "kill: end it at once, without stacks.",
        ),
    ] = OnHang.report,
    out: CaseFolder = None,
    meet: Annotated[
        str,
        Option(
            "--meet",
            metavar="DIR|redis://HOST|store|none",
            help="Where the raf run of each node meets the others: a folder that all nodes see, a Redis, the job's "
            "own TCPStore, or nowhere, each with a verdict of its own.",
        ),
    ] = "store",
    investigate: Annotated[
        bool, Option("--investigate", help="Of a hang, write a post-mortem into the case too.")
    ] = False,
    model: Model = None,
    notify: Notify = None,
    watch: Annotated[
        Watch,
        Option(
            "--watch",
            help="Compare the calls of all ranks while the job runs, outside of their processes. observe: tell, and "
            "only say what would be done. enforce: do it.",
        ),
    ] = Watch.observe,
    no_watch: Annotated[bool, Option("--no-watch", help="The same as --watch off.")] = False,
    on_desync: Annotated[
        OnDesync,
        Option(
            "--on-desync",
            help="Where ranks make different calls under the same number. report: tell. abort: with --watch enforce, "
            "end the job once its evidence is taken.",
        ),
    ] = OnDesync.report,
    watch_lint: Annotated[
        bool,
        Option(
            "--watch-lint",
            help="Read the source (--src, else the program's folder) with raf lint while the job starts; where what is "
            "told names a line of a finding, tell that as well.",
        ),
    ] = False,
    tower: TowerUrl = None,
    otel: Otel = None,
    metrics: Annotated[
        Path | None,
        Option(
            "--metrics",
            metavar="FILE",
            help="Keep a textfile for Prometheus' node exporter: hang, cause, and how far each rank is behind.",
        ),
    ] = None,
    plan: Annotated[
        OnPlan,
        Option(
            "--plan",
            help="enforce: a collective that is new to a rank, or that was decided one way or the other before, is "
            "compared with the other ranks' before it is issued; who goes another way ends the job.",
        ),
    ] = OnPlan.off,
    src: Source = None,
    unicode: Unicode = True,
) -> None:
    """Run a job with the black box on: it records every call, notices a hang early, and says why.

    No change of code: every Python that makes a process group records. The job's output, signals and exit code pass
    through; what this command says goes to stderr.
    """
    if sys.platform != "linux":
        raise UserError("raf run watches processes through Linux's /proc; run the command without it here")
    if src is not None and not src.exists():
        raise UserError(f"{src}: no such file or directory")
    if model is not None:
        if not investigate:
            raise UserError("--model investigates: add --investigate")
        choice_of(model, need_key=True)
    check_tower(tower)
    check_notify(notify)
    events = events_to(otel)
    from rankandfile.capture.launch.signals import held_back

    with held_back() as blocked_before:
        from rankandfile.capture.case import Wishes
        from rankandfile.capture.diagnose import Investigations
        from rankandfile.capture.notify import Notices
        from rankandfile.capture.run import Options, run

        sites = FlaggedSites(src or source_of(command), say) if watch_lint else None
        tell = sites.say if sites is not None else say
        investigations = Investigations(src, model, tell)
        notices = Notices(notify, tell) if notify else None
        hooks = [investigations.start] * investigate + ([notices.hang] if notices else [])
        wishes = Wishes(
            out, src, shows_symbols(err, unicode), min(err.width, 100), show_card, hooks,
            [notices.taken_back] if notices else [],
        )  # fmt: skip
        try:
            with told_as(f"cannot run {command[0]}"):
                options = Options(
                    command=command,
                    wishes=wishes,
                    blocked_before=blocked_before,
                    stall=stall,
                    on_hang=on_hang.value,
                    meet=_place(meet),
                    watch="off" if no_watch else watch.value,
                    on_desync=on_desync.value,
                    told=notices.diverged if notices else None,
                    tower=tower,
                    found=[events.emit] if events is not None else (),
                    metrics=metrics,
                    plan=plan.value,
                )
                code = run(options, tell)
        finally:
            investigations.finish()
            if events is not None:
                events.finish()
            if notices is not None:
                notices.finish()
            if sites is not None:
                sites.finish()
    raise Exit(code)


def _place(meet: str) -> Meeting:
    if meet == "store":
        return "store"
    if goes_to_redis(meet, "nodes that meet in a Redis need"):
        from rankandfile.capture.meet.where_to_meet import RedisUrl

        return RedisUrl(meet)
    return None if meet == "none" else Path(meet)
