"""Gradients that one rank exchanges in a backward pass, and another puts off: `no_sync()` and its like.

Both ranks run the same lines. Whether the backward pass has a collective in it was decided where its context was
chosen: `nullcontext() if last else model.no_sync()`, an `if` around `enter_context`, an attribute that is set.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.syntax import ancestors, dotted, spans
from rankandfile.source.lines.arguments import calls_on
from rankandfile.source.lines.call_paths import CallPath, Stop
from rankandfile.source.lines.divergence import CodeDivergence
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.implied_collectives import implicit
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import method, resolve
from rankandfile.source.program.places import SourcePlace, place_in
from rankandfile.source.program.scopes import own_nodes

_CONTEXTS = {"no_sync"}
_SETTERS = {"set_requires_gradient_sync", "set_is_last_backward", "set_requires_all_reduce"}
_FLAGS = {"require_backward_grad_sync"}
_DEEPEST = 3


@heuristic(
    "gradients put off", "a backward pass that exchanges gradients on some ranks is decided with its context"
)
def put_off(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """The decision upon which the backward pass of one side exchanged gradients, and that of another did not."""
    for side in (divergence.culprit, divergence.normal):
        if side.call is None or not side.path or not _backward(search, side.path):
            continue
        found = [one for frame in reversed(side.path) for one in _around(search, search.places.find(frame))]
        shown = [
            one for one in found if one.reason is not None and one.reason.level in ("varying", "unknown")
        ]
        best = sorted(shown, key=lambda one: one.reason is not None and one.reason.level != "varying")
        if best:
            file = side.path[-1].file.rsplit("/", 1)[-1]
            line = side.path[-1].line
            story = f"The {side.call.op} at {file}:{line} is that of a backward pass, which may be put off."
            one, other = best[0], divergence.other_than(side)
            # Where both exchange gradients there, which of them made one more is not known.
            alone = () if other.path and _backward(search, other.path) else side.members
            return FoundLine(
                one.place,
                one.line,
                one.condition,
                one.reason,
                divergence,
                kind="put_off",
                singled=alone,
                story=story,
            )
    return None


def _backward(search: Search, path: CallPath) -> bool:
    place = search.places.find(path[-1])
    if place is None or not place.known:
        return False
    calls = calls_on(place, Stop(path[-1].line))
    return any(called_name(call) in ("backward", "step") and implicit(call, place.function) for call in calls)


def _around(search: Search, place: SourcePlace | None) -> Iterator[FoundLine]:
    """The choices in the function, and in those that make the contexts around the line."""
    if place is None or not place.known:
        return
    for function in _functions(search, place):
        for node in own_nodes(function):
            test = _decider(function, node)
            if test is not None:
                test = _worked_out(function, test)
                text = function.module.code_at(test.lineno)
                at = place_in(function, test.lineno)
                yield FoundLine(at, test.lineno, text, search.why(function, test))


def _worked_out(function: Function, test: ast.expr) -> ast.expr:
    """What a bare name or attribute was set to before it in the function: that line decides."""
    name = dotted(test)
    made = [
        node
        for node in own_nodes(function)
        if isinstance(node, ast.Assign)
        and node.lineno < test.lineno
        and not isinstance(node.value, ast.Constant)
        and name in map(dotted, node.targets)
    ]
    return made[-1].value if name is not None and len(made) == 1 else test


def _functions(search: Search, place: SourcePlace) -> list[Function]:
    found = [place.function]
    contexts = [
        item.context_expr
        for node in place.function.nodes
        if isinstance(node, ast.With) and spans(node, place.line)
        for item in node.items
    ]
    queue = [(place.function, expression, 0) for expression in contexts]
    while queue:
        function, expression, depth = queue.pop(0)
        for call in (node for node in ast.walk(expression) if isinstance(node, ast.Call)):
            for target in _targets(search, function, call):
                if target not in found and depth < _DEEPEST:
                    found.append(target)
                    returned = (n.value for n in own_nodes(target) if isinstance(n, ast.Return) and n.value)
                    queue.extend((target, value, depth + 1) for value in returned)
    return found


def _targets(search: Search, function: Function, call: ast.Call) -> list[Function]:
    target = resolve(function, call.func)
    if isinstance(target, Function):
        return [target]
    if not isinstance(call.func, ast.Attribute):
        return []
    classes = search.objects.classes(call.func.value, Frame(function))
    methods = (method(each, call.func.attr) for each in classes)
    return [each for each in methods if each is not None]


def _decider(function: Function, node: ast.AST) -> ast.expr | None:
    """What decides whether gradients are put off, if the node puts them off."""
    if isinstance(node, ast.Call) and called_name(node) in _CONTEXTS:
        for outer in ancestors(function.module, node):
            if outer is function.node:
                return None
            if isinstance(outer, (ast.If, ast.IfExp)):
                return outer.test
    if isinstance(node, ast.Call) and called_name(node) in _SETTERS and node.args:
        return None if isinstance(node.args[0], ast.Constant) else node.args[0]
    if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant):
        targets = (target for target in node.targets if isinstance(target, ast.Attribute))
        return node.value if any(target.attr in _FLAGS for target in targets) else None
    return None
