"""What says how often a stage goes round a loop: its own data, a number that all have, or one made from its rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence import objects_of
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.index import Site
from rankandfile.source.dependence.objects.called_later import targets_of
from rankandfile.source.dependence.syntax import JUMPS, ancestors, spans, text
from rankandfile.source.lines.call_paths import Frame as CallFrame
from rankandfile.source.lines.found_line import Search
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.program.scopes import own_nodes, returned_values

from .pipeline import Stage

_OWN = ("local_data", "shard_length", "file_system")
_AS_OFTEN = {"enumerate", "reversed", "list", "tuple", "tqdm", "iter"}


def said(
    search: Search, function: Function, loop: ast.For, odd: Stage, others: tuple[Stage, ...]
) -> tuple[Function, ast.expr]:
    """What the one goes over: where a generator goes different ways, what it yields on the way that it took."""
    maker = maker_of(search, function, bare(loop.iter))
    if maker is None:
        return function, loop.iter
    ways = [way for way in _yields(maker) if _can_take(search, maker, way, odd, others)]
    if len(ways) != 1:
        return function, loop.iter
    (way,) = ways
    if isinstance(way, ast.For):
        for _, part in _counts(search, maker, way.iter):
            counter = maker_of(search, maker, part)
            back = returned_values(counter) if counter is not None else []
            if counter is not None and len(back) == 1:
                return counter, back[0]
        return maker, way.iter
    return maker, way


def _yields(maker: Function) -> Iterator[ast.expr | ast.For]:
    """What the generator yields from, or the loops that it yields in."""
    for node in own_nodes(maker):
        if isinstance(node, ast.YieldFrom):
            yield node.value
        elif isinstance(node, ast.For) and any(isinstance(each, ast.Yield) for each in ast.walk(node)):
            yield node


def _can_take(
    search: Search, maker: Function, way: ast.expr | ast.For, odd: Stage, others: tuple[Stage, ...]
) -> bool:
    below: ast.AST = way
    for outer in ancestors(maker.module, way):
        if outer is maker.node:
            break
        if isinstance(outer, ast.If):
            wanted = any(below is each for each in outer.body)
            if wanted not in search.one_rank(odd.rank).outcomes(outer.test, maker):
                return False
        below = outer
    if not isinstance(way, ast.For) or not others:
        return True
    # Where all the others are in it, and its number is the same for all, it is not what the one went over.
    lines = [frame.line for stage in others for frame in stage.path if is_in(search, frame, maker)]
    same = all(search.why(f, part).level == "uniform" for f, part in _counts(search, maker, way.iter))
    return not (same and len(lines) == len(others) and all(spans(way, line) for line in lines))


def is_in(search: Search, frame: CallFrame, maker: Function) -> bool:
    found = search.places.find(frame)
    return found is not None and found.function is maker


def of_own_data(search: Search, function: Function, loop: ast.For, stage: Stage) -> bool | None:
    """Whether its own data say how often it goes round, or a number that is the same for all; None: not known."""
    where, node = said(search, function, loop, stage, ())
    reason = search.why(where, node)
    own = reason.level in ("varying", "axes") and reason.source in _OWN
    return True if own else False if reason.level == "uniform" else None


def counted_by_number(
    search: Search, function: Function, items: ast.expr, stages: tuple[Stage, ...]
) -> bool | None:
    """Whether a number that is worked out from the rank's own, or its place in the mesh, says how often it goes round:
    then each may be meant to go round as often as it did. None: of one nothing is known."""
    unknown = False
    for where, part in _counts(search, function, items):
        values = {search.one_rank(stage.rank).of(part, where) for stage in stages}
        reason = search.why(where, part)
        if len(values) > 1 or reason.level == "axes" or reason.source == "rank_api":
            return True
        unknown |= reason.level == "unknown"
    return None if unknown else False


def as_often(search: Search, function: Function, loop: ast.For, stages: tuple[Stage, ...]) -> bool:
    """Whether all go round it equally often, as far as the code says: by one number, worked out for each of them, or by
    what is the same on all ranks."""
    parts = list(_counts(search, function, loop.iter))
    numbers = [{search.one_rank(stage.rank).of(part, where) for stage in stages} for where, part in parts]
    if numbers and all(len(each) == 1 and None not in each for each in numbers):
        return True
    return counted_by_number(search, function, loop.iter, stages) is False and all(
        of_own_data(search, function, loop, stage) is False for stage in stages
    )


def _counts(search: Search, function: Function, items: ast.expr) -> Iterator[tuple[Function, ast.expr]]:
    """The numbers that ranges are made of: of the items themselves, and of what makes them."""
    made = bare(items)
    if isinstance(made, ast.Call) and called_name(made) == "range":
        yield from ((function, each) for each in made.args)
    for maker in _makers(search, function, made):
        for node in own_nodes(maker):
            if isinstance(node, ast.Call) and called_name(node) == "range":
                yield from ((maker, each) for each in node.args)


def bare(items: ast.expr) -> ast.expr:
    while isinstance(items, ast.Call) and called_name(items) in _AS_OFTEN and items.args:
        items = items.args[0]
    return items


def maker_of(search: Search, function: Function, items: ast.expr) -> Function | None:
    """The one function of the program that yields the items, or gives them back."""
    found = _makers(search, function, items)
    return found[0] if len(found) == 1 else None


def _makers(search: Search, function: Function, items: ast.expr) -> list[Function]:
    """The functions of the program that may yield them, on one rank or another."""
    found = targets_of(search.objects, Site(function, items)) if isinstance(items, ast.Call) else ()
    return [each for each in dict.fromkeys(found) if each.name != "__init__"]


def ends_early(search: Search, function: Function, loop: ast.For) -> list[ast.expr]:
    """Tests upon which one rank leaves the loop in the middle, and another does not."""
    found: list[ast.expr] = []
    for node in ast.walk(loop):
        if not isinstance(node, ast.If):
            continue
        leaves = any(isinstance(each, (ast.Break, ast.Return)) for each in (*node.body, *node.orelse))
        varies = search.why(function, node.test).level in ("varying", "axes")
        if leaves and varies and not _counts_its_rounds(search, function, loop, node.test):
            found.append(node.test)
    return found


def _counts_its_rounds(search: Search, function: Function, loop: ast.For, test: ast.expr) -> bool:
    """`if seen == limit` of a number that is counted up once in every round, and a limit that nothing shows to differ:
    it lets nobody out sooner than others."""
    counters = {
        text(node.target)
        for node in loop.body
        if isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Constant)
    }
    sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else []
    others = [side for side in sides if text(side) not in counters]
    differ = {search.why(function, side).level for side in others} & {"varying", "axes"}
    return len(others) < len(sides) and not differ


def leaves_out(search: Search, function: Function, loop: ast.For) -> bool:
    """Whether a rank may go through a round without all that another one does in it, upon what may be its own."""
    for node in ast.walk(loop):
        if not isinstance(node, ast.If):
            continue
        reason = search.why(function, node.test)
        if all(quiet(function, step) for step in (*node.body, *node.orelse)):
            continue
        skips = any(isinstance(each, ast.Continue) for arm in (node.body, node.orelse) for each in arm)
        ends = any(isinstance(each, (ast.Break, ast.Return)) for each in (*node.body, *node.orelse))
        if not ends and ((skips and reason.level != "uniform") or reason.source in _OWN):
            return True
    return False


def quiet(function: Function, step: ast.stmt) -> bool:
    """It goes on, and reaches no other rank: it calls nothing but what is built in, a list's own methods, or a log."""
    if any(isinstance(each, (*JUMPS, ast.With, ast.Delete, ast.Await)) for each in ast.walk(step)):
        return False
    return all(_built_in(function, each.func) for each in ast.walk(step) if isinstance(each, ast.Call))


def _built_in(function: Function, called: ast.expr) -> bool:
    target = resolve(function, called)
    if isinstance(target, External):
        return target.dotted.startswith(("builtins.", "logging.", "warnings."))
    if target is not None or not isinstance(called, ast.Attribute):
        return False
    kinds = objects_of(function.module.program).externals(called.value, Frame(function))
    if kinds and all(kind.startswith("logging.") for kind in kinds):
        return True
    if not isinstance(called.value, ast.Name):
        return False
    name = called.value.id
    own = [*own_nodes(function)]
    stored = [n for n in own if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)]
    made = [
        n.value for n in own if isinstance(n, ast.Assign) and any(target in stored for target in n.targets)
    ]
    lists = all(isinstance(value, (ast.List, ast.Dict, ast.Set)) for value in made)
    return len(made) == len(stored) > 0 and lists
