"""A function that runs on the main process only issues a collective.

## Why this is bad

`@rank_zero_only` and `@accelerator.on_main_process` let every other rank return at once: the main process waits in the
collective alone. Some collectives cannot be seen: `trainer.log_dir` broadcasts, `Metric.compute` gathers.

## Example

```python
from lightning.pytorch.utilities import rank_zero_only


class Saver(Callback):
    @rank_zero_only
    def on_fit_start(self, trainer, module):
        self.folder = trainer.log_dir  # broadcasts
```

## Use instead

```python
class Saver(Callback):
    def on_fit_start(self, trainer, module):
        folder = trainer.log_dir  # on every rank
        self.write(folder)

    @rank_zero_only
    def write(self, folder): ...
```

## Limits

The decorators are known by their names.
"""

from collections.abc import Iterable

from rankandfile.model.lint import Severity
from rankandfile.source.dependence.returned import main_only
from rankandfile.source.effects.event import Event
from rankandfile.source.effects.sequences import Sequences
from rankandfile.source.flow.build import graph_of
from rankandfile.source.lint.rule import Found, Rule, View, on_the_way

ORDER = 200


def _find(view: View) -> Iterable[Found]:
    for function in view.functions:
        decorator = main_only(function)
        if decorator is None:
            continue
        walk = Sequences(view.effects, function, frozenset(), lambda _event: "")
        start = walk.start([graph_of(function).entry])
        events, _opaque, _ends = walk.all(start)
        known = [(event, place) for event, place in events if event.sure] or events
        if known:
            event, place = known[0]
            calls = [*on_the_way(place[3])]
            yield Found(
                severity=_severity(event, bool(calls), walk.silent(start, "")),
                function=function,
                node=decorator,
                message=f"`{function.name}` runs on the main process only, and calls `{event.op}`",
                story=(
                    *calls,
                    (event.function, event.line, f"{event.words}; the other ranks never come here"),
                ),
                fix=(
                    "Call the collective on every rank, and let only what is done with its result run on one."
                ),
            )


def _severity(event: Event, far: bool, avoidable: bool) -> Severity:
    """A callee that need not issue it may well know that it is alone."""
    if not event.sure or (far and avoidable):
        return "hint"
    return "warning" if far else "error"


RULE = Rule(find=_find)
