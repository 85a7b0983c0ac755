"""``raf lint``: rank-dependent collectives, found before they run."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Exit, Option

from rankandfile.cli.changes import print_diff, rewrite
from rankandfile.cli.console import err, out
from rankandfile.cli.errors import UserError, told_as
from rankandfile.cli.linting.options import known_rule, known_since, lint_options
from rankandfile.cli.linting.written import SUFFIXES, LintFormat, format_of_lint, written
from rankandfile.cli.names import rule_names
from rankandfile.cli.output import file_output, may_be_written, write_text
from rankandfile.cli.panels import FIX

if TYPE_CHECKING:
    from rankandfile.model.lint import Flagged, LintReport

PANEL = FIX
ORDER = 155
EXAMPLES = (
    "raf lint train/",
    "raf lint train.py --hints",
    "raf lint . --diff origin/main --format github",
    "raf lint . --baseline known.json",
    "raf lint train/ --show-fixes | git apply",
    "raf lint train/ --fix",
    "raf lint --explain rank-guarded-collective",
)
CLEAN, FINDINGS = 0, 1
"""Exit statuses: nothing found, or an error or a warning."""


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
        str | None, Option("--diff", metavar="REV", help="Only what was not found in this revision yet.")
    ] = None,
    baseline: Annotated[
        Path | None,
        Option("--baseline", help="Leave out what this file lists; it is made where it is not there."),
    ] = None,
    fix: Annotated[
        bool, Option("--fix", help="Make the changes that fix what was found, where they are safe.")
    ] = False,
    show_fixes: Annotated[
        bool, Option("--show-fixes", help="Print these changes as one diff, and change nothing.")
    ] = False,
    unsafe_fixes: Annotated[
        bool,
        Option("--unsafe-fixes", help="Those as well of which something is left for a person to decide."),
    ] = False,
    plain: Annotated[bool, Option("--plain", help="With plain torch, without rankandfile.guard.")] = False,
    cache: Annotated[
        bool, Option("--cache/--no-cache", help="Say again what was said of the same files before.")
    ] = True,
    verbose: Annotated[bool, Option("--verbose", "-v", help="Tell each finding's whole story.")] = False,
    explain: Annotated[
        str | None,
        Option("--explain", metavar="RULE", help="Print a rule's page.", autocompletion=rule_names),
    ] = None,
    format: Annotated[LintFormat, Option("--format", "-f", help="How to print it.")] = LintFormat.text,
    output: Annotated[
        Path | None, file_output(f"Write to this file. Its suffix tells the format: {SUFFIXES}.", stream=True)
    ] = None,
) -> None:
    """Where can ranks go different ways around a collective? Training code is read, and nothing of it is run.

    Exit status: 0 nothing found, 1 errors or warnings, 2 usage.
    """
    from msgspec.structs import replace

    from rankandfile.source.lint.run import lint as run
    from rankandfile.source.lint.run import unknown

    if explain is not None:
        out.file.write(_page(explain))
        return
    format = format_of_lint(output, format)
    asked = paths or [Path()]
    for path in asked:
        if not path.exists():
            raise UserError(f"{path}: no such file or folder")
    options = lint_options(select or [], ignore or [], hints, cache)
    report = run(asked, options)
    known = tuple(known_since(diff, asked, options, report)) if diff is not None else ()
    if baseline is not None and baseline.exists():
        known = (*known, *_listed(baseline, unknown(report.flagged, known)))
    if fix or show_fixes or verbose:
        changes: Literal["offered", "all"] = "all" if unsafe_fixes else "offered"
        options = replace(options, changes=changes, plain=plain)
    if options.changes:
        report = run(asked, replace(options, known=known))
    else:
        report = replace(report, flagged=tuple(unknown(report.flagged, known)))
    if not report.files:
        raise UserError(
            f"{', '.join(map(str, asked))}: no Python there; raf lint reads the source of training code"
        )
    if baseline is not None and not baseline.exists():
        _list(report, baseline)
        report = replace(report, flagged=())
    if show_fixes:
        _show(report)
        raise Exit(_status(report))
    if fix and report.changed:
        _make(report, [path.resolve() for path in asked])
        # Where the rest stands now.
        report = run(asked, replace(options, known=known, changes=""))
    write_text(written(report, format, verbose), output)
    raise Exit(_status(report))


def _status(report: LintReport) -> int:
    return FINDINGS if any(each.severity != "hint" for each in report.flagged) else CLEAN


def _show(report: LintReport) -> None:
    """The diff on standard output, and on stderr what it is about."""
    for each in report.changed:
        print_diff(each.diff)
    _say_of_changes(report, "would be gone")


def _make(report: LintReport, roots: list[Path]) -> None:
    """In each file all of it or nothing; a file that is no longer what was read stays as it is."""
    for each in report.changed:
        path = Path(each.file).resolve()
        if not any(path.is_relative_to(root) for root in roots):
            raise UserError(f"{each.file} is a link out of what was asked about: it was not written")
        with told_as(f"cannot write {each.file}"):
            if path.read_bytes() != each.before:
                raise UserError(f"{each.file} has changed meanwhile: it was not written")
            rewrite(path, each.after)
        err.print(f"written   {each.file}", soft_wrap=True)
    _say_of_changes(report, "gone")


def _say_of_changes(report: LintReport, gone: str) -> None:
    number = sum(each.findings for each in report.changed)
    err.print(f"{number} finding{'s' if number != 1 else ''} {gone}", soft_wrap=True)
    decide = sum(1 for each in report.flagged if each.change is not None) - number
    if decide > 0:
        err.print(f"{decide} more with --unsafe-fixes, where something is left to decide", soft_wrap=True)


def _page(word: str) -> str:
    from rankandfile.source.lint.run import pages

    known = pages()
    known_rule(word, known)
    return f"# {word}\n\n{known[word]}"


def _list(report: LintReport, baseline: Path) -> None:
    """Write a baseline of everything that was found."""
    may_be_written(baseline)
    listed = [
        {"fingerprint": each.fingerprint, "rule": each.rule, "file": each.file, "code": each.code}
        for each in (_beside(each, baseline) for each in report.flagged)
    ]
    with told_as(str(baseline)):
        baseline.write_text(json.dumps({"findings": listed}, indent=2) + "\n", encoding="utf-8")


def _listed(baseline: Path, flagged: Sequence[Flagged]) -> Iterator[str]:
    """Fingerprints of findings that a baseline lists, wherever the command is called."""
    with told_as(str(baseline)):
        text = baseline.read_bytes()
    try:
        left = Counter(each["fingerprint"] for each in json.loads(text)["findings"])
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{baseline}: no baseline of raf lint") from error
    for each in flagged:
        key = _beside(each, baseline).fingerprint
        if left[key]:
            left[key] -= 1
            yield each.fingerprint


def _beside(flagged: Flagged, baseline: Path) -> Flagged:
    """With its path as seen from the folder of the baseline."""
    from msgspec.structs import replace

    path = os.path.relpath(Path(flagged.file).resolve(), baseline.resolve().parent)
    return replace(flagged, file=Path(path).as_posix())
