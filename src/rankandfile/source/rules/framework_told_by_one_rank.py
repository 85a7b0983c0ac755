"""A callback tells its trainer to stop, save or evaluate, because of what only its own rank knows.

## Why this is bad

The trainer does as it is told on that rank alone: it leaves the loop, or gathers predictions and parameters, while the
others train on.

## Example

```python
from transformers import TrainerCallback


class Milestones(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        if self.loss < self.mark:  # this rank's own loss
            control.should_evaluate = True
```

## Use instead

```python
class Milestones(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        flag = torch.tensor(float(self.loss < self.mark))
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        if flag.item():
            control.should_evaluate = True
```

## Limits

Known are the flags of Lightning's `trainer` and of Transformers' `control`, by their names, and handlers of Ignite that
end the engine of the rank on which they are asked: `TimeLimit`, and `TerminateOnNan` where the program reduces nothing.
"""

import ast
from collections.abc import Iterable, Iterator

from rankandfile.source.dependence import why
from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.effects.event import Event
from rankandfile.source.lint.rule import Found, Rule, View, can_differ, steps_of
from rankandfile.source.lint.weigh import of_reason
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.program.scopes import own_nodes

ORDER = 290
_FLAGS = {
    "trainer": {"should_stop": "leaves the loop"},
    "control": {
        "should_evaluate": "evaluates, and gathers the predictions",
        "should_save": "saves a checkpoint, which all ranks take part in",
        "should_training_stop": "leaves the loop",
        "should_epoch_stop": "leaves the epoch",
    },
}
_ENDS = {"TerminateOnNan": "an output of its own is not finite", "TimeLimit": "its own clock says so"}
_IGNITE = "ignite."


def _find(view: View) -> Iterable[Found]:
    yield from _handlers(view)
    for function in view.asked:
        if "should_" not in function.module.text:
            continue
        for node, flag, does in _set(function):
            for value in (node.value, *_tests(function, node)):
                reason = why(view.program, function, value)
                severity = of_reason(reason)
                if severity is not None:
                    yield Found(
                        severity=severity,
                        function=function,
                        node=value,
                        message=f"`{flag}` is set as `{ast.unparse(value)}` is on this rank alone",
                        story=(
                            can_differ(function, value.lineno, reason),
                            (function, node.lineno, f"the trainer of this rank {does}; the others go on"),
                        ),
                        steps=steps_of(reason),
                        fix="all_reduce the decision, and set the flag on all ranks or on none.",
                    )
                    break


def _handlers(view: View) -> Iterator[Found]:
    """Handlers that end the engine of one rank; of a program that asks the others for nothing, nobody would wait."""
    for name, because in _ENDS.items() if view.effects.loud else ():
        if name == "TerminateOnNan" and _reduces(view):
            continue
        for site in view.effects.index.calls(name):
            target = resolve(site.function, site.call.func)
            known = isinstance(target, External) and target.dotted.startswith(_IGNITE)
            if known and not view.skip(site.function):
                yield Found(
                    severity="warning",
                    function=site.function,
                    node=site.call,
                    message=f"`{name}` ends the engine of the rank on which {because}; the others go on",
                    fix="Reduce what it asks for over the ranks, and end all engines in the same iteration.",
                )


def _reduces(view: View) -> bool:
    """The program reduces something by a call of its own: it may be the output."""
    events = (e for effects in view.effects.of.values() for e in effects if isinstance(e, Event))
    return any("reduce" in each.op for each in events)


def _set(function: Function) -> Iterator[tuple[ast.Assign, str, str]]:
    for node in own_nodes(function):
        if not isinstance(node, ast.Assign) or (
            isinstance(node.value, ast.Constant) and node.value.value is not True
        ):
            continue
        for target in node.targets:
            if isinstance(target, ast.Attribute) and isinstance(target.value, (ast.Name, ast.Attribute)):
                owner = target.value.id if isinstance(target.value, ast.Name) else target.value.attr
                does = _FLAGS.get(owner, {}).get(target.attr)
                if does is not None:
                    yield node, f"{owner}.{target.attr}", does


def _tests(function: Function, node: ast.stmt) -> Iterator[ast.expr]:
    for outer in ancestors(function.module, node):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return
        if isinstance(outer, ast.If):
            yield outer.test


RULE = Rule(find=_find)
