"""Collectives of a backward pass that one side has, and the other has not: its loss did not hang on them.

Autograd goes backward through what a tensor was made from. Both ranks ran the same lines, and called `backward()`
both; on one of them a function upstream had given back a tensor that was made from nothing, as of an empty share of
the tokens. The `backward` of an autograd function, or a hook, that makes a collective then never runs there.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from itertools import groupby

from rankandfile.model.heuristics import heuristic
from rankandfile.model.known.frameworks import framework_of
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.index import Site
from rankandfile.source.dependence.objects.called_later import targets_of
from rankandfile.source.dependence.syntax import spans, text
from rankandfile.source.dependence.written.of_the_loss import of_the_loss
from rankandfile.source.effects.fresh_tensors import LOSSES, GivenUp, given_up
from rankandfile.source.lines.call_paths import CallPath
from rankandfile.source.lines.divergence import CodeDivergence, Side
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, external_bases, method, resolve
from rankandfile.source.program.places import in_loop, place_in
from rankandfile.source.program.scopes import own_nodes

from .two_ways import sides_of

_AUTOGRAD = "torch.autograd.Function"
_HOOKS = (
    "register_hook",
    "register_full_backward_hook",
    "register_full_backward_pre_hook",
    "register_post_accumulate_grad_hook",
    "register_multi_grad_hook",
)
#: Callers of what has the collective in its backward, and callees beside it, that are looked at.
_FURTHEST = 6
_MOST_FUNCTIONS = 200
_LEVELS = {"varying": 0, "axes": 0, "unknown": 1}


@heuristic(
    "graph given up", "a backward pass lacks a collective where a function gave back a tensor without a graph"
)
def no_graph(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """The test upon which a tensor had no graph, of the one side whose backward pass lacks the other's collective."""
    for side, other in (
        (divergence.normal, divergence.culprit),
        (divergence.culprit, divergence.normal),
    ):
        if side.call is None or side.path == other.path:
            continue
        runs = _run_by_autograd(search, side.path)
        if runs is not None:
            return _given_up_upstream(search, divergence, side, _around(search, runs))
        if _in_backward(search, side.path) and not _in_backward(search, other.path):
            return _given_up_upstream(
                search, divergence, side, _make_the_loss(search, side.path), in_loss=True
            )
    return None


def layer_without_graph(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """The same where both are in the backward of one function, and the culprit's is that of another layer: it has gone
    by the layer of the others."""
    side = divergence.normal
    runs = _run_by_autograd(search, side.path) if side.call is not None else None
    if runs is None:
        return None
    return _given_up_upstream(search, divergence, side, _around(search, runs))


def _in_backward(search: Search, path: CallPath) -> bool:
    """It ends in the backward pass of a loss: the wrapper around the model reduces the gradients in there."""
    if not path:
        return False
    last = path[-1]
    place = search.places.find(last)
    if place is None or not place.known:
        return last.function == "backward" and framework_of(last.file) is not None
    calls = (node for node in place.function.nodes if isinstance(node, ast.Call) and spans(node, last.line))
    return any(called_name(call) == "backward" for call in calls)


def _make_the_loss(search: Search, path: CallPath) -> list[tuple[int, Function]]:
    """The functions of the program that a framework asks for the loss, or the one that goes backward from it, and what
    they call; how far each is from there."""
    place = search.places.find(path[-1])
    if place is not None and place.known:
        return _reached(search, [place.function], in_loss=True)
    asked = (
        function
        for module in search.objects.index.modules
        for function in module.functions
        if function.name in LOSSES and function.owner is not None
        if external_bases(Class(module, function.owner))
    )
    return _reached(search, asked, in_loss=True)


def _reached(
    search: Search,
    start: Iterable[Function],
    *,
    upward: bool = False,
    apart_from: ast.ClassDef | None = None,
    in_loss: bool = False,
) -> list[tuple[int, Function]]:
    """These functions and those that they call, with how far each is from there; with `upward`, also who calls them,
    and what those call. `in_loss`: only what may become part of what a function gives back leads on."""
    found: dict[Function, int] = {}
    queue = [(function, 0, upward) for function in start]
    while queue and len(found) < _MOST_FUNCTIONS:
        function, distance, up = queue.pop(0)
        own = apart_from is not None and function.owner is apart_from
        if function in found or distance > _FURTHEST or own:
            continue
        found[function] = distance
        carried = of_the_loss(function) if in_loss else None
        queue.extend((each, distance + 1, False) for each in _callees(search, function, carried))
        if up:
            callers = (site.function for site, _ in search.objects.callers(function))
            queue.extend((each, distance + 1, True) for each in callers)
    return [(distance, function) for function, distance in found.items()]


def _run_by_autograd(search: Search, path: CallPath) -> Function | None:
    """The function on the path that a backward pass calls by itself."""
    for place in map(search.places.find, path):
        if place is None or not place.known:
            continue
        function = place.function
        if function.name == "backward" and _by_autograd(function):
            return function
        if any(True for _ in _hooked(search, function)):
            return function
    return None


def _by_autograd(function: Function) -> bool:
    return function.owner is not None and _AUTOGRAD in external_bases(Class(function.module, function.owner))


def _hooked(search: Search, function: Function) -> Iterator[Site]:
    """Where a tensor, a parameter or a module is told to call the function in its backward pass."""
    for name in _HOOKS:
        for site in search.objects.index.calls(name):
            if any(_names(search, site.function, given, function) for given in site.call.args):
                yield site


def _names(search: Search, inside: Function, given: ast.expr, function: Function) -> bool:
    if isinstance(given, ast.Call):
        # `partial(hook, group)`, or a function that makes the hook.
        made_by = function.parent is not None and resolve(inside, given.func) is function.parent
        return made_by or any(_names(search, inside, each, function) for each in given.args[:1])
    if resolve(inside, given) is function:
        return True
    if not isinstance(given, ast.Attribute) or given.attr != function.name or function.owner is None:
        return False
    classes = search.objects.classes(given.value, Frame(inside))
    return any(method(each, given.attr) is function for each in classes)


def _given_up_upstream(
    search: Search,
    divergence: CodeDivergence,
    side: Side,
    around: Iterable[tuple[int, Function]],
    *,
    in_loss: bool = False,
) -> FoundLine | None:
    """The one test that says whether the graph goes on to what has the collective; None where several may. `in_loss`:
    of what a function does, only that counts which may become part of what it gives back."""
    passed = _passed(search, side)
    found: list[tuple[tuple[int, bool, int], FoundLine]] = []
    for distance, function in around:
        for one in given_up(function):
            if in_loss and one.what not in of_the_loss(function):
                continue
            if any(first <= line <= last for first, last in one.ways for line in passed.get(function, ())):
                # Had one rank not come by there, its calls forward would have shown it.
                continue
            line = _line(search, divergence, side, function, one)
            if line is not None and line.reason is not None:
                # In a loop the graph is given up only if no round of it keeps it.
                level = _LEVELS[line.reason.level]
                found.append(((level, in_loop(line.place), distance), line))
    found.sort(key=lambda each: each[0])
    for _, alike in groupby(found, key=lambda each: each[0]):
        lines = [line for _, line in alike]
        return lines[0] if len({(one.place.path, one.line) for one in lines}) == 1 else None
    return None


def _passed(search: Search, side: Side) -> dict[Function, set[int]]:
    """The lines by which collectives were made on the rank."""
    found: dict[Function, set[int]] = {}
    frames = {frame for made in search.paths.calls(side.rank) for frame in made.path}
    for place in map(search.places.find, frames):
        if place is not None and place.known:
            found.setdefault(place.function, set()).add(place.line)
    return found


def _around(search: Search, runs: Function) -> Iterable[tuple[int, Function]]:
    """Functions that hand on what the graph goes through, and how far they are from it: those that make the node of
    the graph, what these call beside it, and who calls them."""
    makers = dict.fromkeys(_makers(search, runs))
    return _reached(search, makers, upward=True, apart_from=runs.owner)


def _makers(search: Search, runs: Function) -> Iterator[Function]:
    """Who puts the node into the graph."""
    if runs.name != "backward" or not _by_autograd(runs):
        yield from (site.function for site in _hooked(search, runs))
        return
    assert runs.owner is not None
    forward = method(Class(runs.module, runs.owner), "forward")
    if forward is None:
        return
    yield from (site.function for site, _ in search.objects.callers(forward))
    # `exchange = Exchange.apply`, and its calls by that name.
    for node in own_nodes(runs.module.functions[0]):
        if isinstance(node, ast.Assign) and resolve(runs.module.functions[0], node.value) is forward:
            for target in node.targets:
                sites = search.objects.index.calls(target.id) if isinstance(target, ast.Name) else ()
                yield from (s.function for s in sites if resolve(s.function, s.call.func) is None)


def _callees(search: Search, function: Function, among: Collection[ast.AST] | None) -> Iterator[Function]:
    """`among`: None for all of its calls."""
    for node in own_nodes(function):
        if not isinstance(node, ast.Call) or (among is not None and node not in among):
            continue
        yield from targets_of(search.objects, Site(function, node))
        if resolve(function, node.func) is None:
            classes = search.objects.classes(node.func, Frame(function))
            yield from filter(None, (method(each, "forward") for each in classes))


def _line(
    search: Search, divergence: CodeDivergence, side: Side, function: Function, one: GivenUp
) -> FoundLine | None:
    line = one.test.lineno
    place = place_in(function, line)
    reason = search.why(function, one.test)
    if reason.level == "uniform" or (reason.level == "unknown" and _of_the_mode(one.test)):
        return None
    sides = sides_of(search, divergence)
    ways = [sides.ways(ranks[0], one.test, function) for ranks in (sides.normal, sides.culprit)]
    if ways[0] == ways[1] and len(ways[0]) == 1:
        return None
    assert side.call is not None
    made, file = side.path[-1], function.module.path.rsplit("/", 1)[-1]
    story = (
        f"The {side.call.op} at {made.file.rsplit('/', 1)[-1]}:{made.line} is made in a backward pass, which goes only "
        f"through what the loss was made from; `{text(one.what)}` ({file}:{one.what.lineno}) is made from nothing."
    )
    text_of_line = function.module.code_at(line)
    return FoundLine(place, line, text_of_line, reason, divergence, kind="no_graph", story=story)


def _of_the_mode(test: ast.expr) -> bool:
    """`self.training`, `torch.is_grad_enabled()`: nobody goes backward where that is not so."""
    parts = [node.attr for node in ast.walk(test) if isinstance(node, ast.Attribute)]
    calls = [called_name(node) for node in ast.walk(test) if isinstance(node, ast.Call)]
    return bool({"training", "is_grad_enabled", "requires_grad"} & {*parts, *calls})
