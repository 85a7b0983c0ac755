"""A function with collectives in it is begun again on the rank where it failed.

## Why this is bad

A decorator that tries again begins the function anew on the one rank that ran out of memory, or lost a connection. The
collectives that it had issued are issued a second time there, while the others are in the later ones of their first
try: from then on its calls pair with the wrong ones of theirs.

## Example

```python
from accelerate.utils import find_executable_batch_size


@find_executable_batch_size(starting_batch_size=64)
def fit(batch_size):
    return train(model, batch_size)  # reduces gradients
```

## Use instead

```python
batch_size = probe(model)  # tried without collectives, on every rank
smallest = torch.tensor(batch_size)
dist.all_reduce(smallest, op=dist.ReduceOp.MIN)
fit(smallest.item())
```

## Limits

Known are the decorators of Accelerate, Tenacity, backoff, retrying and retry, by the names that they are imported as,
and those of the program itself that call in a loop what they are given, and go on where it raises. Of the latter, a
function in which nothing follows its collectives is left alone: what fails before them may be tried again.
"""

import ast
from collections.abc import Iterable, Iterator

from msgspec import Struct

from rankandfile.source.dependence.syntax import LOOPS
from rankandfile.source.effects.sequences import Sequences
from rankandfile.source.flow.build import graph_of
from rankandfile.source.lint.rule import Found, Rule, View, on_the_way
from rankandfile.source.lint.weigh import severity
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.program.scopes import binding_scope, own_nodes

ORDER = 275
_TRY_AGAIN = {
    "accelerate.utils.find_executable_batch_size",
    "accelerate.utils.memory.find_executable_batch_size",
    "tenacity.retry",
    "backoff.on_exception",
    "retrying.retry",
    "retry.retry",
}
_LEAVES = (ast.Raise, ast.Return, ast.Break)


class _Begun(Struct, frozen=True):
    """Where a decorator of the program calls what it was given, and what it goes on from."""

    where: Function
    call: ast.Call
    tried: ast.Try


def _find(view: View) -> Iterable[Found]:
    for function in view.functions:
        decorator, begun = _tries_again(function)
        if decorator is None:
            continue
        walk = Sequences(view.effects, function, frozenset(), view.all_divergences.group_of)
        issued, _opaque, _ends = walk.all(walk.start([graph_of(function).entry]))
        found = next(((event, place[3]) for event, place in issued if event.sure), None)
        if found is None:
            continue
        event, calls = found
        if begun is not None and (
            not _goes_on(function, calls[0][3] if calls else event.site) or _is_told(view, begun.tried)
        ):
            continue
        shown = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
        yield Found(
            severity="warning",
            function=function,
            node=decorator,
            message=f"`{shown}` begins `{function.name}` again on the rank that failed, with `{event.op}` in it",
            story=(
                (
                    function,
                    decorator.lineno,
                    "an exception of one rank, as out of memory, ends here on that rank only",
                ),
                *([(begun.where, begun.call.lineno, "begins it once more")] if begun is not None else []),
                *on_the_way(calls),
                (event.function, event.line, event.words),
            ),
            fix="Try without collectives and agree on the outcome, or let the exception end the job.",
        )


def _tries_again(function: Function) -> tuple[ast.expr | None, _Begun | None]:
    """The decorator that begins the function again, and where it does, if that can be read."""
    outer = function.parent or function.module.functions[0]
    for decorator in getattr(function.node, "decorator_list", ()):
        target = resolve(outer, decorator.func if isinstance(decorator, ast.Call) else decorator)
        if isinstance(target, External) and target.dotted in _TRY_AGAIN:
            return decorator, None
        begun = next(_begins_again(target), None) if isinstance(target, Function) else None
        if begun is not None:
            return decorator, begun
    return None, None


def _begins_again(decorator: Function) -> Iterator[_Begun]:
    """Calls of what the decorator was given, in a loop that goes on where the call raises."""
    for inner in decorator.module.functions:
        if not _inside(inner, decorator):
            continue
        for loop in (node for node in own_nodes(inner) if isinstance(node, LOOPS)):
            tries = (each for s in loop.body for each in ast.walk(s) if isinstance(each, ast.Try))
            for tried in (t for t in tries if any(not isinstance(h.body[-1], _LEAVES) for h in t.handlers)):
                calls = (each for s in tried.body for each in ast.walk(s) if isinstance(each, ast.Call))
                yield from (_Begun(inner, call, tried) for call in calls if _is_given(inner, call.func))


def _is_told(view: View, tried: ast.Try) -> bool:
    """Whether what raises is known, and said at the handler."""
    return any(p.owner in tried.handlers and severity(p) == "warning" for p in view.divergences)


def _inside(inner: Function, outer: Function) -> bool:
    scope: Function | None = inner
    while scope is not None and scope is not outer:
        scope = scope.parent
    return scope is outer and inner is not outer


def _is_given(inner: Function, called: ast.expr) -> bool:
    scope = binding_scope(inner, called.id) if isinstance(called, ast.Name) else None
    return scope is not None and scope is not inner and getattr(called, "id", "") in scope.parameters


def _goes_on(function: Function, issued: ast.expr) -> bool:
    """Whether something is called, or raised, after the collective, which may fail on one rank."""
    last = issued.end_lineno or issued.lineno
    around = (n for n in own_nodes(function) if isinstance(n, LOOPS) and issued in set(ast.walk(n)))
    return any(True for _ in around) or any(
        isinstance(node, (ast.Call, ast.Raise)) and node.lineno > last for node in own_nodes(function)
    )


RULE = Rule(find=_find)
