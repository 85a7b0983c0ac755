"""``raf watch``: a running job that nobody records, by NCCL's RAS."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Exit, Option

from rankandfile.cli.console import Unicode, out, shows_symbols
from rankandfile.cli.errors import NO_HANG, VERDICT, UserError
from rankandfile.cli.panels import LIVE
from rankandfile.cli.watching import (
    CaseFolder,
    Notify,
    Otel,
    TowerUrl,
    check_notify,
    check_tower,
    events_to,
    say,
    show_card,
)

if TYPE_CHECKING:
    from rankandfile.model.digest import Finding

PANEL = LIVE
ORDER = 40
EXAMPLES = (
    "raf watch --ras localhost:28028",
    "raf watch --ras node-0:28028 --every 10 --notify https://hooks.slack.com/services/T0/B0/XX",
    "raf watch --ras localhost:28028 --once",
)


def watch(
    ras: Annotated[
        str,
        Option(
            "--ras",
            metavar="HOST:PORT",
            help="Where NCCL's RAS listens, by NCCL_RAS_ADDR; without it, on port 28028 of each node, for that node.",
        ),
    ] = "localhost:28028",
    every: Annotated[float, Option("--every", min=0.5, metavar="SECONDS", help="How often to ask.")] = 5.0,
    patience: Annotated[
        float | None,
        Option(
            "--patience",
            min=0.5,
            metavar="SECONDS",
            help="Tell when some have waited for others, and nothing was launched, for so long. Default: 60 s, or five "
            "times the longest such pause so far.",
        ),
    ] = None,
    once: Annotated[
        bool,
        Option("--once", help="Ask twice, print how the job stands, and end; a case is made with --out."),
    ] = False,
    output: CaseFolder = None,
    notify: Notify = None,
    tower: TowerUrl = None,
    otel: Otel = None,
    unicode: Unicode = True,
) -> None:
    """Does this job move, and do its ranks agree? By NCCL's own counts: also of JAX, vLLM, SGLang.

    Nothing of the job is changed, and nothing runs in it: NCCL answers by itself since 2.24. Ends with the job, or with
    Ctrl-C. Exit status: 0 nothing found, 1 found something, 2 usage, or nobody answers.
    """
    check_tower(tower)
    check_notify(notify)
    events = events_to(otel)
    from rankandfile.capture.case import Wishes
    from rankandfile.capture.notify import Notices
    from rankandfile.capture.ras.client import address
    from rankandfile.capture.ras.watching import Options, watch

    notices = Notices(notify, say) if notify else None
    wishes = Wishes(output, None, shows_symbols(out, unicode), min(out.width, 100), show_card)

    def tell(finding: Finding, case: Path | None) -> None:
        if notices is not None and case is not None:
            notices.diverged(finding.words, case)
        if events is not None:
            events.emit(finding)

    # Whatever has started it may have it ignore Ctrl-C.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        where = address(ras)
        found = watch(Options(where, wishes, every, patience, once, [tell], tower), say)
    except ValueError as error:
        raise UserError(str(error)) from error
    except OSError as error:
        why = error.strerror or str(error)
        raise UserError(
            f"nobody answers at {ras}: {why}. RAS answers on the nodes of a job whose NCCL is 2.24 or later, once a "
            "communicator has been made, and not with NCCL_RAS_ENABLE=0"
        ) from error
    finally:
        for one in (notices, events):
            if one is not None:
                one.finish()
    raise Exit(VERDICT if found else NO_HANG)
