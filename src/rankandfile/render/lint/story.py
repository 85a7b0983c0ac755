"""Text with every step of each finding's story, for somebody who wants to check it."""

from __future__ import annotations

from rankandfile.model.lint import Flagged, LintReport
from rankandfile.render.words import plain

from .text import head, summary


def write(report: LintReport) -> str:
    lines = [line for each in report.flagged for line in (*_told(each), "")]
    return "\n".join([*lines, *summary(report)])


def _told(each: Flagged) -> list[str]:
    margin = " " * (len(str(each.line)) + 2)
    lines = [*head(each), f"{margin}|"]
    lines += [f"{margin}= {plain(told.file)}:{told.line}: {plain(told.words)}" for told in each.story]
    return [*lines, f"{margin}= do: {each.fix}"] if each.fix else lines
