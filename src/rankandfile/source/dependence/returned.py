"""What a function returns, or yields: by its body where the tree has it, else by what it is given."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from rankandfile.source.flow import Condition
from rankandfile.source.flow.how_often import between_nodes
from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import resolve
from rankandfile.source.program.scopes import own_nodes, returned_values

from . import control, origins
from .frame import Frame
from .reaching_assignments import reaching
from .syntax import EACH, ENTER, Path, argument, content, dotted, text
from .value import UNKNOWN, Link, LinkKind, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator


_MAIN_ONLY = re.compile(
    r"(^|\.)(rank_zero_only|rank_zero|main_process_only|on_main_process|on_local_main_process|one_rank_only)$"
)
_MAY_AGREE = re.compile(
    r"reduce|gather|broadcast|bcast|sync|agree|vote|consensus|allred|barrier|all_ranks|any_rank"
)
MOST_RETURNS = 12


def body(ev: Evaluator, target: Function, inside: Frame, path: Path, shown: str) -> Value:
    """What a function of the tree returns, or yields."""
    node = target.node
    if isinstance(node, ast.Module):
        return UNKNOWN
    if isinstance(node, ast.Lambda):
        return ev.value(node.body, inside, path)
    decorator = main_only(target)
    if decorator is not None:
        return origins.here("rank_api", "run on the main process only", decorator, inside)
    if not ev.in_depth and any(_makes_another(target, d) for d in node.decorator_list):
        return UNKNOWN  # What it returns, a decorator of the program may change.
    yields = [n for n in own_nodes(target) if isinstance(n, (ast.Yield, ast.YieldFrom))]
    if yields:
        return _yielded(ev, target, yields, inside, path)
    returns = [n for n in own_nodes(target) if isinstance(n, ast.Return)][:MOST_RETURNS]
    flow = reaching(target)
    returns = [r for r in returns if any(map(flow.reaches, flow.nodes(r)))] or returns
    values = [_returned(ev, r, inside, path, shown) for r in returns if r.value is not None]
    value = join(values)
    if (
        value.level == "varying"
        or len({text(r.value) if r.value else "None" for r in returns}) + _falls_off(target) < 2
    ):
        return value
    return join([value, *_which_return(ev, target, returns, inside, shown)])


def main_only(function: Function) -> ast.expr | None:
    """The decorator that lets the function run on the main process only."""
    node = function.node
    decorators = [] if isinstance(node, (ast.Module, ast.Lambda)) else node.decorator_list
    return next((d for d in decorators if _lets_in_the_first(d)), None)


def _lets_in_the_first(decorator: ast.expr) -> bool:
    """`@rank_zero_only`; `@one_rank_only()` and `@one_rank_only(rank=0)`, and not one for another rank."""
    if not isinstance(decorator, ast.Call):
        return bool(_MAIN_ONLY.search(dotted(decorator) or ""))
    given = argument(decorator, "rank", 0)
    first = given is None or (isinstance(given, ast.Constant) and given.value == 0)
    return first and bool(_MAIN_ONLY.search(dotted(decorator.func) or ""))


@kept
def _wraps_alone(decorator: Function) -> bool:
    """Every function inside of it returns what the one that it is given returns, and nothing else."""
    given = set(decorator.parameters)
    for inner in decorator.module.functions:
        if inner.parent is not decorator and (inner.parent is None or inner.parent.parent is not decorator):
            continue
        known = {*given, *(inner.parent.parameters if inner.parent is not None else ())}
        for value in returned_values(inner):
            values = [value]
            if isinstance(value, ast.Name) and value.id not in {f.name for f in decorator.module.functions}:
                values = [d.value for d in reaching(inner).everywhere(value.id) if d.value is not None]
            for each in values:
                plain = isinstance(each, ast.Call) and dotted(each.func) in known
                if not plain and not isinstance(resolve(inner, each), Function):
                    return False
    return True


def _makes_another(target: Function, decorator: ast.expr) -> bool:
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    found = resolve(target.parent or target.module.functions[0], named)
    return isinstance(found, Function) and not _wraps_alone(found)


def _returned(ev: Evaluator, r: ast.Return, inside: Frame, path: Path, shown: str) -> Value:
    assert r.value is not None
    file, code = inside.function.module.path, text(r.value, 60)
    return ev.value(r.value, inside, path).by(
        Link(file, r.lineno, shown, f"returns `{code}` ({file}:{r.lineno})", code)
    )


def _which_return(
    ev: Evaluator, target: Function, returns: list[ast.Return], inside: Frame, shown: str
) -> list[Value]:
    """The decisions that send control to one return and not to another."""
    flow = reaching(target)
    ends = {
        r: {n for n in flow.graph.nodes if n.what is r and flow.graph.returns in n.next()} for r in returns
    }
    found = []
    file = target.module.path
    for r, nodes in ends.items():
        others = {n for other, its in ends.items() if other is not r for n in its} | {flow.graph.returns}
        for condition in between_nodes(target, nodes, others, [flow.graph.entry]):
            if condition.kind == "call":
                continue
            value = control.of_condition(ev, condition, inside)
            place = f"{file}:{condition.line}"
            words = f"returns one thing or another as `{condition.text}` decides ({place})"
            found.append(value.by(Link(file, condition.line, shown, words, condition.text)))
    return found


def _falls_off(target: Function) -> bool:
    """The function can also end without a return statement."""
    flow = reaching(target)
    return any(
        flow.graph.returns in node.next() and not isinstance(node.what, ast.Return)
        for node in flow.graph.nodes
    )


def _yielded(
    ev: Evaluator, target: Function, yields: list[ast.Yield | ast.YieldFrom], inside: Frame, path: Path
) -> Value:
    """How many items a generator has is decided by the conditions around its yields; what a context manager gives its
    block is what it yields."""
    flow = reaching(target)
    if path[:1] == (ENTER,):
        given = [y.value for y in yields if isinstance(y, ast.Yield) and y.value is not None]
        return ev.all(given, inside, path[1:])
    values: list[Value] = []
    for y in yields:
        if isinstance(y, ast.YieldFrom):
            values.append(ev.value(y.value, inside, path))
        elif path and path[0] == EACH and isinstance(y, ast.Yield) and y.value is not None:
            values.append(ev.value(y.value, inside, path[1:]))
        elif not path and isinstance(y, ast.Yield) and y.value is not None:
            # Who is given the whole of it may ask for any of its items.
            values.append(ev.value(y.value, inside).of_data())
    nodes = {n for y in yields for n in flow.nodes(y)}
    for condition in between_nodes(target, nodes, {flow.graph.returns}, [flow.graph.entry]):
        if condition.kind != "call" and not (path[:1] == (EACH,) and _only_ends(target, condition, yields)):
            file = target.module.path
            words = f"yields as often as `{condition.text}` lets it ({file}:{condition.line})"
            of: LinkKind = "as often as a test says" if condition.text.startswith("if ") else ""
            link = Link(file, condition.line, f"{target.qualname}()", words, condition.text, kind=of)
            value = control.of_condition(ev, condition, inside)
            # `if i % world == rank: yield item` deals the items out: what comes is this rank's share of them.
            dealt = any(isinstance(part, ast.Mod) for part in ast.walk(condition.node))
            values.append((value.of_data("shard_length") if dealt else value).by(link))
    return join(values)


def _only_ends(target: Function, condition: Condition, yields: list[ast.Yield | ast.YieldFrom]) -> bool:
    """The function's own loop that all its items come from: where it ends says how often, not which item comes next."""
    if condition.kind != "for" or isinstance(target.node, ast.Lambda):
        return False
    loops = (s for s in target.node.body if isinstance(s, ast.For) and s.iter is condition.node)
    return any({id(y) for y in yields} <= {id(n) for n in ast.walk(loop)} for loop in loops)


def by_arguments(ev: Evaluator, e: ast.Call, frame: Frame, name: str) -> Value:
    """Of a function of which nothing is known: what goes in may come out, unless it may agree on it inside."""
    return cautious(join([UNKNOWN, ev.all(content(e), frame).of_data()]), name)


def cautious(value: Value, name: str) -> Value:
    """Unknown instead of different, where the name of the function says that it may make ranks agree."""
    return UNKNOWN if value.differs and _MAY_AGREE.search(name) else value
