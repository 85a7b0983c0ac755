"""``raf diagnose``: the main job."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, cast

from typer import Exit, Option

from rankandfile.cli.console import Unicode, card_size, err, out, signs_for, write_utf8
from rankandfile.cli.errors import NO_HANG, UNDETERMINED, VERDICT
from rankandfile.cli.filters import there
from rankandfile.cli.formats import SUFFIXES, Format, format_of, formatted
from rankandfile.cli.loading import Paths, as_typed, diagnosed, diagnosing
from rankandfile.cli.output import file_output, may_be_page, printed, write_text
from rankandfile.cli.panels import DIAGNOSE
from rankandfile.cli.progress import working
from rankandfile.model.ledger import NOT_SAID
from rankandfile.pipeline import Options

if TYPE_CHECKING:
    from rankandfile.model.diagnosis import Diagnosis
    from rankandfile.reason import Facts
    from rankandfile.reason.explain import Explanation
    from rankandfile.render.card.asked import Asked

PANEL = DIAGNOSE
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
    "raf diagnose s3://bucket/job/",
    "raf diagnose dumps/ --engine ray",
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
        bool, Option("--verbose", "-v", help="All of the card, and the steps of the reasoning.")
    ] = False,
    unicode: Unicode = True,
    output: Annotated[
        Path | None,
        file_output(
            f"Write the answer to this file, beside the card. Its suffix tells the format: {SUFFIXES}.",
            stream=True,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        Option(
            "--report",
            metavar="FILE",
            callback=may_be_page,
            help="Write the whole diagnosis as one HTML page too.",
        ),
    ] = None,
) -> None:
    """Which rank, which call, why: the verdict on a job that hung. `raf PATH...` is the same.

    Takes any mix of flight recorder dumps, stacks, logs, folders and archives, or a case directory. With --src it names
    the line and the condition at which the ranks went different ways, and why that can differ between them.
    Exit status: 0 no hang found, 1 a verdict, 2 usage or unreadable input, 3 undetermined.
    """
    answer(paths, options, format, explain, verbose, unicode, output, report)


def answer(
    paths: list[Path],
    options: Options,
    format: Format = Format.text,
    explain: int | None = None,
    verbose: bool = False,
    unicode: bool = True,
    output: Path | None = None,
    report: Path | None = None,
) -> NoReturn:
    """The answer on the terminal and in files, and its exit status."""
    into = None if output is None else format_of(output, format)
    page = report or (output if into is None else None)
    result = diagnosed(paths, options, _say_step if verbose else None)
    facts, diagnosis = result.facts, result.diagnosis
    for note in diagnosis.notes if verbose else ():
        if note.where == NOT_SAID:
            _say_step(f"Not said: {note.what}")
    if explain is not None:
        from rankandfile.reason.explain import explain as explain_rank

        there(result.case, [explain], str(explain))
        _print_explanation(facts, explain_rank(facts, explain, diagnosis), format)
    elif format is Format.text or output is not None:
        print_card(diagnosis, unicode, verbose, as_typed(paths, options, page))
    else:
        write_utf8(formatted(diagnosis, format, Path.cwd(), options.sources) + "\n")
    # The answer does not wait for the files.
    out.file.flush()
    if output is not None and into is not None:
        write_text(_in_file(diagnosis, into, options.sources), output)
    for one in {report, page} - {None}:
        _write_page(facts, diagnosis, cast(Path, one))
    raise Exit(status(diagnosis))


def _in_file(diagnosis: Diagnosis, format: Format, sources: Sequence[Path]) -> str:
    if format is not Format.text:
        return formatted(diagnosis, format, Path.cwd(), sources) + "\n"
    from rankandfile.render.card import WIDTH, card

    return printed(card(diagnosis, width=WIDTH), width=WIDTH)


def _write_page(facts: Facts, diagnosis: Diagnosis, output: Path) -> None:
    """Write the page, and say where it is."""
    from rankandfile import __version__
    from rankandfile.reason.pictures import pictures
    from rankandfile.render.report import page

    with working("drawing the report"):
        text = page(diagnosis, pictures(facts, diagnosis), __version__)
    write_text(text, output)
    err.print(f"report  {output}  ({output.stat().st_size / 1e6:.1f} MB)", soft_wrap=True)


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


def print_card(
    diagnosis: Diagnosis, unicode: bool, verbose: bool = False, asked: Asked | None = None
) -> None:
    """The verdict as this terminal can show it; where nobody looks at one, as the documentation has it."""
    from rankandfile.render.card import card

    width, height = card_size(out)
    shown = card(diagnosis, signs_for(unicode), width, height, verbose, asked)
    out.file.write(printed(shown, out, width))


def _print_explanation(facts: Facts, explanation: Explanation, format: Format) -> None:
    if format.value == "json":
        from rankandfile.model.document import pretty

        out.file.write(pretty(explanation).decode() + "\n")
        return
    out.print(str(explanation))
    for evidence_id in explanation.evidence:
        if found := facts.case.evidence(evidence_id):
            out.print(f"  {found.id}: {found.quote}", style="dim")
