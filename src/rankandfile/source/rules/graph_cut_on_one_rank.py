"""A rank that got nothing returns a new tensor, and has no backward in which the others wait for it.

## Why this is bad

Where nothing is routed to a rank, a shortcut returns `new_zeros(...)`: the right values, but no graph behind them.
Autograd then ends there on that rank, and never comes to the exchange before, whose backward is one as well: the
others wait in it.

## Example

```python
def forward(self, x):
    if x.shape[0] == 0:
        return x.new_zeros(0, self.width)
    return self.net(x)


back = Exchange.apply(expert(Exchange.apply(tokens, there)), here)  # its backward exchanges, too
```

## Use instead

```python
def forward(self, x):
    return self.net(x)  # of no rows, too: layers make nothing of nothing, and keep the graph
```

## Limits

Reported where the shortcut asks whether its input is empty, and whoever calls the module applies a function of autograd
of the program whose backward issues a collective. And of the loss that a program gives a framework (`compute_loss` of a
Trainer, `training_step` of a LightningModule), where it is new upon what is each rank's own: the wrapper around the
model reduces gradients in the backward pass of the others.
"""

import ast
from collections.abc import Iterable, Iterator

from rankandfile.model.known.frameworks import is_of_framework
from rankandfile.source.dependence import why
from rankandfile.source.dependence.syntax import ancestors, dotted, text
from rankandfile.source.effects.event import objects_of
from rankandfile.source.effects.fresh_tensors import LOSSES, given_up
from rankandfile.source.lint.rule import RANK, Found, Rule, View, can_differ, steps_of
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, by_autograd, external_bases, method, resolve
from rankandfile.source.program.scopes import own_nodes

ORDER = 292
_NEW = {
    "new_zeros",
    "new_empty",
    "new_ones",
    "new_full",
    "zeros",
    "empty",
    "ones",
    "full",
    "zeros_like",
    "empty_like",
}
_HOW_MANY = {"shape", "numel", "nelement", "size"}


def _find(view: View) -> Iterable[Found]:
    yield from _losses(view)
    backwards = list(_exchanging(view))
    if not backwards:
        return
    for function in (
        f for f in view.asked if f.name == "forward" and f.owner is not None and not by_autograd(f)
    ):
        for test, returned in _shortcuts(function):
            applied = next(_applied_around(view, function, backwards), None)
            if applied is None:
                continue
            where, call, backward = applied
            yield Found(
                severity="warning",
                function=function,
                node=test,
                message=f"a rank for which `{text(test.test, 60)}` is true returns a tensor without a graph",
                story=(
                    (function, returned.lineno, f"`{text(returned, 60)}` is new: autograd ends here"),
                    (where, call.lineno, f"`{text(call, 60)}` is not gone back through on this rank"),
                    (backward, backward.first_line, "the others wait for it in this backward"),
                ),
                fix="Let the layers work on no rows, or add a zero that is computed from the input: `x.sum() * 0`.",
            )


def _losses(view: View) -> Iterator[Found]:
    """What a framework is given for a loss, and goes backward from."""
    for function in (f for f in view.asked if f.name in LOSSES):
        if function.owner is None or not any(
            map(is_of_framework, external_bases(Class(function.module, function.owner)))
        ):
            continue
        for one in given_up(function):
            reason = why(view.program, function, one.test)
            if reason.level != "varying" or reason.source in RANK:
                continue
            yield Found(
                severity="warning",
                function=function,
                node=one.test,
                message=f"a rank for which `{text(one.test, 60)}` decides so gives a loss without a graph",
                story=(
                    can_differ(function, one.test.lineno, reason),
                    (function, one.what.lineno, f"`{text(one.what, 60)}` is new: autograd ends here"),
                ),
                steps=steps_of(reason),
                fix="Run the model all the same, and weigh its loss with 0: the backward pass is then the others'.",
            )


def _exchanging(view: View) -> Iterator[tuple[Function, Function]]:
    """Functions of autograd that issue collectives in their backward: forward and backward."""
    for forward in (f for f in view.effects.loud if by_autograd(f)):
        own = Class(forward.module, forward.owner) if forward.owner is not None else None
        backward = method(own, "backward") if own is not None else None
        if backward is not None and backward in view.effects.loud:
            yield forward, backward


def _shortcuts(function: Function) -> Iterator[tuple[ast.If, ast.Call]]:
    """Tests for an empty input, with the new tensor that is returned then, where something else is returned, too."""
    returns = [node for node in own_nodes(function) if isinstance(node, ast.Return)]
    for given in returns if len(returns) > 1 else ():
        tests = [a for a in ancestors(function.module, given) if isinstance(a, ast.If)]
        value = given.value
        if (
            tests
            and isinstance(value, ast.Call)
            and _is_new(value)
            and _asks_for_none(tests[0].test, function)
        ):
            yield tests[0], value


def _is_new(call: ast.Call) -> bool:
    last = (dotted(call.func) or "").rpartition(".")[2]
    return last in _NEW and not any(keyword.arg == "requires_grad" for keyword in call.keywords)


def _asks_for_none(test: ast.expr, function: Function) -> bool:
    """Whether a parameter has no rows: `x.shape[0] == 0`, `not x.numel()`, `len(x) == 0`."""
    for node in ast.walk(test):
        of = None
        if isinstance(node, ast.Attribute) and node.attr in _HOW_MANY:
            of = node.value
        elif isinstance(node, ast.Call) and dotted(node.func) == "len" and node.args:
            of = node.args[0]
        if isinstance(of, ast.Name) and of.id in function.parameters:
            return True
    return False


def _applied_around(
    view: View, function: Function, backwards: list[tuple[Function, Function]]
) -> Iterator[tuple[Function, ast.Call, Function]]:
    """The calls of `apply`, in those who call the module or in what they call, with what their backward is."""
    for site, _bound in objects_of(view.program).callers(function):
        here = site.function
        called = [n for n in own_nodes(here) if isinstance(n, ast.Call)]
        targets = {n: resolve(here, n.func) for n in called}
        for call, target in targets.items():
            inside = own_nodes(target) if isinstance(target, Function) else ()
            further = (
                resolve(target, n.func)
                for n in inside
                if isinstance(n, ast.Call) and isinstance(target, Function)
            )
            reached = [target, *further]
            yield from ((here, call, backward) for forward, backward in backwards if forward in reached)


RULE = Rule(find=_find, cause="skipped_collective")
