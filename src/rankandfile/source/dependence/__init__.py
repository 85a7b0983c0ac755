"""Which values can differ between ranks, and why."""

from __future__ import annotations

import ast
from weakref import WeakKeyDictionary

from rankandfile.source.flow import Condition
from rankandfile.source.flow.exceptions import Caught
from rankandfile.source.program.modules import Function, Program
from rankandfile.source.registry.tables import TABLE

from . import builtin, control, counted, failures, groups
from .evaluate import Evaluator
from .frame import Frame
from .objects import Objects
from .reaching_assignments import is_filled
from .reason import UNKNOWN, Reason, Step, reason_of
from .syntax import KIND, LEN, argument
from .value import Level

__all__ = [
    "Level",
    "Reason",
    "Step",
    "ask_in_depth",
    "axes_of",
    "objects_of",
    "only_told_upon",
    "why",
    "why_counted",
    "why_held",
    "why_kind",
    "why_raised",
    "why_sorted",
]

_EVALUATORS: WeakKeyDictionary[Program, Evaluator] = WeakKeyDictionary()


def why(program: Program, function: Function, condition: Condition | ast.expr) -> Reason:
    """Why the decision can come out differently on two ranks; level "unknown" where nothing supports a claim."""
    evaluator = _evaluator(program)
    frame = Frame(function)
    try:
        if isinstance(condition, Condition):
            value = control.of_condition(evaluator, condition, frame)
        else:
            value = evaluator.value(condition, frame, (LEN,) if is_filled(condition, function) else ())
    except RecursionError:
        return UNKNOWN
    return reason_of(value)


def why_raised(program: Program, function: Function, step: ast.AST, caught: Caught) -> Reason:
    """Why a call, or a `raise`, ends in an exception that a handler takes, on some ranks only."""
    try:
        reason = reason_of(failures.raised_for(_evaluator(program), step, caught, Frame(function)))
    except RecursionError:
        return UNKNOWN
    return UNKNOWN if reason.source == "exception" and caught.only_of_the_program else reason


def why_held(program: Program, function: Function, container: ast.expr) -> Reason:
    """Why a container can hold other things, or have other keys, on two ranks."""
    try:
        return reason_of(control.held(_evaluator(program), container, Frame(function)))
    except RecursionError:
        return UNKNOWN


def why_counted(program: Program, counter: ast.Attribute, owner: str) -> Reason:
    """Why an object of this class of a library was told something more often on one rank than on another, by what it
    counts of that."""
    methods = TABLE.counts.get(f"{owner}.{counter.attr}", ())
    try:
        return reason_of(counted.how_often(_evaluator(program), counter, owner, methods))
    except RecursionError:
        return UNKNOWN


def only_told_upon(program: Program, counter: ast.Attribute, owner: str) -> tuple[Function, Condition] | None:
    """The one test that decides whether any object of this class is told anything; None where there are several."""
    methods = TABLE.counts.get(f"{owner}.{counter.attr}", ())
    try:
        return counted.only_choice(_evaluator(program), owner, methods)
    except RecursionError:
        return None


def why_kind(program: Program, function: Function, e: ast.expr) -> Reason:
    """Why two ranks can have objects of different classes there, or one of them none."""
    try:
        return reason_of(_evaluator(program).value(e, Frame(function), (KIND,)))
    except RecursionError:
        return UNKNOWN


def why_sorted(program: Program, function: Function, call: ast.Call) -> Reason:
    """Why a `sorted(..., key=...)` puts the same items in another order on another rank: by what its key returns."""
    key = argument(call, "key")
    if key is None or not call.args:
        return UNKNOWN
    try:
        return reason_of(builtin.key_of(_evaluator(program), key, call.args[0], Frame(function)))
    except RecursionError:
        return UNKNOWN


def axes_of(program: Program, function: Function, group: ast.expr) -> frozenset[str] | None:
    """The axes that a group spans, or its own name where they are not known; None: all ranks of the job."""
    try:
        return groups.axes(_evaluator(program), group, Frame(function))
    except RecursionError:
        return frozenset([ast.dump(group)[:40]])


def objects_of(program: Program) -> Objects:
    """What expressions of the program can be objects of."""
    return _evaluator(program).objects


def ask_in_depth(program: Program) -> None:
    """From now on of this program: also what tables hold, and what frameworks make of loaders."""
    _EVALUATORS[program] = Evaluator(program, in_depth=True)


def _evaluator(program: Program) -> Evaluator:
    """One for each program, with a new allowance for each question."""
    evaluator = _EVALUATORS.get(program)
    if evaluator is None:
        evaluator = _EVALUATORS[program] = Evaluator(program)
    evaluator.renew()
    return evaluator
