"""Whether the linter flags a line at which ranks parted: what it would have said of the code before the run.

In: the program that ran, and the lines at which ranks parted. Out: the surest finding at one of them, or None. It is no
proof that this happened: a verdict is as sure with it as without.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankandfile.model.diagnosis import FlaggedBefore
from rankandfile.source.program.modules import Program

MOST_SOURCE = 4_000_000
"""Characters of a program that is linted only to say this: more takes longer than anybody would wait for it."""


def flagged_before(program: Program, lines: Sequence[tuple[str, int]]) -> FlaggedBefore | None:
    if not lines or sum(len(program.files.read(path) or "") for path in program.paths) > MOST_SOURCE:
        return None
    from .run import Options, found_in

    for each in found_in(program, frozenset(path for path, _line in lines), Options()):
        if each.severity != "hint" and (each.file, each.line) in lines:
            return FlaggedBefore(
                rule=each.rule,
                severity=each.severity,
                file=each.file,
                line=each.line,
                message=each.message,
            )
    return None
