"""``raf doctor``: is this set up so that the next hang can be diagnosed?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec.structs import replace
from typer import Argument, Exit, Option

from rankandfile.cli.console import err, out
from rankandfile.cli.errors import UserError
from rankandfile.cli.output import TextOrJson, TextOrJsonOption
from rankandfile.cli.panels import FIX
from rankandfile.cli.settings import settings

if TYPE_CHECKING:
    from rankandfile.model.settings import Settings

PANEL = FIX
ORDER = 150
EXAMPLES = (
    "raf doctor",
    "raf doctor train.sbatch train.py --torch 2.6",
    "raf doctor pytorchjob.yaml --fix",
    "kubectl exec POD -- env | raf doctor -",
    "raf doctor train.sbatch --case dumps/ --steps-to-keep 3",
    'eval "$(raf doctor --fix)"',
)

FINE, FINDINGS = 0, 1
"""Exit statuses: nothing to mend, or something."""


def doctor(
    paths: Annotated[
        list[Path] | None,
        Argument(
            help="Launch scripts, env dumps (- is stdin), manifests, Python files of one job, or a folder with one "
            "script. Default: this shell's environment.",
            metavar="[PATH...]",
        ),
    ] = None,
    torch: Annotated[
        str | None, Option("--torch", metavar="VERSION", help="The job's torch. Default: detected.")
    ] = None,
    calls_per_step: Annotated[
        int | None,
        Option("--calls-per-step", min=1, help="Collectives and sends of one rank in a step."),
    ] = None,
    steps_to_keep: Annotated[
        int, Option("--steps-to-keep", min=1, help="Whole steps that the ring shall hold.")
    ] = 2,
    case: Annotated[
        Path | None, Option("--case", help="Dumps or a case to measure the calls per step in.")
    ] = None,
    dump_dir: Annotated[str | None, Option("--dump-dir", help="Storage that lasts, for the fixes.")] = None,
    grace: Annotated[
        float | None,
        Option(
            "--grace",
            min=0,
            metavar="SECONDS",
            help="From asking to killing, where no file says (Slurm's KillWait).",
        ),
    ] = None,
    fix: Annotated[
        bool, Option("--fix", help="Print the corrected environment only, ready to paste.")
    ] = False,
    verbose: Annotated[bool, Option("--verbose", "-v", help="Show what is in order as well.")] = False,
    format: TextOrJsonOption = TextOrJson.text,
) -> None:
    """Is the next hang diagnosable, and is anything set that is useless or harmful?

    Nothing is run: scripts and manifests are read. Exit status: 0 nothing to change, 1 findings, 2 usage or
    unreadable input.
    """
    from rankandfile.doctor import Options, examine, lines
    from rankandfile.doctor.table import parse
    from rankandfile.model.settings import to_json
    from rankandfile.render.examination import lines as as_text

    torch = torch or settings().torch
    if torch is not None and parse(torch) is None:
        raise UserError(f"--torch {torch}: not a release; 2.9 or 2.9.1 is")
    if case is not None and calls_per_step is None:
        calls_per_step = _measured(case)
    parts = _settings(paths or [], torch)
    options = Options(
        calls_per_step=calls_per_step, steps_to_keep=steps_to_keep, dump_dir=dump_dir, grace_s=grace
    )
    examination = examine(parts, options, torch)
    if format is TextOrJson.json:
        out.file.write(to_json(examination).decode() + "\n")
    elif fix:
        for line in lines(examination.findings, parts[0].launcher):
            out.file.write(line + "\n")
    else:
        for line in as_text(examination, verbose):
            out.print(line, soft_wrap=True)
    if format is TextOrJson.text:
        for note in examination.notes:
            err.print(f"note: {note}", soft_wrap=True)
    to_mend = any(finding.severity != "ok" for finding in examination.findings)
    raise Exit(FINDINGS if to_mend else FINE)


def _settings(paths: list[Path], torch: str | None) -> list[Settings]:
    from rankandfile.doctor.settings.environment import read_mapping
    from rankandfile.doctor.settings.folder import launch_script_in
    from rankandfile.doctor.settings.read import (
        NoProgram,
        NoRelease,
        Unreadable,
        joined,
        read_bytes,
        read_file,
        with_this_machine,
    )
    from rankandfile.doctor.settings.release import is_pin, settled

    if not paths:
        return [with_this_machine(read_mapping(os.environ, "environment"), torch)]
    read: list[tuple[Path | None, list[Settings]]] = []
    untold: list[NoRelease] = []
    programs: list[tuple[Path, NoProgram]] = []
    for path in paths:
        try:
            if str(path) == "-":
                read.append((None, read_bytes(sys.stdin.buffer.read(), "-")))
                continue
            file = launch_script_in(path) if path.is_dir() else path
            read.append((file, read_file(file)))
        except NoRelease as error:
            untold.append(error)
        except NoProgram as error:
            programs.append((path, error))
        except Unreadable as error:
            raise UserError(str(error)) from error
    if not read:
        raise UserError(str([*(error for _, error in programs), *untold][0]))
    if all(is_pin(part) for _, found in read for part in found):
        told = read[0][1][0]
        raise UserError(
            f"{told.place.file}: not a launch script, it tells the torch alone ({told.torch or 'not which'}): name it "
            "beside one"
        )
    parts = settled([*read, *((path, error.found) for path, error in programs)])
    notes = tuple(one.note for one in untold)
    first, *others = [with_this_machine(part, torch) for part in joined(parts)]
    return [replace(first, notes=(*first.notes, *notes)), *others]


def _measured(path: Path) -> int:
    from rankandfile.cli.loading import load_case
    from rankandfile.pipeline import Options
    from rankandfile.reason.calls_per_step import calls_per_step

    measured = calls_per_step(load_case([path], Options()))
    if measured is None:
        raise UserError(
            f"{path}: no call repeats itself there, so no step can be told: give --calls-per-step"
        )
    err.print(f"{measured.calls} calls a step, measured on rank {measured.rank}", style="dim")
    return measured.calls
