"""A rank leaves out a message because of what only it knows, and its peer waits for it.

## Why this is bad

Nobody but the sender knows that there was nothing to send: the receiver waits, and takes the next message, if one
comes, for the one that was left out.

## Example

```python
import torch.distributed as dist

for y in parts:
    if y.abs().max() < 1e-3:  # nothing in it
        continue
    dist.send(y, dst=after)
```

## Use instead

```python
import torch.distributed as dist

for y in parts:
    dist.send(torch.tensor([float(y.abs().max() >= 1e-3)]), dst=after)  # whether there is anything
    if y.abs().max() < 1e-3:
        continue
    dist.send(y, dst=after)
```

## Limits

Where something is sent or exchanged before the decision, or sent after the loop in which it is made, the peer may be
told by that, and where a receive takes whatever comes, nobody waits for one message: nothing is said. A decision that
goes back to the rank's own number is how ranks share their work, and is left alone; so is how often a loop goes round.
"""

import ast
from collections.abc import Iterable

from rankandfile.source.dependence.syntax import LOOPS, argument, text
from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.effects.divergences import PossibleDivergences
from rankandfile.source.effects.event import objects_of
from rankandfile.source.effects.issued import issued
from rankandfile.source.effects.loud import messages_of
from rankandfile.source.effects.wrapped import last_name
from rankandfile.source.lint.rule import (
    RANK,
    SETS_UP_GROUPS,
    Found,
    Rule,
    View,
    can_differ,
    on_the_way,
    steps_of,
)
from rankandfile.source.lint.weigh import severity
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

ORDER = 301
_NEAR = 3
"""Steps from a decision to the rank's number where that is the key of a table, and nothing was computed."""
_TELL_NOTHING = SETS_UP_GROUPS | {"barrier", "destroy_process_group"}


def _find(view: View) -> Iterable[Found]:
    messages = messages_of(view.program)
    divergences = PossibleDivergences(view.program, messages)
    for function in messages.loud if not _from_anybody(view) else ():
        for divergence in () if view.skip(function) else divergences.that_differ(function):
            sure = severity(divergence) if _of_own_data(divergence) else None
            if sure is not None and not _told(view, divergence):
                yield Found(
                    severity=sure,
                    function=function,
                    node=divergence.owner,
                    message=f"a rank leaves out its `{divergence.event.op}` as only it can tell; its peer waits for it",
                    story=(
                        can_differ(function, divergence.condition.line, divergence.reason),
                        *on_the_way(divergence.calls),
                        (
                            divergence.event.function,
                            divergence.event.line,
                            f"`{text(divergence.event.site, 60)}`: the peer waits for it",
                        ),
                    ),
                    steps=steps_of(divergence.reason),
                    fix="Send in any case, if only that there is nothing.",
                )


def _of_own_data(divergence: PossibleDivergence) -> bool:
    reason = divergence.reason
    asks = (
        isinstance(divergence.owner, ast.If) and divergence.instead is None and "send" in divergence.event.op
    )
    looked_up = len(reason.chain) <= _NEAR and any(step.kind == "own number" for step in reason.chain)
    by_number = reason.source in RANK or looked_up
    return asks and reason.level == "varying" and not by_number


def _told(view: View, divergence: PossibleDivergence) -> bool:
    """Whether the peer may know: something is exchanged before the decision, or sent after the loop in which it is."""
    return _tells(view, divergence.function, divergence.condition.line) or any(
        _tells(view, site.function, site.call.lineno, before=True)
        for site, _ in objects_of(view.program).callers(divergence.function)
    )


def _tells(view: View, function: Function, line: int, before: bool = False) -> bool:
    messages = messages_of(view.program)
    loops = [node for node in own_nodes(function) if isinstance(node, LOOPS)]
    ends = [loop.end_lineno or loop.lineno for loop in loops if loop.lineno <= line <= (loop.end_lineno or 0)]
    for call in (node for node in own_nodes(function) if isinstance(node, ast.Call)):
        after = not before and ends and call.lineno > max(ends)
        if not after and call.lineno >= line:
            continue
        if any("send" in event.op for event in issued(messages, call, set())):
            return True
        if after:
            continue
        exchanged = any(event.op not in _TELL_NOTHING for event in issued(view.effects, call, set()))
        if exchanged or last_name(call.func) == "set":
            return True
    return False


def _from_anybody(view: View) -> bool:
    """Some receive of the program takes whatever comes: nobody waits for one message."""
    names = ("recv", "irecv", "Recv", "Irecv", "recv_object_list")
    calls = (site.call for name in names for site in view.effects.index.calls(name))
    return any(
        len(call.args) < 2 and argument(call, 1, "src", "source", "group_src") is None for call in calls
    )


RULE = Rule(find=_find, cause="skipped_collective")
