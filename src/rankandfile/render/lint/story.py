"""Text with every step of each finding's story, for somebody who wants to check it."""

from __future__ import annotations

from collections.abc import Iterator

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
    lines += [f"{margin}= do: {each.fix}"] if each.fix else []
    return [*lines, *(f"{margin}= {line}" for line in _change(each))]


def _change(each: Flagged) -> Iterator[str]:
    """The change that mends it, or why there is none."""
    if each.change is None:
        if each.unchanged:
            yield f"no --fix: {plain(each.unchanged)}"
        return
    yield f"{'--unsafe-fixes' if each.change.decide else '--fix'}: {plain(each.change.title)}"
    yield from (f"  {plain(line)}" for line in each.change.diff.splitlines()[2:])
    if each.change.decide:
        yield f"to decide: {plain(each.change.decide)}"
