"""What `raf lint` is asked: by the command line, and by the project's settings."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rankandfile.cli.errors import UserError
from rankandfile.cli.settings import settings

if TYPE_CHECKING:
    from rankandfile.model.lint import LintReport
    from rankandfile.source.lint.run import Options


def lint_options(
    select: Sequence[str] = (), ignore: Sequence[str] = (), hints: bool = False, cache: bool = False
) -> Options:
    """Raises `UserError` for a rule that is not there."""
    from rankandfile.source.lint.run import Options, rules

    said = settings()
    known = rules()
    for word in [*select, *ignore, *said.lint.select, *said.lint.ignore]:
        known_rule(word, known)
    return Options(
        select=tuple(select) or said.lint.select,
        ignore=(*ignore, *said.lint.ignore),
        per_file_ignores=said.lint.per_file_ignores,
        collectives=(*said.collectives, *said.lint.collectives),
        uniform=said.lint.uniform,
        hints=hints,
        cache=cache,
    )


def known_rule(word: str, rules: Collection[str]) -> None:
    """The user's error where no rule is of that word, with those that it is like."""
    if word not in rules:
        near = [each for each in rules if word in each] or difflib.get_close_matches(word, rules)
        raise UserError(
            f"no rule '{word}'; {'perhaps' if near else 'there are'} {', '.join(near[:3] or rules)}"
        )


def known_since(revision: str, paths: Sequence[Path], options: Options, now: LintReport) -> Iterator[str]:
    """Fingerprints of what is found now and was found in the revision. Raises `UserError` for one that is not there."""
    from rankandfile.source.lint.changes import NoDiff, as_it_was, no_news
    from rankandfile.source.lint.run import lint

    try:
        before = as_it_was(paths, revision)
    except NoDiff as error:
        raise UserError(str(error)) from error
    return no_news(now.flagged, lint(paths, options, before).flagged if before else now.flagged)
