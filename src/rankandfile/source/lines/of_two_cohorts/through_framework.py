"""From a framework's own branch back to the user's line that decided it.

The framework's loop ends upon `trainer.should_stop`, goes to evaluate upon `control.should_evaluate`, or has no batch
left. What it asks there was stored by a callback, or cut into shares by a data set; that is the line to change.

In: two call paths that part between frames of a framework. Out: the user's store, or the user's cut, that differs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from rankandfile.model.heuristics import heuristic
from rankandfile.model.known.frameworks import framework_of
from rankandfile.source.dependence import objects_of, why
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.stores import object_stored_to
from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.lines.arguments import calls_on
from rankandfile.source.lines.call_paths import CallPath, Stop
from rankandfile.source.lines.divergence import CodeDivergence, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.made_from import Entry, enters
from rankandfile.source.program.modules import Function
from rankandfile.source.registry.entry import Flag
from rankandfile.source.registry.tables import TABLE, canonical

from .another_callee import at
from .ended_by import ended_by

_LEVELS = {"varying": 0, "axes": 1, "unknown": 2}
_LOADERS = {
    "train_dataloader",
    "val_dataloader",
    "get_train_dataloader",
    "get_eval_dataloader",
    "get_train_sampler",
    "_get_train_sampler",
}
_STEPS = frozenset({"training_step", "train_step", "fit_batch", "advance", "_run_epoch"})
_SHOWN = {"lightning": "Lightning", "transformers": "The Trainer"}


@heuristic(
    "through the framework",
    "a framework's branch is traced to what a callback stored, or to the data's shares",
)
def through_framework(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """The user's line behind the framework's branch; None where no framework is on the way, or no line is found."""
    one, other = divergence.normal.path, divergence.culprit.path
    names = {framework_of(frame.file) for frame in (*divergence.before, *one, *other)} - {None}
    if not names:
        return None
    packages = {canonical(f"{name}.").split(".")[0] for name in names}
    found = [
        stored
        for attribute, flag in TABLE.flags.items()
        if attribute.split(".")[0] in packages and _one_alone(flag.inside, one, other)
        for stored in _stores(search, divergence, attribute, flag)
    ]
    best = min(found, key=lambda each: _LEVELS[each.reason.level] if each.reason else 9, default=None)
    if best is not None and best.reason is not None and best.reason.level != "unknown":
        return best
    shared = _share(search, divergence) if _one_alone(_STEPS, one, other) else None
    if shared is not None and best is not None:
        # What is stored upon a test that nobody understands may have ended it as well.
        shared = replace(shared, singled=())
    return shared or best or ended_by(search, divergence)


def _one_alone(inside: frozenset[str], one: CallPath, other: CallPath) -> bool:
    """One of the two is deeper in these functions than the other."""
    return _depth(inside, one) != _depth(inside, other)


def _depth(inside: frozenset[str], path: CallPath) -> int:
    return sum(frame.function in inside for frame in path)


def _stores(search: Search, divergence: CodeDivergence, attribute: str, flag: Flag) -> Iterator[FoundLine]:
    """What the program stores into the attribute, each with the decision upon which it does."""
    objects = objects_of(search.program)
    owner, _, name = attribute.rpartition(".")
    for function, target in objects.index.stores.get(name, []):
        for definition in reaching(function).everywhere(target):
            site, value = definition.site, definition.value
            base = object_stored_to(definition, name)
            if site is None or base is None or value is None:
                continue
            kinds = objects.externals(base, Frame(function))
            if kinds and owner not in map(canonical, kinds):
                continue
            shown = _SHOWN.get(attribute.split(".")[0], "The framework")
            file = function.module.path.rsplit("/", 1)[-1]
            stores = f"`{ast.unparse(site)}` ({file}:{definition.line})"
            one, other = divergence.normal, divergence.culprit
            inside = _depth(flag.inside, one.path) > _depth(flag.inside, other.path)
            went = one if inside != flag.leaves else other
            who = ranks_in_words(went)
            story = f"{shown} {flag.words} upon `{target}`, as {who} alone did; that is stored by {stores}."
            entry = _upon(search, function, site, value)
            if entry is not None:
                yield replace(at(entry, divergence, "flag"), story=story, singled=went.members)


def _upon(search: Search, function: Function, site: ast.AST, value: ast.expr) -> Entry | None:
    """The innermost test around the store that can differ, or the value itself where no test is around it."""
    entries = []
    for outer in ancestors(function.module, site):
        if outer is function.node:
            break
        if isinstance(outer, ast.If):
            entries.append(Entry(function, outer.lineno, outer.test, search.why(function, outer.test), True))
    if not isinstance(value, ast.Constant):
        entries.append(Entry(function, value.lineno, value, why(search.program, function, value), False))
    known = [entry for entry in entries if entry.reason.level in _LEVELS]
    return min(known, key=lambda entry: _LEVELS[entry.reason.level], default=None)


def _share(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """One rank's loader came to its end: where the program cuts the data into shares."""
    one, other = divergence.normal, divergence.culprit
    depth, others = _depth(_STEPS, one.path), _depth(_STEPS, other.path)
    if divergence.before and _depth(_STEPS, divergence.before) < max(depth, others):
        # All had left the loop over the data since: who is in it has come to it anew.
        return None
    for function, value in _data(search, divergence.before or divergence.normal.path):
        entry = enters(search.program, function, value)
        if entry is not None:
            ended, goes_on = (other, one) if depth > others else (one, other)
            # The ways alone show it: no record tells how many batches there were.
            story = f"As it seems, {ranks_in_words(ended)} had no batch left where {ranks_in_words(goes_on)} had one."
            return replace(at(entry, divergence, "share"), story=story, singled=ended.members)
    return None


def _data(search: Search, path: CallPath) -> Iterator[tuple[Function, ast.expr]]:
    """What the user gave to the framework: in the call that led into it, to the object called, and by its hooks."""
    objects = objects_of(search.program)
    into = next((d for d, frame in enumerate(path) if framework_of(frame.file) is not None), 0)
    place = search.places.find(path[into - 1]) if into else None
    for call in calls_on(place, Stop(place.line)) if place is not None and place.known else ():
        assert place is not None
        yield from _arguments(place.function, call)
        if isinstance(call.func, ast.Attribute):
            for made in objects.of(call.func.value, Frame(place.function)):
                if made.made is not None:
                    yield from _arguments(made.frame.function, made.made)
    for module in objects.index.modules:
        for function in module.functions:
            if function.name in _LOADERS and not isinstance(function.node, ast.Lambda):
                yield from ((function, value) for value in _returned(function))


def _arguments(function: Function, call: ast.Call) -> Iterable[tuple[Function, ast.expr]]:
    return [(function, value) for value in (*call.args, *(keyword.value for keyword in call.keywords))]


def _returned(function: Function) -> Iterator[ast.expr]:
    for node in function.nodes:
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value
