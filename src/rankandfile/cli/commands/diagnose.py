"""``raf diagnose``: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Exit, Option

from rankandfile.cli.console import Unicode, err, out, signs_for, write_utf8
from rankandfile.cli.errors import NO_HANG, UNDETERMINED, VERDICT
from rankandfile.cli.formats import Format, formatted
from rankandfile.cli.loading import Paths, diagnosed, diagnosing
from rankandfile.model.ledger import NOT_SAID
from rankandfile.pipeline import Options

if TYPE_CHECKING:
    from rankandfile.model.diagnosis import Diagnosis
    from rankandfile.reason import Facts
    from rankandfile.reason.explain import Explanation

ORDER = 10
EXAMPLES = (
    "raf diagnose dumps/",
    "raf diagnose dumps/ --src train/",
    "raf diagnose dumps/ --src train/ --git v1.4",
    "raf diagnose ticket.zip -v",
    "raf diagnose dumps/ --explain 5",
    "raf diagnose dumps/ --format json > diagnosis.json",
    "raf diagnose dumps/ --format sarif > raf.sarif",
    "raf diagnose dumps/ --format github",
    "raf diagnose dumps/ --report report.html",
)


@diagnosing
def diagnose(
    options: Options,
    paths: Paths,
    format: Annotated[Format, Option("--format", "-f", help="How to print the answer.")] = Format.text,
    explain: Annotated[
        int | None, Option("--explain", metavar="RANK", help="Why is this rank stuck, or not blamed?")
    ] = None,
    verbose: Annotated[
        bool, Option("--verbose", "-v", help="Show the steps of the reasoning, with their numbers.")
    ] = False,
    unicode: Unicode = True,
    output: Annotated[
        Path | None, Option("--output", "-o", help="Write the diagnosis as JSON to this file too.")
    ] = None,
    report: Annotated[
        Path | None, Option("--report", help="Write the whole diagnosis as one HTML page too.")
    ] = None,
) -> None:
    """Which rank, which call, why: the verdict on a job that hung.

    Takes any mix of flight recorder dumps, folders and archives, or a case directory. With --src it names the line
    and the condition at which the ranks parted, and why that can differ between them.
    Exit status: 0 no hang found, 1 a verdict, 2 usage or unreadable input, 3 undetermined.
    """
    result = diagnosed(paths, options, _say_step if verbose else None)
    facts, diagnosis = result.facts, result.diagnosis
    for note in diagnosis.notes if verbose else ():
        if note.where == NOT_SAID:
            _say_step(f"Not said: {note.what}")
    if output is not None:
        from rankandfile.model.diagnosis import to_json

        output.write_bytes(to_json(diagnosis) + b"\n")
    if explain is not None:
        from rankandfile.reason.explain import explain as explain_rank

        _print_explanation(facts, explain_rank(facts, explain, diagnosis), format)
    elif format is Format.text:
        print_card(diagnosis, unicode)
    else:
        write_utf8(formatted(diagnosis, format, Path.cwd(), options.sources) + "\n")
    if report is not None:
        from .report import write_report

        # The answer does not wait for the page.
        out.file.flush()
        write_report(facts, diagnosis, report)
    raise Exit(status(diagnosis))


def status(diagnosis: Diagnosis) -> int:
    """The exit status that the diagnosis means."""
    if not diagnosis.verdicts:
        return UNDETERMINED
    if any(
        verdict.cause not in ("undetermined", "no_hang") or (verdict.hang and verdict.culprits)
        for verdict in diagnosis.verdicts
    ):
        return VERDICT
    return NO_HANG if diagnosis.verdicts[0].cause == "no_hang" else UNDETERMINED


def _say_step(line: str) -> None:
    err.print(f"· {line}", style="dim")


def print_card(diagnosis: Diagnosis, unicode: bool) -> None:
    """The verdict on one screen, as this terminal can show it."""
    from rankandfile.render.card import card

    signs = signs_for(unicode)
    width = min(out.width, 100)
    with out.capture() as shown:
        out.print(card(diagnosis, signs, width), width=width)
    # Tables are filled up with blanks, which a log or a ticket need not carry.
    out.file.write("".join(f"{line.rstrip(' ')}\n" for line in shown.get().splitlines()))


def _print_explanation(facts: Facts, explanation: Explanation, format: Format) -> None:
    if format.value == "json":
        from rankandfile.model.document import pretty

        out.file.write(pretty(explanation).decode() + "\n")
        return
    out.print(str(explanation))
    for evidence_id in explanation.evidence:
        if found := facts.case.evidence(evidence_id):
            out.print(f"  {found.id}: {found.quote}", style="dim")
