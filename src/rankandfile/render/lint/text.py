"""Text, for a terminal: where, what, the line itself, why ranks differ there, and what to do."""

from __future__ import annotations

from collections import Counter

from rankandfile.model.lint import SEVERITIES, Flagged, LintReport
from rankandfile.render.words import plain

_LONGEST = 200


def write(report: LintReport) -> str:
    lines = [line for each in report.flagged for line in (*_told(each), "")]
    if report.flagged:
        lines.append(
            "-v tells each step on the way, and what --fix can do; --explain RULE what a rule is about."
        )
    return "\n".join([*lines, *summary(report)])


def head(each: Flagged) -> list[str]:
    """Where and what, and the line as it is written."""
    return [
        f"{plain(each.file)}:{each.line}: {each.severity}[{each.rule}] {plain(each.message)}",
        f" {' ' * len(str(each.line))} |",
        f" {each.line} | {_short(each.code)}",
    ]


def summary(report: LintReport) -> list[str]:
    found = Counter(each.severity for each in report.flagged)
    told = [f"{found[word]} {word}{'s' if found[word] != 1 else ''}" for word in SEVERITIES if found[word]]
    files = f"{report.files} file{'s' if report.files != 1 else ''}"
    return [
        *(f"note: {plain(str(note))}" for note in report.notes),
        f"{', '.join(told) or 'nothing found'} in {files}, {report.lines:,} lines",
    ]


def _told(each: Flagged) -> list[str]:
    margin = " " * (len(str(each.line)) + 2)
    why = [f"{margin}= {plain(each.story[0].words)}"] if each.story else []
    return [*head(each), *why, *([f"{margin}= do: {each.fix}"] if each.fix else [])]


def _short(words: str) -> str:
    shown = plain(words)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
