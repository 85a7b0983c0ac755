"""``raf lab score``: how often an analyser is right, and whom it blames without cause."""

from __future__ import annotations

import importlib.util
import shlex
import shutil
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

from typer import Option

from rankandfile.cli.console import out
from rankandfile.cli.errors import UserError
from rankandfile.cli.lab_incidents import Jobs, incidents_in, progressing, say
from rankandfile.cli.model_options import Limits, MaxCost, MaxSeconds, PriceOption
from rankandfile.cli.output import file_output

ORDER = 50
EXAMPLES = (
    "raf lab score --set corpus/",
    "raf lab score -a raf-dumps -a fr_trace-repaired --set corpus/real",
    "raf lab score -a raf-src --worst --in-process --set corpus/",
    "raf lab score --investigator playbook --set corpus/",
    "raf lab score -a 'mytool --json {evidence}' --set corpus/",
    "raf lab score -a raf -a fr_trace-repaired --form all --set spring/",
)


def score(
    sets: Annotated[list[Path], Option("--set", help="Folder of incidents (raf lab export).")],
    analysers: Annotated[
        list[str],
        Option(
            "--analyser",
            "-a",
            help="raf, raf-dumps, raf-logs, raf-stacks (stacks and logs), raf-src, raf-stacks-src, fr_trace, "
            "fr_trace-repaired, nvrx (where it is installed), or a command that prints a diagnosis document, with "
            "{evidence} (or {evidence}/dumps) and {src} in it.",
        ),
    ] = ["raf-dumps"],  # noqa: B006 - typer copies it
    forms: Annotated[
        list[str] | None,
        Option(
            "--form",
            help="Of opened blind sets: ask in this form of evidence, or in all, and mark as at first contact: "
            "suspects, condition, false statements, patches too. The analysers are raf or not ours.",
        ),
    ] = None,
    run_patches: Annotated[
        bool, Option("--run-patches", help="With --form: run each program with the patch offered for it.")
    ] = False,
    investigators: Annotated[
        list[str] | None,
        Option(
            "--investigator",
            help="Score investigations, not analysers: playbook, or llm:MODEL with a model as of raf investigate.",
        ),
    ] = None,
    max_cost: MaxCost = None,
    max_seconds: MaxSeconds = 300.0,
    price: PriceOption = None,
    output: Annotated[
        Path | None,
        file_output("Write all marks as JSON."),
    ] = None,
    markdown: Annotated[
        Path | None, Option("--markdown", help="Write the tables into this page, between its markers.")
    ] = None,
    worst: Annotated[bool, Option("--worst", help="List each incident that was not fully right.")] = False,
    jobs: Jobs = 2,
    in_process: Annotated[
        bool, Option("--in-process", help="No process for each answer of raf's own analysers: faster.")
    ] = False,
    engine: Annotated[
        str | None,
        Option(
            "--engine",
            metavar="ENGINE",
            help="Score incidents as tasks of Ray: ray or ray://HOST:PORT, as of raf diagnose. Every machine of the "
            "cluster must see the incidents under the same path.",
        ),
    ] = None,
) -> None:
    """Run analysers over incidents with known truth: culprits, innocents blamed, cause, divergent call, place.

    With --investigator: what an investigation concludes, and whether its claims check out. --max-cost, --max-seconds
    and --price are for each incident that a model investigates.
    """
    from rankandfile.lab.score.corpus import score as score_all
    from rankandfile.lab.score.page import score_table, sees_source, to_json, worst_lines, write_page

    for name in analysers:
        _check(name)
    if engine is not None and (forms or investigators):
        raise UserError("--engine scores analysers, and neither forms nor investigators")
    if forms:
        _score_forms(analysers, sets, forms, run_patches, output, worst, jobs)
        return
    found = [one.resolve() for one in incidents_in(sets)]
    if investigators:
        from rankandfile.cli.lab_investigators import score as score_investigators

        limits = Limits(30, 400_000, max_cost, max_seconds, price)
        score_investigators(investigators, found, limits, output, markdown, worst)
        return
    with progressing(" and ".join(analysers), len(found)) as step:
        scores = score_all(
            analysers,
            found,
            jobs=jobs,
            in_process=in_process or engine is not None,
            elsewhere=_tasks_of_ray(engine, jobs),
            on_done=step,
        )
    for one in scores:
        out.print(score_table(one))
        if worst:
            for line in worst_lines(one.marks, sees_source(one.analyser), one.analyser == "raf-logs"):
                out.print(line, soft_wrap=True)
    if output is not None:
        output.write_bytes(to_json(scores))
    if markdown is not None:
        write_page(markdown, scores, len(found))


def _tasks_of_ray(engine: str | None, jobs: int) -> AbstractContextManager[Executor] | None:
    from rankandfile.cluster.chosen import chosen

    if engine is None:
        return None
    chosen(engine, jobs)  # refuses what is none
    from rankandfile.cluster.executor import tasks_of_ray

    return tasks_of_ray(engine, jobs)


def _score_forms(
    names: list[str],
    sets: list[Path],
    words: list[str],
    run_patches: bool,
    output: Path | None,
    worst: bool,
    jobs: int,
) -> None:
    from rankandfile.lab.benchmark import asked
    from rankandfile.model.document import pretty

    for name in names:
        if not asked.may_be_asked(name):
            raise UserError(f"{name} is given a part of the evidence, as a form is: ask raf")
    forms, cases = asked.forms_of(words), asked.cases_of(sets)
    with progressing(" and ".join(names), len(cases)) as step:
        done = asked.asked(names, cases, forms, run_patches=run_patches, jobs=jobs, on_done=step)
    say("these sets are opened: what is answered now is no first contact")
    for one in done:
        out.print(asked.table(one))
        for line in asked.worst_lines(one) if worst else ():
            out.print(line, soft_wrap=True)
    if output is not None:
        output.write_bytes(pretty(done) + b"\n")


def _check(analyser: str) -> None:
    """A name that is neither an analyser nor a program would fail on every incident. Raises `UserError`."""
    from rankandfile.lab.score.analysers import ANALYSERS, NVRX

    if analyser == "nvrx" and not _importable(NVRX):
        raise UserError(f"nvrx is not installed here: pip install a nvidia-resiliency-ext that has {NVRX}")
    if analyser in ANALYSERS:
        return
    words = shlex.split(analyser)
    if not words or shutil.which(words[0]) is None:
        raise UserError(f"'{analyser}' is neither a command nor one of {', '.join(ANALYSERS)}")
    if "{evidence}" not in analyser:
        raise UserError(
            f"'{analyser}' is given nothing to look at: put {{evidence}} where the folder belongs"
        )


def _importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:  # a package around it is missing
        return False
