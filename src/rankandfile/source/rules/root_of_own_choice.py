"""Each rank chooses by itself from whom all of them receive.

## Why this is bad

The root of a broadcast, reduce, gather or scatter must be the same on all members of the group. Ranks that find the
leader in their own copy of a table, with an own score, a tie or a rounding in it, name different ones: each waits for
another sender, or two send, and the sizes of what follows no longer match.

## Example

```python
import torch.distributed as dist

scores = {rank: each.item() for rank, each in enumerate(gathered)}
scores[dist.get_rank()] = score  # not rounded as the gathered ones are
dist.broadcast(weights, src=max(scores, key=scores.get))
```

## Use instead

```python
import torch.distributed as dist

leader = int(torch.cat(gathered).argmax())  # only of what all ranks have alike
dist.broadcast(weights, src=leader)
```

## Limits

On a group that not all ranks are in, a root that goes by the rank's place in the job may be right, and is silent.
"""

import ast
from collections.abc import Iterable, Iterator

from rankandfile.source.dependence import why
from rankandfile.source.dependence.syntax import ancestors, argument, text
from rankandfile.source.effects.event import Event
from rankandfile.source.lint.rule import RANK, Found, Rule, View, can_differ, steps_of
from rankandfile.source.lint.weigh import of_reason
from rankandfile.source.program.modules import Function

ORDER = 272
_ROOTS: dict[str, tuple[int | str, ...]] = {
    "broadcast": (1, "src", "group_src"),
    "broadcast_object_list": (1, "src", "group_src"),
    "reduce": (1, "dst", "group_dst"),
    "gather": (2, "dst", "group_dst"),
    "gather_object": (2, "dst", "group_dst"),
    "scatter": (2, "src", "group_src"),
    "scatter_object_list": (2, "src", "group_src"),
}
_ITSELF = 2
"""Steps from the root to the rank's own number, where it is just that."""


def _find(view: View) -> Iterable[Found]:
    for function, event, root in _rooted(view):
        reason = why(view.program, function, root)
        severity = of_reason(reason, view.all_divergences.group_of(event))
        if severity is None or (reason.source in RANK and _may_be_a_part(event, function, len(reason.chain))):
            continue
        if event.group is not None:
            severity = "hint"  # Who is in the group may choose alike, though others choose otherwise.
        yield Found(
            severity=severity,
            function=function,
            node=event.site,
            message=f"`{text(root, 60)}`, the root of `{event.op}`, is each rank's own choice",
            story=(
                can_differ(function, root.lineno, reason),
                (function, event.line, "ranks that name different roots wait for different senders"),
            ),
            steps=steps_of(reason),
            fix="Choose it from what a collective gave all ranks alike, or let one rank choose and broadcast that.",
        )


def _rooted(view: View) -> Iterator[tuple[Function, Event, ast.expr]]:
    for effects in list(view.effects.of.values()):
        for event in effects:
            if not isinstance(event, Event) or not event.name.startswith("torch.distributed."):
                continue
            if isinstance(event.site, ast.Call) and not view.skip(event.function):
                root = argument(event.site, *_ROOTS.get(event.op, ()))
                if root is not None:
                    yield event.function, event, root


def _may_be_a_part(event: Event, function: Function, steps: int) -> bool:
    """A group's root goes by the ranks in it; and one rank that speaks, while the others listen, names itself."""
    if event.group is not None:
        return True
    return steps <= _ITSELF and any(isinstance(a, ast.If) for a in ancestors(function.module, event.site))


RULE = Rule(find=_find, cause="root_mismatch")
