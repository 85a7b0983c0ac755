"""What `raf lint` is asked: by the command line, and by the project's settings."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rankandfile.cli.errors import UserError
from rankandfile.cli.settings import settings

_MOST_LIKE = 3

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
        near = _like(word, rules)
        there = (
            f"perhaps {', '.join(near)}?" if near else f"there are {len(rules)}, such as {next(iter(rules))}"
        )
        raise UserError(f"no rule '{word}'; {there}")


def _like(word: str, rules: Collection[str]) -> list[str]:
    """Those that have it, or most of its words, in them; else those that are written much alike."""
    asked = word.lower().replace("_", "-").strip("-")
    having = [each for each in rules if asked in each]
    parts = {part for part in asked.split("-") if len(part) > 2}
    shared = sorted(rules, key=lambda each: -len(parts & set(each.split("-"))))
    alike = [each for each in shared if len(parts & set(each.split("-"))) * 2 > len(parts)]
    return (having or alike or difflib.get_close_matches(asked, rules, cutoff=0.5))[:_MOST_LIKE]


def known_since(revision: str, paths: Sequence[Path], options: Options, now: LintReport) -> Iterator[str]:
    """Fingerprints of what is found now and was found in the revision. Raises `UserError` for one that is not there."""
    from rankandfile.source.lint.changes import NoDiff, as_it_was, no_news
    from rankandfile.source.lint.run import lint

    try:
        before = as_it_was(paths, revision)
    except NoDiff as error:
        raise UserError(str(error)) from error
    return no_news(now.flagged, lint(paths, options, before).flagged if before else now.flagged)
