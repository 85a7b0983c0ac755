"""A message is sent on one side of a collective, and received on the other.

## Why this is bad

Who waits for a message does not come to the collective, and who sends it after the collective waits there for the
receiver. The other way round, a send returns before the message is received only while it fits a buffer: NCCL's never
does, and a larger message than in the test is enough elsewhere.

## Example

```python
import torch.distributed as dist

if dist.get_rank() == 0:
    dist.barrier()
    dist.send(x, dst=1)
elif dist.get_rank() == 1:
    dist.recv(x, src=0)
    dist.barrier()
else:
    dist.barrier()
```

## Use instead

```python
import torch.distributed as dist

if dist.get_rank() == 0:
    dist.send(x, dst=1)
elif dist.get_rank() == 1:
    dist.recv(x, src=0)
dist.barrier()
```

## Limits

Only branches of one test of the rank are held against each other, in which as many messages are sent as received, the
same collectives are called, and neither stands in a loop. Calls that do not wait are left alone.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from rankandfile.source.dependence import why
from rankandfile.source.dependence.syntax import text
from rankandfile.source.effects.event import Event, event
from rankandfile.source.lint.rule import RANK, Found, Rule, View, can_differ, steps_of
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes
from rankandfile.source.registry.tables import TABLE

ORDER = 300
_SENDS = ("send", "Send", "ssend", "Ssend", "bsend", "Bsend", "send_object_list")
_RECEIVES = ("recv", "Recv", "recv_object_list")
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)


class _Call(Struct, frozen=True):
    event: Event
    before: int
    """Collectives of the branch that come before it."""


class _Branch(Struct, frozen=True):
    collectives: tuple[str, ...]
    sent: tuple[_Call, ...]
    received: tuple[_Call, ...]


def _find(view: View) -> Iterable[Found]:
    names = {name.rpartition(".")[2] for name in TABLE.pairwise}
    sites = [
        site for name in sorted(names & {*_SENDS, *_RECEIVES}) for site in view.effects.index.calls(name)
    ]
    for function in dict.fromkeys(site.function for site in sites):
        if function in view.effects.loud and not view.skip(function):
            yield from _in(view, function)


def _in(view: View, function: Function) -> Iterator[Found]:
    chained: set[ast.If] = set()
    for node in own_nodes(function):
        if isinstance(node, ast.If) and node not in chained:
            bodies, inner = _bodies(node)
            chained.update(inner)
            branches = [_branch(view, function, body) for body in bodies]
            if any(branch is None for branch in branches):
                continue
            crossed = _crossed([branch for branch in branches if branch is not None])
            reason = why(view.program, function, node.test) if crossed else None
            if crossed is None or reason is None or reason.source not in RANK:
                continue
            sent, received = crossed
            late = sent.before > received.before
            yield Found(
                severity="warning",
                function=function,
                node=received.event.site if late else sent.event.site,
                message=(
                    f"`{received.event.op}` waits for what is sent only after a collective that it comes before"
                    if late
                    else f"`{sent.event.op}` may wait for `{received.event.op}`, which comes after a collective only"
                ),
                story=(
                    can_differ(function, node.lineno, reason),
                    (function, sent.event.line, f"`{text(sent.event.site, 60)}` sends it"),
                    (function, received.event.line, f"`{text(received.event.site, 60)}` receives it"),
                ),
                steps=steps_of(reason),
                fix="Send and receive on the same side of the collective.",
            )


def _bodies(node: ast.If) -> tuple[list[Sequence[ast.stmt]], list[ast.If]]:
    """The branches of a chain of `elif`, with the last `else`, and the tests of the chain after the first."""
    bodies: list[Sequence[ast.stmt]] = [node.body]
    inner: list[ast.If] = []
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        node = node.orelse[0]
        inner.append(node)
        bodies.append(node.body)
    return [*bodies, node.orelse], inner


def _branch(view: View, function: Function, body: Sequence[ast.stmt]) -> _Branch | None:
    """What a branch calls, in order; None where that is not one straight way."""
    collectives: list[str] = []
    sent: list[_Call] = []
    received: list[_Call] = []
    for node in (node for statement in body for node in ast.walk(statement)):
        if isinstance(node, (*_LOOPS, ast.If, ast.Try, ast.Return)):
            return None
    for call in sorted(_calls(body), key=lambda each: (each.lineno, each.col_offset)):
        found = event(call, function)
        if found is None:
            if view.effects.of.get(call):
                return None  # What it runs issues collectives, too.
        elif found.name not in TABLE.pairwise:
            collectives.append(found.op)
        elif found.op in _SENDS or found.op in _RECEIVES:
            (sent if found.op in _SENDS else received).append(_Call(found, len(collectives)))
        else:
            return None
    return _Branch(tuple(collectives), tuple(sent), tuple(received))


def _calls(body: Sequence[ast.stmt]) -> list[ast.Call]:
    return [node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Call)]


def _crossed(branches: Sequence[_Branch]) -> tuple[_Call, _Call] | None:
    """The first message that is sent and received on different sides of a collective."""
    sent = sorted((c for branch in branches for c in branch.sent), key=lambda call: call.before)
    received = sorted((c for branch in branches for c in branch.received), key=lambda call: call.before)
    alike = len({branch.collectives for branch in branches}) == 1 and branches[0].collectives
    if not alike or len(sent) != len(received):
        return None
    pairs = zip(sent, received, strict=True)
    return next(((one, other) for one, other in pairs if one.before != other.before), None)


RULE = Rule(find=_find)
