"""What ended a framework's loop on one rank, where others are still in it: the program's one handler that may.

    trainer.add_event_handler(Events.ITERATION_COMPLETED, TerminateOnNan())    # asks this rank's output, and no other

In: two call paths that part between frames of a framework, one into its loop and one out of it. Out: the line that puts
the handler in, or calls what ends the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec.structs import replace

from rankandfile.model.heuristics import heuristic
from rankandfile.model.known.frameworks import framework_of
from rankandfile.source.dependence.frame import Frame as InFunction
from rankandfile.source.dependence.index import Site
from rankandfile.source.dependence.reason import UNKNOWN, Reason
from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.lines.call_paths import CallPath
from rankandfile.source.lines.divergence import CodeDivergence, Side, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.made_from import Entry
from rankandfile.source.program.names import External, resolve
from rankandfile.source.registry.entry import Ender
from rankandfile.source.registry.tables import TABLE, canonical

from .another_callee import at


@heuristic("ended by", "who left a framework's loop was ended by the one handler of the program that may")
def ended_by(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """None where several may have ended it, or nothing shows that one is in the loop and the other is not."""
    found = [
        (entry, ender, left)
        for name, ender in TABLE.ends.items()
        if (left := _who_left(divergence, ender.inside)) is not None
        for entry in _entries(search, name, ender)
    ]
    if len(found) != 1:
        return None
    (entry, ender, left), stays = found[0], divergence.other_than(found[0][2])
    name = next((framework_of(frame.file) for frame in stays.path if frame.function in ender.inside), None)
    story = (
        f"{ranks_in_words(left).capitalize()} came out of {(name or 'the framework').capitalize()}'s loop, which "
        f"{ranks_in_words(stays)} are in. One line of the program may have ended it there alone."
    )
    return replace(at(entry, divergence, "ended"), story=story, singled=left.members)


def _who_left(divergence: CodeDivergence, inside: frozenset[str]) -> Side | None:
    """The side that is not in the loop, where the two go different ways in one function of the framework."""
    one, other = divergence.normal, divergence.culprit
    within = [_goes_in(one.path, other.path, inside), _goes_in(other.path, one.path, inside)]
    if within[0] == within[1]:
        return None
    return other if within[0] else one


def _goes_in(path: CallPath, other: CallPath, inside: frozenset[str]) -> bool:
    """The first frame behind the place where the two go apart is one of the loop."""
    depth = next((n for n, (a, b) in enumerate(zip(path, other, strict=False)) if a != b), None)
    return depth is not None and depth + 1 < len(path) and path[depth + 1].function in inside


def _entries(search: Search, name: str, ender: Ender) -> Iterator[Entry]:
    owner, _, last = name.rpartition(".")
    for site in search.objects.index.calls(last):
        func = site.call.func
        if last[:1].isupper():
            called = resolve(site.function, func)
            if isinstance(called, External) and canonical(called.dotted) == name:
                yield Entry(site.function, _line(site), site.call, _reason(ender), False)
        elif isinstance(func, ast.Attribute):
            kinds = search.objects.externals(func.value, InFunction(site.function))
            if owner in map(canonical, kinds):
                yield _upon(search, site)


def _line(site: Site) -> int:
    """Of the statement that the call stands in."""
    around = ancestors(site.function.module, site.call)
    return next((each.lineno for each in around if isinstance(each, ast.stmt)), site.call.lineno)


def _reason(ender: Ender) -> Reason:
    if ender.upon is None:
        return UNKNOWN
    return Reason(
        "varying", source=ender.upon.kind, sentence=f"it asks {ender.upon.words}, and no other rank"
    )


def _upon(search: Search, site: Site) -> Entry:
    """The innermost test around the call that can differ; the call itself where there is none."""
    for outer in ancestors(site.function.module, site.call):
        if outer is site.function.node:
            break
        if isinstance(outer, ast.If):
            reason = search.why(site.function, outer.test)
            if reason.level != "uniform":
                return Entry(site.function, outer.lineno, outer.test, reason, True)
    return Entry(site.function, site.call.lineno, site.call, UNKNOWN, False)
