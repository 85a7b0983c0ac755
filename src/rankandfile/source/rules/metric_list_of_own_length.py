"""A metric keeps a list, and each rank's own batches decide how long it is.

## Why this is bad

torchmetrics gathers a list state that is not concatenated (`dist_reduce_fx=None`) item by item: a collective for each.
A rank that left out a batch with nothing in it has one item less, and gathers once less than the others.

## Example

```python
class Spread(Metric):
    def __init__(self):
        super().__init__()
        self.add_state("parts", default=[], dist_reduce_fx=None)

    def update(self, scores, wanted):
        if not wanted.any():
            return
        self.parts.append(scores[wanted].mean())
```

## Use instead

```python
        self.add_state("parts", default=[], dist_reduce_fx="cat")  # one gathering, of whatever length
```

## Limits

Known are list states of metrics of the program, and the metrics of `torchmetrics.retrieval`. Reported where a test of
what the metric is given leaves out the update.
"""

import ast
from collections.abc import Iterable, Iterator

from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import argument, constant
from rankandfile.source.effects.event import objects_of
from rankandfile.source.flow.condition import Condition
from rankandfile.source.flow.how_often import between_nodes
from rankandfile.source.lint.rule import Found, Rule, View
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import (
    Class,
    External,
    enclosing_class,
    external_bases,
    methods,
    resolve,
)
from rankandfile.source.program.scopes import own_nodes

ORDER = 298
_METRICS = {"torchmetrics.Metric", "torchmetrics.metric.Metric"}
_KEPT_AS_LISTS = "torchmetrics.retrieval."
_PUTS = ("append", "extend")


def _find(view: View) -> Iterable[Found]:
    if not any("torchmetrics" in module.text for module in view.effects.index.modules):
        return
    for function in view.asked:
        for call, what in (*_puts(function), *_updates(view, function)):
            for condition in _left_out_by(function, call):
                yield Found(
                    severity="warning",
                    function=function,
                    node=condition.node,
                    message=f"`{condition.text}` leaves out {what} for batches of this rank: its list is shorter then",
                    story=(
                        (function, call.lineno, "one item more"),
                        (
                            function,
                            call.lineno,
                            "`compute` gathers item by item, as often as this rank has items",
                        ),
                    ),
                    fix='Take dist_reduce_fx="cat", or put in an empty item, too.',
                )
                break


def _puts(function: Function) -> Iterator[tuple[ast.Call, str]]:
    """In the `update` of a metric of the program, what is put into a list that is gathered item by item."""
    own = enclosing_class(function)
    states = _lists(own) if own is not None and function.name == "update" else set()
    for node in own_nodes(function) if states else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PUTS:
            kept = node.func.value
            if isinstance(kept, ast.Attribute) and kept.attr in states:
                yield node, f"an item of `{kept.attr}`"


def _lists(cls: Class) -> set[str]:
    """The states of a metric that are lists and not put together before they are gathered."""
    if not external_bases(cls) & _METRICS:
        return set()
    found = set()
    for node in (n for f in methods(cls) for n in own_nodes(f) if isinstance(n, ast.Call)):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "add_state":
            name, reduced = constant(argument(node, 0, "name")), argument(node, 2, "dist_reduce_fx")
            empty = isinstance(argument(node, 1, "default"), ast.List)
            if (
                empty
                and isinstance(name, str)
                and constant(reduced) is None
                and isinstance(reduced, (ast.Constant, type(None)))
            ):
                found.add(name)
    return found


def _updates(view: View, function: Function) -> Iterator[tuple[ast.Call, str]]:
    """Calls of the update of such a metric."""
    for node in own_nodes(function):
        func = node.func if isinstance(node, ast.Call) else None
        named = isinstance(func, ast.Attribute) and func.attr == "update"
        if named and isinstance(node, ast.Call) and isinstance(func, ast.Attribute):
            yield from [(node, f"`{ast.unparse(func)}`")] if _keeps_lists(view, function, func.value) else []


def _keeps_lists(view: View, function: Function, metric: ast.expr) -> bool:
    objects = objects_of(view.program)
    if any(_lists(cls) for cls in objects.classes(metric, Frame(function))):
        return True
    if any(name.startswith(_KEPT_AS_LISTS) for name in objects.externals(metric, Frame(function))):
        return True
    own = enclosing_class(function)
    kept = objects.stores(own, metric.attr) if own is not None and isinstance(metric, ast.Attribute) else ()
    for where, d in kept:
        parts = ast.walk(d.value) if d.value is not None else ()
        made = (resolve(where, part.func) for part in parts if isinstance(part, ast.Call))
        if any(isinstance(each, External) and each.dotted.startswith(_KEPT_AS_LISTS) for each in made):
            return True
    return False


def _left_out_by(function: Function, call: ast.Call) -> Iterator[Condition]:
    """The tests of what the call is given, after which it is not made."""
    flow = reaching(function)
    given = _made_of({*_names(call, function), *function.parameters} - {"self"}, function)
    steps = set(flow.nodes(call))
    for condition in between_nodes(function, steps, {flow.graph.returns}, [flow.graph.entry]):
        if condition.kind in ("if", "ifexp", "boolop") and _names(condition.node, function) & given:
            yield condition


def _made_of(names: set[str], function: Function) -> set[str]:
    """These, and the variables that are set from them."""
    found = set(names)
    for node in own_nodes(function):
        if isinstance(node, ast.Assign) and _names(node.value, function) & found:
            found |= {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return found


def _names(node: ast.AST, function: Function) -> set[str]:
    """Variables of the function, but `self`."""
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return {name for name in found if reaching(function).everywhere(name)} - {"self"}


RULE = Rule(find=_find, cause="skipped_collective")
