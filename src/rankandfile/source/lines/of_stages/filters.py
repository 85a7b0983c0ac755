"""Tests by which a stage leaves out items of what it goes over, before it goes round with them.

Where one stage alone goes over a generator that passes on only some items, and the others over all, it goes round fewer
times as soon as the test says so once: whether the data are its own does not matter.
"""

from __future__ import annotations

import ast

from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.lines.found_line import Search
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

from .pipeline import Stage
from .rounds import bare, maker_of

_DEEPEST = 4


def filtered_alone(
    search: Search, function: Function, loop: ast.For, odd: Stage, others: list[Stage]
) -> tuple[Function, ast.expr] | None:
    """The one test by which this stage leaves out items, where no other stage leaves any out."""
    mine = _filters(search, function, loop.iter, odd)
    if mine is None or len(mine) != 1:
        return None
    if any(_filters(search, function, loop.iter, other, all_of_it=True) != [] for other in others):
        return None
    where, test = mine[0]
    return (where, test) if search.one_rank(odd.rank).outcomes(test, where) == {True, False} else None


def _filters(
    search: Search,
    function: Function,
    items: ast.expr,
    stage: Stage,
    depth: int = 0,
    *,
    all_of_it: bool = False,
) -> list[tuple[Function, ast.expr]] | None:
    """All such tests on the way of one stage; None: its way is not known, or not to where its items come from."""
    items = bare(items)
    if isinstance(items, (ast.GeneratorExp, ast.ListComp)):
        inner = _filters(search, function, items.generators[0].iter, stage, depth + 1, all_of_it=all_of_it)
        tests = [(function, test) for part in items.generators for test in part.ifs]
        return None if inner is None else [*inner, *tests]
    maker = maker_of(search, function, items)
    if maker is None:
        # A number says how often; and what was handed over was handed over to all stages alike.
        counted = isinstance(items, ast.Call) and called_name(items) == "range"
        handed = isinstance(items, ast.Name) and items.id in function.parameters
        return [] if counted or handed or not all_of_it else None
    if depth > _DEEPEST:
        return None
    yields = [node for node in own_nodes(maker) if isinstance(node, (ast.Yield, ast.YieldFrom))]
    if not yields:
        back = _returned(search, maker, stage)
        return None if back is None else _filters(search, maker, back, stage, depth + 1, all_of_it=all_of_it)
    return _of_generator(search, maker, yields[0], stage, depth, all_of_it) if len(yields) == 1 else None


def _of_generator(
    search: Search,
    maker: Function,
    item: ast.Yield | ast.YieldFrom,
    stage: Stage,
    depth: int,
    all_of_it: bool,
) -> list[tuple[Function, ast.expr]] | None:
    found: list[tuple[Function, ast.expr]] = []
    if isinstance(item, ast.YieldFrom):
        return _filters(search, maker, item.value, stage, depth + 1, all_of_it=all_of_it)
    for outer in ancestors(maker.module, item):
        if isinstance(outer, ast.If):
            if outer.orelse:
                return None
            found.append((maker, outer.test))
        if isinstance(outer, ast.For):
            if any(isinstance(node, (ast.Continue, ast.Break, ast.Return)) for node in ast.walk(outer)):
                return None
            inner = _filters(search, maker, outer.iter, stage, depth + 1, all_of_it=all_of_it)
            return None if inner is None else [*inner, *found]
        if outer is maker.node:
            break
    return None


def _returned(search: Search, maker: Function, stage: Stage) -> ast.expr | None:
    """What the function gives back to this stage, where the tests on the way say which of its values."""
    for step in getattr(maker.node, "body", []):
        if isinstance(step, ast.Return):
            return step.value
        if not isinstance(step, ast.If):
            continue
        ways = search.one_rank(stage.rank).outcomes(step.test, maker)
        arms = [arm for arm, outcome in ((step.body, True), (step.orelse, False)) if outcome in ways]
        if len(arms) > 1 and any(isinstance(each, ast.Return) for each in ast.walk(step)):
            return None
        taken = next((each for arm in arms for each in arm if isinstance(each, ast.Return)), None)
        if taken is not None:
            return taken.value
    return None
