"""From paths to findings: the program is read, each divergence goes to the first rule that claims it; rules look."""

from __future__ import annotations

import ast
import gc
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rankandfile import listing
from rankandfile.model.ledger import Note
from rankandfile.model.lint import SEVERITIES, Change, Changed, Flagged, LintReport
from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.files.tree import SourceTree
from rankandfile.source.program.modules import Program
from rankandfile.source.registry.tables import also_collectives, also_uniform

from . import kept_reports
from .program import opened
from .rule import Rule, View
from .story import of_divergence, of_found
from .suppressed import is_suppressed
from .weigh import severity

RULES = "rankandfile.source.rules"
_DEPTH = 4000


class Options(Struct, frozen=True, kw_only=True):
    select: tuple[str, ...] = ()
    """Rules that are asked; none: all."""
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Pattern of paths -> rules that are not asked there."""
    collectives: tuple[str, ...] = ()
    """Functions without source that issue a collective."""
    uniform: tuple[str, ...] = ()
    """Functions that return the same on every rank."""
    hints: bool = False
    known: tuple[str, ...] = ()
    """Fingerprints of findings that are left out, each of them once."""
    changes: Literal["", "offered", "all"] = ""
    """Whether changes are looked for; with "all", the files get those too of which something is left to decide."""
    plain: bool = False
    """Changes with plain torch, without `rankandfile.guard`."""
    cache: bool = False
    """What was said of the same files before is said again."""


def rules() -> dict[str, Rule]:
    """All rules by their words, in the order in which they are asked."""
    return dict(zip(pages(), listing.members(RULES, "RULE", Rule), strict=True))


def pages() -> dict[str, str]:
    """The page of each rule, which is its docstring, by the rule's word."""
    return {listing.word(module): module.__doc__ or "" for module in listing.modules(RULES)}


def meanings() -> tuple[tuple[str, str], ...]:
    """Rule -> the first line of its page."""
    return tuple((word, page.splitlines()[0]) for word, page in pages().items())


def lint(
    paths: Sequence[Path], options: Options | None = None, texts: Mapping[Path, str] | None = None
) -> LintReport:
    """What the rules say of the Python files at or below the paths; each is read with the whole of its package.

    `texts`: files, by their resolved paths, that are taken to hold this, whether they are there or not.
    """
    options = options or Options()
    tree, places, asked = opened(paths, texts)
    if not options.cache:
        return said_of(tree, places, asked, options)
    key = kept_reports.key(tree, asked, options)
    report = kept_reports.kept(key)
    if report is None:
        report = said_of(tree, places, asked, options)
        kept_reports.keep(key, report)
    return report


def said_of(tree: SourceTree, places: dict[str, Path], asked: frozenset[str], options: Options) -> LintReport:
    """What the rules say of the files that are asked for, in the program that the tree is."""
    also_collectives(options.collectives)
    also_uniform(options.uniform)
    program = Program(tree)
    found = found_in(program, asked, options)
    placed = {id(each): _placed(each, places) for each in found if _is_kept(each, options)}
    left = {id(each) for each in unknown(placed.values(), options.known)}
    shown = {number for number, each in placed.items() if id(each) in left}
    changed: tuple[Changed, ...] = ()
    answers: dict[int, Change | str] = {}
    if options.changes and shown:
        from rankandfile.source.remedies.restore import unified_bytes

        from .mend import mend

        every = rules()
        result = mend(
            tree,
            found,
            lambda each: id(each) in shown,
            lambda files: found_in(Program(files), asked, options),
            lambda word: every[word].cause,
            asked,
            options.plain,
            options.changes == "all",
        )
        answers = result.answers
        changed = tuple(
            Changed(
                file=_near(path, places),
                before=tree.data(path) or b"",
                after=data,
                findings=result.gone[path],
                diff=unified_bytes(_near(path, places), tree.data(path) or b"", data),
            )
            for path, data in sorted(result.files.data.items())
        )
    modules = [program.module(path) for path in sorted(asked)]
    unread = [path for path, module in zip(sorted(asked), modules, strict=True) if module is None]
    return LintReport(
        flagged=tuple(
            _placed(_answered(each, answers.get(number)), places)
            for number, each in enumerate(found)
            if id(each) in shown
        ),
        files=len(asked),
        lines=sum(len(module.lines) for module in modules if module is not None),
        notes=tuple(Note(file=path, where="", what="is no Python that can be read") for path in unread),
        changed=changed,
        rules=meanings(),
    )


def _answered(flagged: Flagged, answer: Change | str | None) -> Flagged:
    if isinstance(answer, Change):
        return replace(flagged, change=answer)
    return flagged if answer is None else replace(flagged, unchanged=answer)


def found_in(program: Program, asked: frozenset[str], options: Options) -> list[Flagged]:
    """All that the rules say, hints too, in order; not what somebody has looked at."""
    view = View(program, lambda function: function.module.path not in asked)
    before, sweeping = sys.getrecursionlimit(), gc.isenabled()
    sys.setrecursionlimit(max(before, _DEPTH))
    # Syntax is millions of objects, and none of them garbage until the end.
    gc.disable()
    try:
        flagged = [each for each in _flagged(view, options) if not is_suppressed(each, program)]
    finally:
        sys.setrecursionlimit(before)
        if sweeping:
            gc.enable()
    return sorted(
        flagged, key=lambda each: (each.file, each.line, SEVERITIES.index(each.severity), each.rule)
    )


def _flagged(view: View, options: Options) -> Iterable[Flagged]:
    every = rules()
    asked = {
        word
        for word in every
        if (not options.select or word in options.select) and word not in options.ignore
    }
    # Whose a divergence is does not depend on who is asked: what is ignored is not said under another rule's name.
    yield from (each for each in _of_divergences(view, every) if each.rule in asked)
    for word, rule in every.items():
        if rule.find is not None and word in asked:
            yield from (of_found(found, word) for found in rule.find(view))


def _of_divergences(view: View, every: dict[str, Rule]) -> Iterable[Flagged]:
    """One for each decision and the surest that is said of it; a decision inside another one adds nothing to it."""
    best: dict[ast.AST, tuple[int, PossibleDivergence, Flagged]] = {}
    for divergence in view.divergences:
        sure = severity(divergence)
        if sure is None:
            continue
        word = next((word for word, rule in every.items() if rule.claims and rule.claims(divergence)), None)
        if word is None:
            continue
        rank = SEVERITIES.index(sure)
        if divergence.owner not in best or rank < best[divergence.owner][0]:
            best[divergence.owner] = (
                rank,
                divergence,
                of_divergence(divergence, word, sure, every[word].fix),
            )
    flagged_at = {(flagged.file, flagged.line) for _rank, _divergence, flagged in best.values()}
    for owner, (rank, divergence, flagged) in best.items():
        if any(step.upon in flagged_at - {(flagged.file, flagged.line)} for step in divergence.reason.chain):
            continue  # What decides that is flagged itself: ranks part there already.
        around = ancestors(divergence.function.module, owner) if isinstance(owner, ast.If) else ()
        outer = (best[each] for each in around if isinstance(each, ast.If) and each in best)
        if not any(o[0] <= rank and o[1].event.site is divergence.event.site for o in outer):
            yield flagged


def _is_kept(flagged: Flagged, options: Options) -> bool:
    if flagged.severity == "hint" and not options.hints:
        return False
    for pattern, words in options.per_file_ignores:
        if fnmatch(flagged.file, pattern) and (flagged.rule in words or "*" in words):
            return False
    return True


def unknown(flagged: Iterable[Flagged], known: Iterable[str]) -> list[Flagged]:
    """Those that are left of them, where so many of each fingerprint are known."""
    left = Counter(known)
    found = []
    for each in flagged:
        if left and left[each.fingerprint]:
            left[each.fingerprint] -= 1
        else:
            found.append(each)
    return found


def _placed(flagged: Flagged, places: dict[str, Path]) -> Flagged:
    """With paths as a person at the working directory writes them."""
    story = tuple(replace(told, file=_near(told.file, places)) for told in flagged.story)
    return replace(flagged, file=_near(flagged.file, places), story=story)


def _near(file: str, places: dict[str, Path]) -> str:
    place = places.get(file)
    if place is None:
        return file
    here = Path.cwd()
    return place.relative_to(here).as_posix() if place.is_relative_to(here) else place.as_posix()
