"""`# raf: ok[rule] why`: what a person has looked at and found to be as it should be."""

from __future__ import annotations

import re
from functools import cache

from rankandfile.model.lint import Flagged
from rankandfile.source.program.modules import Program

_COMMENT = re.compile(r"#\s*raf:\s*ok(?:\[([\w\s,-]*)\])?")


def is_suppressed(flagged: Flagged, program: Program) -> bool:
    """On the line of the finding, on any line of its story, or alone on the line above one of them."""
    places = {(flagged.file, flagged.line), *((told.file, told.line) for told in flagged.story)}
    return any(flagged.rule in rules or "" in rules for place in places for rules in [_at(program, *place)])


def _at(program: Program, file: str, line: int) -> frozenset[str]:
    module = program.module(file)
    if module is None or "raf:" not in module.text:
        return frozenset()
    lines = module.lines
    found = _rules(lines[line - 1]) if 0 < line <= len(lines) else frozenset()
    if 1 < line <= len(lines) + 1 and lines[line - 2].lstrip().startswith("#"):
        found |= _rules(lines[line - 2])
    return found


@cache
def _rules(line: str) -> frozenset[str]:
    """The rules named in a comment; the empty word for all of them."""
    match = _COMMENT.search(line)
    if match is None:
        return frozenset()
    return frozenset(word.strip() for word in (match[1] or "").split(","))
