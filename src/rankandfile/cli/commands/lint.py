"""``raf lint``: rank-dependent collectives, found before they run."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from rankandfile.cli.console import out
from rankandfile.cli.errors import UserError, told_as
from rankandfile.cli.names import rule_names
from rankandfile.cli.output import file_output, may_be_written, write_text
from rankandfile.cli.panels import FIX
from rankandfile.cli.settings import settings

if TYPE_CHECKING:
    from rankandfile.model.lint import LintReport
    from rankandfile.source.lint.run import Options

PANEL = FIX
ORDER = 155
EXAMPLES = (
    "raf lint train/",
    "raf lint train.py --hints",
    "raf lint . --diff origin/main --format github",
    "raf lint . --baseline known.json",
    "raf lint --explain rank-guarded-collective",
)
CLEAN, FINDINGS = 0, 1
"""Exit statuses: nothing found, or an error or a warning."""


class LintFormat(str, Enum):
    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"
    junit = "junit"


def lint(
    paths: Annotated[
        list[Path] | None, Argument(help="Python files or folders. Default: here.", metavar="[PATH...]")
    ] = None,
    select: Annotated[
        list[str] | None,
        Option(
            "--select",
            metavar="RULE",
            help="Ask these rules only. May be repeated.",
            autocompletion=rule_names,
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        Option(
            "--ignore",
            metavar="RULE",
            help="Do not ask these rules. May be repeated.",
            autocompletion=rule_names,
        ),
    ] = None,
    hints: Annotated[
        bool, Option("--hints", help="Show hints as well: what is possible, and no more.")
    ] = False,
    diff: Annotated[
        str | None, Option("--diff", metavar="REV", help="Only what lines changed since this revision bring.")
    ] = None,
    baseline: Annotated[
        Path | None,
        Option("--baseline", help="Leave out what this file lists; it is made where it is not there."),
    ] = None,
    cache: Annotated[
        bool, Option("--cache/--no-cache", help="Say again what was said of the same files before.")
    ] = True,
    verbose: Annotated[bool, Option("--verbose", "-v", help="Tell each finding's whole story.")] = False,
    explain: Annotated[
        str | None,
        Option("--explain", metavar="RULE", help="Print a rule's page.", autocompletion=rule_names),
    ] = None,
    format: Annotated[LintFormat, Option("--format", "-f", help="How to print it.")] = LintFormat.text,
    output: Annotated[Path | None, file_output("Write to this file.")] = None,
) -> None:
    """Where can ranks go different ways around a collective? Training code is read, and nothing of it is run.

    Exit status: 0 nothing found, 1 errors or warnings, 2 usage.
    """
    from importlib import import_module

    from rankandfile.source.lint.run import lint as run

    if explain is not None:
        out.file.write(_page(explain))
        return
    asked = paths or [Path()]
    for path in asked:
        if not path.exists():
            raise UserError(f"{path}: no such file or folder")
    report = run(asked, _options(asked, select or [], ignore or [], hints, diff, cache))
    if not report.files:
        raise UserError(
            f"{', '.join(map(str, asked))}: no Python there; raf lint reads the source of training code"
        )
    if baseline is not None:
        report = _without(report, baseline)
    form = "story" if verbose and format is LintFormat.text else format.value
    text = import_module(f"rankandfile.render.lint.{form}").write(report) + "\n"
    write_text(text, output)
    raise Exit(FINDINGS if any(each.severity != "hint" for each in report.flagged) else CLEAN)


def _options(
    paths: list[Path], select: list[str], ignore: list[str], hints: bool, diff: str | None, cache: bool
) -> Options:
    from rankandfile.source.lint.changes import NoDiff, changed_lines
    from rankandfile.source.lint.run import Options, rules

    said = settings()
    known = rules()
    for word in [*select, *ignore, *said.lint.select, *said.lint.ignore]:
        _known(word, known)
    try:
        lines = changed_lines(paths, diff) if diff is not None else None
    except NoDiff as error:
        raise UserError(str(error)) from error
    return Options(
        select=tuple(select) or said.lint.select,
        ignore=(*ignore, *said.lint.ignore),
        per_file_ignores=said.lint.per_file_ignores,
        collectives=(*said.collectives, *said.lint.collectives),
        uniform=said.lint.uniform,
        hints=hints,
        lines=lines,
        cache=cache,
    )


def _page(word: str) -> str:
    from rankandfile.source.lint.run import pages

    known = pages()
    _known(word, known)
    return f"# {word}\n\n{known[word]}"


def _known(word: str, rules: Collection[str]) -> None:
    """The user's error where no rule is of that word, with those that it is like."""
    if word not in rules:
        near = [each for each in rules if word in each] or difflib.get_close_matches(word, rules)
        raise UserError(
            f"no rule '{word}'; {'perhaps' if near else 'there are'} {', '.join(near[:3] or rules)}"
        )


def _without(report: LintReport, baseline: Path) -> LintReport:
    """What the baseline does not list; a baseline that is not there is made of everything."""
    from msgspec.structs import replace

    if not baseline.exists():
        may_be_written(baseline)
        listed = [
            {"fingerprint": each.fingerprint, "rule": each.rule, "file": each.file, "code": each.code}
            for each in report.flagged
        ]
        with told_as(str(baseline)):
            baseline.write_text(json.dumps({"findings": listed}, indent=2) + "\n", encoding="utf-8")
        return replace(report, flagged=())
    with told_as(str(baseline)):
        text = baseline.read_bytes()
    try:
        known = {each["fingerprint"] for each in json.loads(text)["findings"]}
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{baseline}: no baseline of raf lint") from error
    return replace(report, flagged=tuple(each for each in report.flagged if each.fingerprint not in known))
