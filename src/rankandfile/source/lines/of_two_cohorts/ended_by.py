"""What ended a framework's loop on one rank, where others are still in it: the program's one handler that may.

    trainer.add_event_handler(Events.ITERATION_COMPLETED, TerminateOnNan())    # asks this rank's output, and no other

Its items may have come to an end there as well: so it says where to look, and names nobody.

In: two call paths that part between frames of a framework, one into its loop and one out of it. Out: the line that puts
the handler in, or calls what ends the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from msgspec.structs import replace

from rankandfile.model.heuristics import heuristic
from rankandfile.model.known.frameworks import framework_of
from rankandfile.source.dependence.frame import Frame as InFunction
from rankandfile.source.dependence.index import Site
from rankandfile.source.dependence.reason import UNKNOWN, Reason
from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.flow import deciding
from rankandfile.source.lines.arguments import calls_on
from rankandfile.source.lines.call_paths import CallPath, Stop
from rankandfile.source.lines.divergence import CodeDivergence, Side, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.made_from import Entry
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, External, external_bases, resolve
from rankandfile.source.registry.entry import Ender
from rankandfile.source.registry.tables import TABLE, canonical

from .another_callee import at

#: What puts a handler into a framework's loop, given the handler or asked of it.
_PUTS_IN = ("add_event_handler", "attach")


@heuristic("ended by", "who left a framework's loop was ended by the one handler of the program that may")
def ended_by(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """None where several may have ended it, or nothing shows that one is in the loop and the other is not."""
    found = [
        (entry, ender, left)
        for name, ender in TABLE.ends.items()
        if (left := _who_left(divergence, ender.inside)) is not None
        for entry in _entries(search, name, ender, divergence.other_than(left))
    ]
    if len(found) != 1 or _of_its_own(search):
        return None
    entry, ender, left = found[0]
    stays = divergence.other_than(left)
    name = next(frame.file for frame in stays.path if frame.function in ender.inside)
    many = "are" if len(stays.members) > 1 else "is"
    story = (
        f"{ranks_in_words(left).capitalize()} came out of {(framework_of(name) or '').capitalize()}'s loop, which "
        f"{ranks_in_words(stays)} {many} in. Unless its items came to an end there, one line of the program may have "
        f"ended it, where {ender.words}."
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
    """Right behind the place where the two go apart, in the framework's code, its loop is gone into."""
    depth = next((n for n, (a, b) in enumerate(zip(path, other, strict=False)) if a != b), None)
    behind = path[depth + 1 :] if depth is not None else ()
    framework = list(takewhile(lambda frame: framework_of(frame.file) is not None, behind))
    return any(frame.function in inside for frame in framework)


def _entries(search: Search, name: str, ender: Ender, stays: Side) -> Iterator[Entry]:
    owner, _, last = name.rpartition(".")
    for site in search.objects.index.calls(last):
        func = site.call.func
        if last[:1].isupper():
            called = resolve(site.function, func)
            put = _put_in(site) if isinstance(called, External) and canonical(called.dotted) == name else None
            if put is not None and not _of_another_loop(search, site.function, put, stays, ender.inside):
                yield Entry(site.function, _line(site), site.call, _reason(ender), False)
        elif isinstance(func, ast.Attribute):
            kinds = search.objects.externals(func.value, InFunction(site.function))
            if owner in map(canonical, kinds) and (entry := _upon(search, site)) is not None:
                yield entry


def _put_in(site: Site) -> ast.expr | None:
    """The object whose loop the handler is put into."""
    for outer in ancestors(site.function.module, site.call):
        if isinstance(outer, ast.stmt):
            break
        if (
            isinstance(outer, ast.Call)
            and isinstance(outer.func, ast.Attribute)
            and outer.func.attr in _PUTS_IN
        ):
            return outer.args[0] if outer.func.attr == "attach" and outer.args else outer.func.value
    return None


def _of_another_loop(
    search: Search, function: Function, owner: ast.expr, stays: Side, inside: frozenset[str]
) -> bool:
    """Whether it is known for another object than the one that runs on the ranks which are in the loop."""
    loops = next((n for n, frame in enumerate(stays.path) if frame.function in inside), 0)
    own = [frame for frame in stays.path[:loops] if framework_of(frame.file) is None]
    place = search.places.find(own[-1]) if own else None
    running = {
        id(one.made)
        for call in (calls_on(place, Stop(place.line)) if place is not None and place.known else ())
        if place is not None and isinstance(call.func, ast.Attribute)
        for one in search.objects.of(call.func.value, InFunction(place.function))
    }
    mine = {id(one.made) for one in search.objects.of(owner, InFunction(function))}
    return bool(running and mine) and not running & mine


def _of_its_own(search: Search) -> bool:
    """The program has handlers of its own that are like those of the framework, or tells its loop to end by itself."""
    classes = (
        Class(module, node) for module in search.objects.index.modules for node in module.classes.values()
    )
    derived = any(TABLE.ends.keys() & set(map(canonical, external_bases(one))) for one in classes)
    return derived or any(search.objects.index.stores.get(name.rpartition(".")[2]) for name in TABLE.ends)


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


def _upon(search: Search, site: Site) -> Entry | None:
    """The nearest test around the call, or that leads past it, which differs; else the nearest around it that may, or
    the call; None where all are the same on all ranks."""
    tests = [t for t in deciding(site.function, site.call.lineno, "end") if t.kind == "if"]
    known = [(test, search.why(site.function, test)) for test in tests]
    around = {
        id(outer.test) for outer in ancestors(site.function.module, site.call) if isinstance(outer, ast.If)
    }
    differs = [one for one in known if one[1].level in ("varying", "axes")]
    unknown = [one for one in known if one[1].level == "unknown"]
    # Of several that nobody understands, one that only leads past the call is as good as another.
    may = unknown if len(unknown) == 1 else [one for one in unknown if id(one[0].node) in around]
    for test, reason in (differs or may)[:1]:
        if isinstance(test.node, ast.expr):
            return Entry(site.function, test.line, test.node, reason, True)
    if known and all(reason.level == "uniform" for _, reason in known):
        return None
    return Entry(site.function, site.call.lineno, site.call, UNKNOWN, False)
