"""What `raf lint` is asked: by the command line, and by the project's settings."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import UserError
from .settings import settings

if TYPE_CHECKING:
    from rankandfile.source.lint.run import Options


def lint_options(
    paths: Sequence[Path] = (),
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    hints: bool = False,
    diff: str | None = None,
    cache: bool = False,
) -> Options:
    """Raises `UserError` for a rule or a revision that is not there."""
    from rankandfile.source.lint.changes import NoDiff, changed_lines
    from rankandfile.source.lint.run import Options, rules

    said = settings()
    known = rules()
    for word in [*select, *ignore, *said.lint.select, *said.lint.ignore]:
        known_rule(word, known)
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


def known_rule(word: str, rules: Collection[str]) -> None:
    """The user's error where no rule is of that word, with those that it is like."""
    if word not in rules:
        near = [each for each in rules if word in each] or difflib.get_close_matches(word, rules)
        raise UserError(
            f"no rule '{word}'; {'perhaps' if near else 'there are'} {', '.join(near[:3] or rules)}"
        )
