"""What `raf lint` writes: its formats, by word or by a file's suffix, and files named as their readers know them."""

from __future__ import annotations

import os
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from rankandfile.cli.formats import repository
from rankandfile.cli.output import of_suffix

if TYPE_CHECKING:
    from rankandfile.model.lint import LintReport


class LintFormat(str, Enum):
    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"
    junit = "junit"


_SUFFIX_OF = {
    ".json": LintFormat.json,
    ".sarif": LintFormat.sarif,
    ".xml": LintFormat.junit,
    ".txt": LintFormat.text,
    "": LintFormat.text,
}
SUFFIXES = ".json, .sarif, .xml for JUnit, .txt"
_OF_A_REPOSITORY = (LintFormat.sarif, LintFormat.github)
"""Whose readers know no working directory, and look for a file from the top of the repository."""


def format_of_lint(output: Path | None, asked: LintFormat) -> LintFormat:
    """The format that was asked for, else that of the file. Before anything is read: raises `UserError`."""
    return (
        asked if asked is not LintFormat.text or output is None else of_suffix(output, _SUFFIX_OF, SUFFIXES)
    )


def written(report: LintReport, format: LintFormat, verbose: bool) -> str:
    if format in _OF_A_REPOSITORY:
        report = _from_the_top(report, Path.cwd())
    form = "story" if verbose and format is LintFormat.text else format.value
    text: str = import_module(f"rankandfile.render.lint.{form}").write(report)
    return f"{text}\n"


def _from_the_top(report: LintReport, here: Path) -> LintReport:
    """With the paths as they are from the top of the repository that one stands in; what lies elsewhere stays."""
    from msgspec.structs import replace

    top = repository(here)

    def named(file: str) -> str:
        path = Path(os.path.normpath(here / file))
        return path.relative_to(top).as_posix() if path.is_relative_to(top) else file

    flagged = tuple(
        replace(
            each,
            file=named(each.file),
            story=tuple(replace(told, file=named(told.file)) for told in each.story),
        )
        for each in report.flagged
    )
    return replace(report, flagged=flagged)
