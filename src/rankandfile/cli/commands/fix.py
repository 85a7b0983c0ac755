"""``raf fix``: the change that mends the hang, as a diff, or made in the source where that is asked for."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from typer import Exit, Option

from rankandfile.cli.changes import print_diff, rewrite
from rankandfile.cli.console import err
from rankandfile.cli.errors import NO_HANG, UNDETERMINED, VERDICT, UserError
from rankandfile.cli.loading import Paths, diagnosed, diagnosing
from rankandfile.cli.output import file_output, write_bytes
from rankandfile.cli.panels import FIX
from rankandfile.pipeline import Options

if TYPE_CHECKING:
    from rankandfile.model.diagnosis import Diagnosis
    from rankandfile.source.files.tree import SourceTree
    from rankandfile.source.remedies import Patch, Refusal

PANEL = FIX
ORDER = 70
EXAMPLES = (
    "raf fix incident/ --src .",
    "raf fix incident/ --src . | git apply",
    "raf fix incident/ --src . -o hang.patch",
    "raf fix incident/ --src train/ --plain --apply",
    "raf fix incident/ --src . --probe",
    "raf fix incident/ --src . --remedy 2",
)
_LABEL, _WIDTH = 10, 100


@diagnosing
def fix(
    options: Options,
    paths: Paths,
    apply: Annotated[
        bool,
        Option("--apply", help="Make the change in the source tree. Without it, it is only shown."),
    ] = False,
    plain: Annotated[bool, Option("--plain", help="With plain torch, without rankandfile.guard.")] = False,
    probe: Annotated[
        bool,
        Option("--probe", help="The instrument that confirms the verdict, in place of the remedy."),
    ] = False,
    remedy: Annotated[
        int,
        Option(
            "--remedy",
            min=1,
            metavar="N",
            help="Which one, where there are several (with --probe, which probe).",
        ),
    ] = 1,
    output: Annotated[
        Path | None, file_output("Write the diff to this file, and not to the terminal.", stream=True)
    ] = None,
) -> None:
    """The smallest change that fixes the hang, at the place where the ranks went different ways.

    Prints a unified diff, and on stderr why it helps and what is left to decide; nothing is changed without --apply.
    Exit status: 0 no hang found, 1 a verdict with its patch, 2 usage or unreadable input, 3 no verdict, or no patch
    that a machine should make.
    """
    from rankandfile.source.remedies import Patch

    if apply and output is not None:
        raise UserError("--apply makes the change and -o writes it down: give one of them")
    source = _folder(options)
    result = diagnosed(paths, options)
    assert result.tree is not None
    for note in result.source_notes:
        _say(f"note      {note}")
    diagnosis = result.diagnosis
    if not any(verdict.hang for verdict in diagnosis.verdicts):
        _say(_nothing_to_mend(diagnosis))
        known = diagnosis.verdicts and diagnosis.verdicts[0].hang is not None
        raise Exit(NO_HANG if known else UNDETERMINED)
    found = _found(diagnosis, result.tree, plain, probe)
    made = [one for one in found if isinstance(one, Patch)]
    if not made:
        _refused([one for one in found if not isinstance(one, Patch)])
        raise Exit(UNDETERMINED)
    if remedy > len(made):
        raise UserError(f"there {'is' if len(made) == 1 else 'are'} {len(made)} to choose from, not {remedy}")
    chosen = made[remedy - 1]
    _explain(diagnosis, chosen, made)
    if apply:
        if any(chosen.path == note.file for note in result.source_notes):
            raise UserError(f"{chosen.path} is not the source that ran: nothing was written")
        _apply(chosen, source)
    else:
        _show(chosen, source, output)
    raise Exit(VERDICT)


def _folder(options: Options) -> Path:
    """The one folder in which the change is to be made."""
    if len(options.sources) != 1:
        raise UserError("name the folder of the job's source with --src: one, for the change is made in it")
    if not options.sources[0].is_dir():
        raise UserError(f"{options.sources[0]}: not a folder; --src names the folder of the job's source")
    return options.sources[0]


def _found(diagnosis: Diagnosis, tree: SourceTree, plain: bool, probe: bool) -> list[Patch | Refusal]:
    from rankandfile.source.probes import probes
    from rankandfile.source.remedies import Refusal, patches
    from rankandfile.source.remedies.problem import of_verdict

    for verdict in diagnosis.verdicts:
        problem = of_verdict(verdict, diagnosis)
        if problem is not None:
            return [*probes(problem, tree, plain)] if probe else patches(problem, tree, plain)
    return [Refusal("", "the source does not show the line at which the ranks went different ways")]


def _say(line: str) -> None:
    err.print(line, soft_wrap=True)


def _tell(label: str, words: str) -> None:
    """A label and what it says, on lines that fit; lines of a pipe fit too, for people read them in tickets."""
    width = min(err.width, _WIDTH)
    for line in wrap(
        words, width, initial_indent=f"{label:<{_LABEL}}", subsequent_indent=" " * _LABEL,
        break_long_words=False, break_on_hyphens=False,
    ):  # fmt: skip
        _say(line)


def _refused(refusals: list[Refusal]) -> None:
    _say(
        "no patch: a mechanical one would be wrong here, or none is known"
        if refusals
        else "no patch for this place"
    )
    for refusal in refusals:
        _tell("decide", refusal.words)


def _nothing_to_mend(diagnosis: Diagnosis) -> str:
    if not diagnosis.verdicts:
        return "no verdict: nothing to fix"
    best = diagnosis.verdicts[0]
    if best.cause == "no_hang":
        return "no hang found: nothing to fix"
    if best.hang is None:
        return f"whether it hung cannot be told, so nothing is changed: {best.sentence}"
    return f"it did not hang, so no patch is made: {best.sentence}"


def _explain(diagnosis: Diagnosis, chosen: Patch, made: list[Patch]) -> None:
    verdict = next(verdict for verdict in diagnosis.verdicts if verdict.hang)
    _tell("hang", verdict.sentence)
    _tell("patch", chosen.title)
    _tell("why", chosen.text)
    if chosen.decide:
        _tell("decide", chosen.decide)
    for number, other in enumerate(made, 1):
        if other is not chosen:
            _tell("or", f"--remedy {number}: {other.title}")


def _file(chosen: Patch, source: Path) -> Path:
    """The file of the tree; a link is followed, for the change belongs into what it leads to."""
    path = (source / chosen.path).resolve()
    if not path.is_relative_to(source.resolve()) or not path.is_file():
        raise UserError(f"{source / chosen.path}: not a file of this tree")
    return path


def _show(chosen: Patch, source: Path, output: Path | None) -> None:
    from rankandfile.source.remedies.restore import NotTheSame, diff_bytes

    try:
        data = diff_bytes(chosen, _file(chosen, source).read_bytes(), _name(chosen, source))
    except NotTheSame as error:
        raise UserError(str(error)) from error
    if output is None:
        print_diff(data)
        return
    write_bytes(data, output)
    _say(f"written   {output}")


def _name(chosen: Patch, source: Path) -> str:
    """The file's path as seen from here, where the tree lies below; else from the tree."""
    whole, here = (source.resolve() / chosen.path), Path.cwd()
    return whole.relative_to(here).as_posix() if whole.is_relative_to(here) else chosen.path


def _apply(chosen: Patch, source: Path) -> None:
    from rankandfile.source.remedies.restore import NotTheSame, patched_bytes

    path = _file(chosen, source)
    try:
        data = patched_bytes(chosen, path.read_bytes())
        rewrite(path, data)
    except NotTheSame as error:
        raise UserError(f"{error}; nothing was written") from error
    except UnicodeEncodeError as error:
        raise UserError(
            f"{path}: its encoding has no sign for what the patch says; nothing was written"
        ) from error
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}; nothing was written") from error
    before, after = chosen.before.count("\n"), chosen.after.count("\n")
    _say(f"written   {path} ({before} lines before, {after} now)")
