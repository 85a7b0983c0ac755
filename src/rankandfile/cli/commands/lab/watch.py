"""``raf lab watch``: the hangs of a corpus once more, and only what ``raf run`` has of them."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from rankandfile.cli.console import out
from rankandfile.cli.errors import UserError
from rankandfile.cli.lab_incidents import say
from rankandfile.cli.output import may_be_folder

ORDER = 40
EXAMPLES = (
    "raf lab watch corpus/real watched/ --stall 5",
    "raf lab watch corpus/real watched/ --only mesh3d_",
)


def watch(
    corpus: Annotated[Path, Argument(help="Incidents of real scenarios, as `raf lab export` writes them.")],
    into: Annotated[
        Path, Argument(callback=may_be_folder, help="Folder to write to; one folder per incident.")
    ],
    stall: Annotated[
        float | None, Option("--stall", min=0.5, help="Seconds, as for `raf run`. Default: its own.")
    ] = None,
    only: Annotated[str, Option("--only", help="Only names that begin like this.")] = "",
) -> None:
    """Make each hang again under ``raf run`` with nothing else configured, and keep the evidence of its case.

    One after the other; healthy twins are left out. ``raf lab score --set`` then tells how good the verdicts are.
    """
    from rankandfile.lab import truth
    from rankandfile.lab.run import ScenarioError
    from rankandfile.lab.run_under_raf import run_watched

    found = sorted(path.parent for path in corpus.glob(f"{only}*/{truth.FILE}")) if corpus.is_dir() else []
    incidents = [incident for incident in found if not incident.name.endswith(".twin")]
    if not incidents:
        such = f" that begin with '{only}'" if only else ""
        raise UserError(f"no incidents{such} in {corpus}: see raf lab export")
    failed: list[str] = []
    for incident in incidents:
        began = time.monotonic()
        try:
            run_watched(incident, into / incident.name, stall=stall)
            say(f"{incident.name}  {time.monotonic() - began:.1f} s")
        except (ScenarioError, OSError) as error:
            failed.append(incident.name)
            say(f"{incident.name}  failed: {error}")
    out.print(f"{len(incidents) - len(failed):,} incidents in {into}", soft_wrap=True)
    if failed:
        raise UserError(f"{len(failed)} of {len(incidents)} runs failed: {', '.join(failed[:5])}")
    out.print(f"next       raf lab score -a raf --worst --set {shlex.quote(str(into))}", soft_wrap=True)
