"""Workflow commands of GitHub Actions: each finding as an annotation of its line."""

from __future__ import annotations

from rankandfile.model.lint import LintReport
from rankandfile.render.formats.github import command

_LEVELS = {"error": "error", "warning": "warning", "hint": "notice"}


def write(report: LintReport) -> str:
    return "\n".join(
        command(
            _LEVELS[each.severity],
            {"file": each.file, "line": str(each.line), "title": each.rule},
            " ".join([each.message + ".", *(f"{told.words}." for told in each.story[:1]), each.fix]),
        )
        for each in report.flagged
    )
