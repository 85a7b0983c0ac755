"""How sure it is that ranks part: an error, a warning, a hint, or nothing that may be said."""

from __future__ import annotations

import ast

from rankandfile.model.lint import Severity
from rankandfile.source.dependence import Reason
from rankandfile.source.dependence.syntax import asked_first, is_range
from rankandfile.source.dependence.value import ORDERS
from rankandfile.source.effects.divergence import SWALLOWS, PossibleDivergence
from rankandfile.source.effects.loud import Runs, effects_of

from .rule import RANK, SETS_UP_GROUPS

_FAR = {
    "": 11,
    "what an exception says": 5,
    "shard_length": 11,
    "file_system": 3,
    "memory": 3,
    "loop": 3,
    "loop over local_data": 9,
}
"""Steps from the decision to the source, by its kind: a longer way than can be told is worth a hint, and configuration
is read from files that are alike on all ranks."""
_OF_SHARDED = ("get_model_state_dict", "get_optimizer_state_dict", "get_state_dict", "set_model_state_dict")
"""Of a model that is not sharded, or not yet, they ask nobody."""
_BEGINS = ("own batches", "own shard")
"""Where data is the rank's own; how it came to be that is no part of the way."""
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
_CONNECTED = "is_initialized()"


def severity(divergence: PossibleDivergence) -> Severity | None:
    """None where the members of the collective's group all decide alike, or nothing is known."""
    reason = divergence.reason
    if reason.level not in ("axes", "varying") or not within(divergence.group, reason):
        return None
    if (
        not divergence.event.sure
        or divergence.leaving == "raise"
        or _far(divergence, reason)
        or _ends(divergence, reason)
        or _voted(divergence, reason)
        or _parts_played(divergence, reason)
        or _of_its_part(divergence, reason)
        or _only_an_order(divergence, reason)
        or _remembered(divergence, reason)
        or _set_up(divergence, reason)
    ):
        return "hint"
    if divergence.event.op == "init_process_group" and divergence.calls:
        return "hint"  # Done once by whoever comes first: the others find it done.
    if isinstance(divergence.owner, SWALLOWS) or reason.source not in RANK:
        return "warning"
    if divergence.calls or isinstance(divergence.owner, ast.For) or divergence.event.op in _OF_SHARDED:
        return "warning"
    return "error"


def of_reason(reason: Reason, group: str = "") -> Severity | None:
    """What a rule may say that finds by itself: no more than a warning."""
    if reason.level not in ("axes", "varying") or not within(group, reason):
        return None
    doubts = sum(step.or_not for step in reason.chain)
    far = reason.source in ORDERS or _steps(reason) > _FAR.get(reason.source, _FAR[""]) or doubts > 1
    return "hint" if far else "warning"


def within(of: str, reason: Reason) -> bool:
    """Whether what differs can differ between members of the group that the collective is issued on."""
    group = frozenset(of.split("+")) if of else frozenset()
    if reason.level == "axes":
        # `topology.pp` of which no more is known spans the axis that it is called after.
        return not group or bool(reason.axes & (group | {each.rpartition(".")[2] for each in group}))
    if reason.source in RANK:
        # Whoever is no member of a group must not call: the test may be about just that.
        return not group
    return not group or not group <= reason.agreed


def _far(divergence: PossibleDivergence, reason: Reason) -> bool:
    """A long way from the source, over decisions, says little about what a rank really meets."""
    doubts = sum(step.or_not for step in reason.chain)
    of_rank = reason.source in RANK and not isinstance(divergence.owner, SWALLOWS)
    if of_rank and not divergence.certain and divergence.event.op not in SETS_UP_GROUPS:
        if isinstance(divergence.owner, ast.For) and len(reason.chain) in (2, 3, 4) and doubts == 1:
            # What is put in a list under a test of the rank itself; nothing that is computed from it.
            return not reason.chain[-2].or_not
        # Another name for the same is no step away.
        return sum(step.kind != "another name" for step in reason.chain) > 2 or doubts > 0
    return _steps(reason) > _FAR.get(_kind(divergence, reason), _FAR[""]) or doubts > 1


def _steps(reason: Reason) -> int:
    """How long the way is to what the rank alone has."""
    begins = (n for n, step in enumerate(reason.chain, 1) if step.kind in _BEGINS)
    return next(begins, len(reason.chain))


def _voted(divergence: PossibleDivergence, reason: Reason) -> bool:
    """Whoever swallows an exception where collectives are issued, too, may well tell the others of it there."""
    program = divergence.function.module.program
    for step in reason.chain:
        module = program.module(step.file) if step.kind == "upon an exception" else None
        around = (
            [f for f in module.functions[1:] if f.first_line <= step.line <= f.last_line] if module else []
        )
        if (
            any(function in effects_of(program).loud for function in around)
            and divergence.function not in around
        ):
            return True
    return False


def _parts_played(divergence: PossibleDivergence, reason: Reason) -> bool:
    """One rank speaks, the others listen in a loop: both issue the same, and how often is nothing that can be told."""
    instead, program = divergence.instead, divergence.function.module.program
    if isinstance(divergence.owner, ast.If) and not divergence.calls:
        inside = [node for s in (*divergence.owner.body, *divergence.owner.orelse) for node in ast.walk(s)]
        runs = any(isinstance(e, Runs) for node in inside for e in effects_of(program).of.get(node, ()))
        if not runs and not any(isinstance(node, _LOOPS) for node in inside):
            return False  # How often can be told.
    same = (
        instead is not None
        and instead.op == divergence.event.op
        and instead.site is not divergence.event.site
    )
    return same and reason.source in RANK and isinstance(divergence.owner, ast.If)


def _of_its_part(divergence: PossibleDivergence, reason: Reason) -> bool:
    """`elif fleet.role == "actor":` where a table says by the rank's number which part each plays: the group on which
    it issues something then is most likely that of those who play it."""
    owner = divergence.owner
    test = owner.test if isinstance(owner, ast.If) else None
    named = isinstance(test, ast.Compare) and any(
        isinstance(each, ast.Constant) and isinstance(each.value, str)
        for compared in test.comparators
        for each in ast.walk(compared)
    )
    by_number = bool(reason.chain) and reason.chain[-1].kind == "own number"
    return named and by_number and bool(divergence.group) and any("[" in step.words for step in reason.chain)


def _only_an_order(divergence: PossibleDivergence, reason: Reason) -> bool:
    """Where only the order differs, a loop takes other items first; what is asked of all of them has one answer."""
    rounds = isinstance(divergence.owner, (ast.For, ast.AsyncFor, ast.comprehension))
    return reason.source in ORDERS and (not rounds or any(step.or_not for step in reason.chain))


def _remembered(divergence: PossibleDivergence, reason: Reason) -> bool:
    """What is made once under a key that is the rank's own is made by each rank once."""
    return reason.source in RANK and isinstance(divergence.owner, ast.If) and asked_first(divergence.owner)


def _set_up(divergence: PossibleDivergence, reason: Reason) -> bool:
    """Whether the ranks are connected already: they are all, or none is, whatever object knows it."""
    told = (divergence.condition.text, *(step.words for step in reason.chain))
    return reason.source not in RANK and any(_CONNECTED in words for words in told)


def _ends(divergence: PossibleDivergence, reason: Reason) -> bool:
    """A loop that is bounded besides, or an iterator that has no more: often as long everywhere."""
    owner = divergence.owner
    if isinstance(owner, ast.ExceptHandler):
        return reason.source == "exception" and getattr(owner.type, "id", "") == "StopIteration"
    over = owner.iter if isinstance(owner, (ast.For, ast.comprehension)) else None
    if isinstance(over, ast.Subscript) and isinstance(over.slice, ast.Slice) and over.slice.upper is not None:
        return True
    zipped = over.args if isinstance(over, ast.Call) and getattr(over.func, "id", "") == "zip" else []
    return any(map(is_range, zipped))


def _kind(divergence: PossibleDivergence, reason: Reason) -> str:
    """Of a loop that is as long as something of the rank's own, only the nearest are worth more than a hint."""
    if reason.chain and reason.chain[-1].kind == "met alone":
        return "what an exception says"
    over = isinstance(divergence.owner, (ast.For, ast.AsyncFor, ast.comprehension))
    if not over or reason.source in ("shard_length", "clock"):
        # Over what a generator yields until its time is up, a loop is as long as a `while` upon the clock.
        return reason.source
    if reason.source == "local_data" and any(step.kind == "as often as a test says" for step in reason.chain):
        return ""
    return "loop over local_data" if reason.source == "local_data" else "loop"
