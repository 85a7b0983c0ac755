"""Text, for a terminal: where, what, the line itself, and the story below it."""

from __future__ import annotations

from collections import Counter

from rankandfile.model.lint import SEVERITIES, Flagged, LintReport
from rankandfile.render.words import plain


def write(report: LintReport) -> str:
    lines = [line for each in report.flagged for line in (*_told(each), "")]
    lines += [f"note: {plain(str(note))}" for note in report.notes]
    lines.append(_summary(report))
    return "\n".join(lines)


def _told(each: Flagged) -> list[str]:
    width = len(str(each.line))
    lines = [
        f"{plain(each.file)}:{each.line}: {each.severity}[{each.rule}] {plain(each.message)}",
        f" {' ' * width} |",
        f" {each.line} | {plain(each.code)}",
        f" {' ' * width} |",
    ]
    lines += [f" {' ' * width} = {plain(told.file)}:{told.line}: {plain(told.words)}" for told in each.story]
    return [*lines, f" {' ' * width} = do: {each.fix}"] if each.fix else lines


def _summary(report: LintReport) -> str:
    found = Counter(each.severity for each in report.flagged)
    told = [f"{found[word]} {word}{'s' if found[word] != 1 else ''}" for word in SEVERITIES if found[word]]
    files = f"{report.files} file{'s' if report.files != 1 else ''}"
    return f"{', '.join(told) or 'nothing found'} in {files}, {report.lines:,} lines"
