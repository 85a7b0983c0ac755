"""A process group is made by some ranks only.

## Why this is bad

`new_group` and `init_device_mesh` are for all ranks of the job, members of the new group or not. Ranks that do not
call it leave the others waiting in it, or give their next group the name of this one.

## Example

```python
import torch.distributed as dist

if dist.get_rank() in (0, 1):
    pair = dist.new_group([0, 1])
```

## Use instead

```python
import torch.distributed as dist

pair = dist.new_group([0, 1])  # on every rank, in the same order
if dist.get_rank() in (0, 1):
    dist.all_reduce(x, group=pair)
```

## Limits

`new_group(..., use_local_synchronization=True)` is called by members only, and is not reported. That both branches make
groups, but others, is seen where their ranks are written out.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence

from rankandfile.source.dependence import why
from rankandfile.source.dependence.syntax import argument, text
from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.effects.event import Event
from rankandfile.source.lint.rule import RANK, SETS_UP_GROUPS, Found, Rule, View, can_differ, steps_of
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

ORDER = 10
_FIX = "Let every rank of the job make every group, in the same order; use it on its members only."


def _claims(divergence: PossibleDivergence) -> bool:
    return divergence.event.op in SETS_UP_GROUPS and divergence.reason.source in RANK


def _find(view: View) -> Iterable[Found]:
    """Each side of a test of the rank makes groups, but not the same ones."""
    made_by = {s.function: None for s in view.effects.index.calls("new_group")}
    for function in (function for function in made_by if not view.skip(function)):
        for test, one, other in _sides(function):
            here, there = _made(view, one), _made(view, other)
            if not here or not there or _same(here, there):
                continue
            reason = why(view.program, function, test.test)
            if reason.source in RANK and reason.level in ("axes", "varying"):
                first, second = here[0], there[0]
                yield Found(
                    severity="warning",
                    function=function,
                    node=test,
                    message="ranks make other groups, as their own number decides: every rank must make all of them",
                    story=(
                        can_differ(function, test.lineno, reason),
                        (function, first.line, f"`{text(first.site, 60)}` is made by some"),
                        (function, second.line, f"`{text(second.site, 60)}` is made by the others"),
                    ),
                    steps=steps_of(reason),
                    fix=_FIX,
                )


def _sides(function: Function) -> Iterator[tuple[ast.If, Sequence[ast.stmt], Sequence[ast.stmt]]]:
    """A test, what follows one outcome, and what follows the other: what comes after it, if the first one returns."""
    for node in [function.node, *own_nodes(function)]:
        for body in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if not isinstance(body, list):
                continue
            for place, each in enumerate(body):
                if isinstance(each, ast.If):
                    after = body[place + 1 :] if isinstance(each.body[-1], ast.Return) else []
                    yield each, each.body, [*each.orelse, *after]


def _made(view: View, body: Sequence[ast.stmt]) -> list[Event]:
    events = (event for statement in body for event in view.events(statement))
    return [e for e in events if e.op == "new_group" and e.sure and isinstance(e.site, ast.Call)]


def _same(one: Sequence[Event], other: Sequence[Event]) -> bool:
    """Also where it cannot be told."""
    groups = [[_ranks(event) for event in events] for events in (one, other)]
    return None in groups[0] or None in groups[1] or groups[0] == groups[1]


def _ranks(event: Event) -> str | None:
    call = event.site
    if not isinstance(call, ast.Call):
        return None
    ranks = argument(call, 0, "ranks")
    if ranks is None or argument(call, "use_local_synchronization") is not None:
        return None
    try:
        return str(sorted(ast.literal_eval(ranks)))
    except (ValueError, TypeError):
        return None


RULE = Rule(claims=_claims, find=_find, cause="group_mismatch", fix=_FIX)
