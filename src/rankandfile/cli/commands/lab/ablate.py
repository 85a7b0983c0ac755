"""``raf lab ablate``: what each heuristic is worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from rankandfile.cli.console import out
from rankandfile.cli.errors import UserError
from rankandfile.cli.lab_incidents import Jobs, progressing
from rankandfile.cli.output import TextOrJson, TextOrJsonOption

ORDER = 60

EXAMPLES = (
    "raf lab ablate corpus/",
    "raf lab ablate corpus/ --only 'test on the rank' --list",
    "raf lab ablate corpus/ -a raf-logs --format json",
)


def ablate(
    sets: Annotated[
        list[Path],
        Argument(metavar="SET...", help="Folders of incidents (raf lab export), or opened blind sets."),
    ],
    analyser: Annotated[
        str,
        Option(
            "--analyser",
            "-a",
            help="What is looked at: raf, raf-dumps, raf-logs, raf-stacks, raf-src, raf-stacks-src.",
        ),
    ] = "raf-src",
    only: Annotated[list[str] | None, Option("--only", help="Only this heuristic; repeat for more.")] = None,
    format: TextOrJsonOption = TextOrJson.text,
    listed: Annotated[bool, Option("--list", help="Name the incidents whose answer changes, too.")] = False,
    markdown: Annotated[
        Path | None, Option("--markdown", help="Write the table between the markers of this page, too.")
    ] = None,
    jobs: Jobs = 2,
) -> None:
    """Switch off one heuristic after the other, and see which answers change, for better or worse.

    A heuristic is a rule that no contract of torch's gives. One that changes no answer for the better where programs
    are new to it is not worth having. A loss (-3) is what switching it off costs; a gain (+1) speaks against it.
    """
    from rankandfile.lab.score import ablation
    from rankandfile.lab.score.analysers import OURS

    if analyser not in OURS:
        raise UserError(f"'{analyser}' is none of {', '.join(OURS)}")
    rules = ablation.heuristics()
    if unknown := set(only or ()) - {rule.name for rule in rules}:
        raise UserError(
            f"no heuristic '{unknown.pop()}'; there are: {', '.join(rule.name for rule in rules)}"
        )
    rules = [rule for rule in rules if not only or rule.name in only]
    found = ablation.incidents(sets)
    if not found:
        raise UserError(f"no incident in {', '.join(map(str, sets))}: make some with raf lab export")
    with progressing(analyser, len(found)) as step:
        rows = ablation.ablate(analyser, found, rules, jobs=jobs, on_done=step)
    if markdown is not None:
        names = ", ".join(folder.name for folder in sets)
        ablation.write_page(markdown, rows, f"{len(found)} incidents of {names}, by {analyser}")
    if format is TextOrJson.json:
        from rankandfile.model.document import pretty

        out.file.write(pretty(rows).decode() + "\n")
        return
    import polars as pl

    from rankandfile.render.terminal_table import table

    shown = list(ablation.table(rows))
    if shown:
        out.print(table(pl.DataFrame(shown)))
    if silent := [row.heuristic for row in rows if not row.heard]:
        out.print(f"had no say here: {', '.join(silent)}")
    for row in rows if listed else ():
        for incident in row.incidents:
            out.print(f"{row.heuristic}: {incident}", soft_wrap=True)
