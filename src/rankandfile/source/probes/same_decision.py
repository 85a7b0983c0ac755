"""The decision must be the same on all ranks: an error that names the odd ones, where they part."""

from __future__ import annotations

import ast

from rankandfile.source.dependence.syntax import is_range
from rankandfile.source.program.called import called_name
from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import ORDERS, Draft, Pattern, spelling
from rankandfile.source.remedies.patterns.agree_on_exceptions import raising
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.reach import POINT_TO_POINT, UNKNOWN, collective
from rankandfile.source.remedies.spelling import Spelling, literal

_ROUNDS = '''
def {name}(iterable, what, group=None):
    """The items; an error that names the odd ranks, where some have another one and some have not."""
    iterator, end = iter(iterable), object()
    while True:
        item = next(iterator, end)
        {same}("no more" if item is end else "another round", what, group)
        if item is end:
            return
        yield item
'''
_ORDER = '''
def {name}(items, what, group=None):
    """The items; an error that names the odd ranks, where they are not in the same order."""
    items = list(items)
    {same}([f"tensor {{list(item.shape)}}" if hasattr(item, "shape") else item for item in items], what, group)
    return items
'''
_TRANSFERS = '''
def {name}(operations, what, group=None):
    """An error that names the ranks, where one waits for a transfer that the other does not make."""
    ranks = {dist}.get_process_group_ranks(group or {dist}.group.WORLD)
    posted = [None] * len(ranks)
    {dist}.all_gather_object(posted, [(op.op.__name__, op.peer) for op in operations], group=group)
    ways = [(rank, kind, peer) for rank, mine in zip(ranks, posted) for kind, peer in mine]
    sent = sorted((rank, peer) for rank, kind, peer in ways if kind == "isend")
    received = sorted((peer, rank) for rank, kind, peer in ways if kind == "irecv")
    for source, target in set(sent) ^ set(received):
        one, other = ("a send", "no receive") if (source, target) in sent else ("no send", "a receive")
        told = f"rank {{source}} has {{one}} for {{target}}; rank {{target}} has {{other}} for {{source}}"
        raise RuntimeError(f"{{what}}: the ranks differ: {{told}}")
'''
_FIRST = '''
def {name}(peer, what, group=None):
    """An error that names the ranks, where two wait for each other to send first."""
    ranks = {dist}.get_process_group_ranks(group or {dist}.group.WORLD)
    peers = [None] * len(ranks)
    {dist}.all_gather_object(peers, peer, group=group)
    waits = dict(zip(ranks, peers))
    circle = [f"rank {{rank}} has to wait for {{waits[rank]}}" for rank in ranks if waits.get(waits[rank]) == rank]
    if circle:
        raise RuntimeError(f"{{what}}: nobody sends: {{'; '.join(circle)}}")
'''


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    group = place.group(place.concerned())
    if group == UNKNOWN:
        return Refusal("same_decision", "the group that must decide alike has no name at this place")
    say = spelling(place, plain)
    told = _put(place, say, group)
    if told is None:
        return None
    return Draft(
        say.edits,
        "Is the decision the same everywhere?",
        f"{told} The job ends in the round in which ranks go different ways, with a line that names them, instead of "
        "hanging later. One small exchange each time it is passed: take it out again afterwards.",
    )


def _put(place: PlaceToMend, say: Spelling, group: str) -> str | None:
    """Put the check in; returns what it compares, none if this is no place for one."""
    node, module, what = place.node, place.module, place.decision
    if isinstance(node, ast.If) and _transfers(place, say, node, group):
        return "Compares, before the transfers of a batch are posted, whether each has its other side."
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        say.edits.expression(node.test, say.same(_truth(module.source(node.test), node.test), what, group))
        return "Compares the outcome of the test between the ranks, each time it is made."
    if isinstance(node, (ast.For, ast.comprehension)):
        return _loop(place, say, node, group)
    if isinstance(node, ast.ExceptHandler):
        return _handler(place, say, node, group)
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "recv":
        peer = next(
            (k.value for k in call.keywords if k.arg == "src"), call.args[1] if len(call.args) > 1 else None
        )
        if peer is None:
            return None
        name = say.helper("somebody_sends", _FIRST)
        named = f", {group}" if group else ""
        say.edits.before(node, f"{name}({module.source(peer)}, {literal(what)}{named})")
        return "Compares, before the receive, whom each rank waits for."
    return None


def _truth(code: str, test: ast.expr) -> str:
    plainly = (
        code.startswith("bool(")
        or isinstance(test, ast.Compare)
        or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))
    )
    return code if plainly and "\n" not in code and not _of_tensors(test) else f"bool({code})"


def _of_tensors(test: ast.expr) -> bool:
    """A comparison may be of tensors, and its outcome one: only of plain numbers and names one can be sure."""
    return any(isinstance(part, ast.Call) for part in ast.walk(test))


def _transfers(place: PlaceToMend, say: Spelling, node: ast.If, group: str) -> bool:
    """`if ...: operations.append(P2POp(...))` in a loop: the check comes behind the loop."""
    loop = place.loop()
    lists = {
        part.func.value.id
        for part in ast.walk(node)
        if isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr == "append"
        and isinstance(part.func.value, ast.Name)
        and any(isinstance(inner, ast.Call) and called_name(inner) == "P2POp" for inner in ast.walk(part))
    }
    if loop is None or len(lists) != 1:
        return False
    if any(event.name not in POINT_TO_POINT for event in place.events(node.body) if collective(event)):
        return False
    name = say.helper("every_transfer_has_two_sides", _TRANSFERS)
    named = f", {group}" if group else ""
    say.edits.after(loop, f"{name}({lists.pop()}, {literal(place.decision)}{named})")
    return True


def _loop(place: PlaceToMend, say: Spelling, node: ast.For | ast.comprehension, group: str) -> str:
    items, module, what = node.iter, place.module, place.decision
    function = items.func.id if isinstance(items, ast.Call) and isinstance(items.func, ast.Name) else ""
    named = f", {group}" if group else ""
    if is_range(items) and len(items.args) == 1:
        say.edits.expression(items.args[0], say.same(module.source(items.args[0]), what, group))
        return "Compares the number of rounds between the ranks, before the first."
    if function in ("sorted", "set", "frozenset"):
        name = say.helper("same_order", _ORDER, same=say.same_function())
        told = "Compares the order of the items between the ranks, before the first."
    else:
        name = say.helper("same_rounds", _ROUNDS, same=say.same_function())
        told = "Compares, before each round, whether every rank has another one."
    say.edits.expression(items, f"{name}({module.source(items)}, {literal(what)}{named})")
    return told


def _handler(place: PlaceToMend, say: Spelling, node: ast.ExceptHandler, group: str) -> str | None:
    attempt = place.module.parents[node]
    assert isinstance(attempt, ast.Try)
    guard = raising(place, node, attempt)
    if guard is not None:
        what = f"if {place.module.source(guard.test)}: raise ({place.module.path}:{guard.lineno}, {place.decision})"
        say.edits.expression(guard.test, say.same(f"bool({place.module.source(guard.test)})", what, group))
        return "Compares, where the exception is raised, whether every rank raises it."
    waiting = [s for s in attempt.body if any(collective(event) for event in place.events([s]))]
    if not waiting or waiting[0] is attempt.body[0]:
        return None
    raised = f"type({node.name}).__name__" if node.name else '"an exception"'
    say.edits.before(waiting[0], say.same('"no exception"', place.decision, group))
    say.edits.before(node.body[0], say.same(raised, place.decision, group))
    return "Compares, before the call that the others wait in, whether every rank has come through to it."


ORDER = 10
PROBE = Pattern("same_decision", ORDERS, make)
