"""``raf lab export``: the whole corpus, for others to use."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Annotated, NamedTuple

from typer import Argument, Option

from rankandfile.cli.console import out
from rankandfile.cli.errors import UserError, told_as
from rankandfile.cli.lab_incidents import ScenariosAtATime, as_they_end, lacking, make, progressing, say
from rankandfile.cli.output import may_be_folder

ORDER = 30
EXAMPLES = (
    "raf lab export corpus/",
    "raf lab export corpus/ --simulated --only peers-",
    "raf lab export benchmark/ --benchmark spring/ --benchmark summer/",
)


def export(
    into: Annotated[
        Path, Argument(callback=may_be_folder, help="Folder to write to; one folder per incident.")
    ],
    real: Annotated[bool, Option("--real/--no-real", help="Scenarios that run torch processes.")] = True,
    simulated: Annotated[bool, Option("--simulated/--no-simulated", help="Simulated scenarios.")] = True,
    twins: Annotated[bool, Option("--twins/--no-twins", help="With the healthy twins.")] = True,
    variants: Annotated[
        bool, Option("--variants/--no-variants", help="With variants that lack evidence.")
    ] = False,
    only: Annotated[str, Option("--only", help="Only names that begin like this.")] = "",
    jobs: ScenariosAtATime = 2,
    benchmark: Annotated[
        list[Path] | None,
        Option("--benchmark", metavar="SET", help="Instead: an open benchmark of these revealed blind sets."),
    ] = None,
) -> None:
    """Make every incident afresh: evidence, source and truth, in ``real/``, ``sim/`` and ``variants/``."""
    if benchmark:
        _write_benchmark(benchmark, into)
        return
    from rankandfile.lab import catalog
    from rankandfile.lab.sim import catalog as simulations

    names = [("real", one.name) for one in catalog.scenarios() if real]
    names += [("sim", name) for name in simulations.scenarios() if simulated]
    names = [one for one in names if one[1].startswith(only)]
    if not names:
        raise UserError(f"no scenario begins with '{only}': see raf lab list")
    able = _able(names)
    tasks = [
        Task(
            name,
            into / kind / (f"{name}.twin" if twin else name),
            twin,
            into / "variants" if variants else None,
        )
        for kind, name in able
        for twin in ((False, True) if twins else (False,))
    ]
    made, failed = _make_all(tasks, jobs)
    if made:
        out.print(f"{made:,} incidents in {into}", soft_wrap=True)
    if failed:
        raise UserError(f"{len(failed)} of {len(tasks)} runs failed: {', '.join(failed[:5])}")
    if made:
        out.print(f"next       raf lab score -a raf --set {shlex.quote(str(into))}", soft_wrap=True)


def _write_benchmark(sets: list[Path], into: Path) -> None:
    from rankandfile.lab.benchmark import writing

    with told_as(f"cannot write {into}"):
        count = writing.write(sets, into)
    out.print(f"{count:,} cases in {into}", soft_wrap=True)
    command = shlex.quote("mytool --json {evidence} --source {src}")
    out.print(
        f"next       python {shlex.quote(str(into / 'score.py'))} run {command} --answers answers/",
        soft_wrap=True,
    )


class Task(NamedTuple):
    name: str
    folder: Path
    twin: bool
    variants: Path | None
    """Where its variants go, if any are wanted."""


def _able(names: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those that this machine can make; what it lacks for the others is said once."""
    reasons = {name: lacking(name) for _, name in names}
    for reason in sorted({reason for reason in reasons.values() if reason}):
        without = [name for name, lack in reasons.items() if lack == reason]
        more = f" and {len(without) - 3} more" if len(without) > 3 else ""
        say(f"skipped {', '.join(without[:3])}{more}: {reason}")
    return [(kind, name) for kind, name in names if not reasons[name]]


def _make_all(tasks: list[Task], jobs: int) -> tuple[int, list[str]]:
    """How many incidents were made, variants included, and the runs that failed; each is told as it ends."""
    made, failed = 0, []
    with progressing("runs", len(tasks)) as step:
        for task, done in as_they_end(_make, tasks, jobs):
            try:
                count, seconds = done.result()
                made += count
                say(f"{task.folder.name}  {seconds:.1f} s")
            except (UserError, OSError) as error:
                failed.append(task.folder.name)
                say(f"{task.folder.name}  failed: {error}")
            step()
    return made, failed


def _make(task: Task) -> tuple[int, float]:
    from rankandfile.lab import variants

    began = time.monotonic()
    incident = make(task.name, task.folder, twin=task.twin, on_progress=lambda _: None)
    made = 1
    if task.variants is not None:
        for name in variants.VARIANTS:
            variants.make(incident, name, task.variants / f"{task.folder.name}~{name}")
            made += 1
    return made, time.monotonic() - began
