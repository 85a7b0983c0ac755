"""Same root: each rank names the owner by what it knows itself; the first rank's answer is everybody's now."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from rankandfile.source.remedies.code import Definition, Module
from rankandfile.source.remedies.edit import Edits
from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import Draft, Pattern
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.reach import said_in_call
from rankandfile.source.remedies.spelling import Spelling
from rankandfile.source.remedies.words import quoted

_ROOTED = {
    "broadcast": "src",
    "scatter": "src",
    "broadcast_object_list": "src",
    "reduce": "dst",
    "gather": "dst",
}
_MOST_CALLERS = 3


class _Root(Struct, frozen=True):
    """An expression that names the root, and the group in the words of the same place."""

    module: Module
    value: ast.expr
    group: ast.expr | None
    before: ast.stmt | None = None
    """The value is a parameter: it is made the same before this statement, the first that uses it."""


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    for site, module in place.called():
        for call in module.nodes:
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
                continue
            if not call.lineno <= site.line <= (call.end_lineno or call.lineno):
                continue
            named = {k.arg: k.value for k in call.keywords}
            root = named.get(_ROOTED.get(call.func.attr, ""))
            if root is None or isinstance(root, ast.Constant):
                continue
            return _shared(place, plain, _Root(module, root, named.get("group")))
    return None


def _shared(place: PlaceToMend, plain: bool, asked: _Root) -> Draft | Refusal:
    root = _made(place, asked, _MOST_CALLERS)
    if isinstance(root, str):
        return Refusal(
            "same_root",
            f"more than one call goes by {quoted(asked.module, asked.value)}, and {root}: let all ranks hold the same "
            "one where it is chosen, so that every use sees it.",
        )
    say = Spelling(Edits(root.module), plain)
    group = ast.unparse(root.group) if root.group is not None else ""
    code = root.module.source(root.value)
    if root.before is not None:
        say.edits.before(root.before, f"{code} = {say.of_rank_zero(code, group)}")
    else:
        say.edits.expression(root.value, say.of_rank_zero(code, group))
    return Draft(
        say.edits,
        "Let the first rank name the root",
        f"{quoted(root.module, root.value)} is not the same on every rank: one sends where nobody listens, or "
        "all wait for somebody else. The first rank's answer now counts for all.",
        "If the owner depends on what all ranks know (the best score, the most free memory), "
        "gather that first, and choose from it on every rank.",
    )


def _made(place: PlaceToMend, root: _Root, depth: int) -> _Root | str:
    """What gives the root its value, where something else goes by it too: the collective and all the others must hold
    the same one. Itself where nothing does; why not, where that has no place."""
    function = root.module.function_of(root.value)
    name = _own_name(function, root.value) if function is not None else None
    if function is None or name is None:
        return root
    lone = sum(name == n.id for n in _loads(function.node)) == 1
    given = [n for n in _stored(function.node) if n.id == name]
    if name in _parameters(function) and not given:
        above = _handed_in(place, root, function) if depth else None
        found = _made(place, above, depth - 1) if above is not None else ""
        if isinstance(found, _Root):
            return found
        return root if lone else found or _at_the_top(root, function, name)
    if lone:
        return root
    made = root.module.parents.get(given[0]) if len(given) == 1 else None
    if not isinstance(made, ast.Assign) or made.targets != given:
        return "it is set in more than one way"
    if root.module.parents[made] not in root.module.enclosing(root.value):
        return "it is not set on every way there"
    late = {n.id for n in _stored(function.node) if n.lineno >= made.lineno}
    return (
        "its group has no name yet where it is set"
        if _names(root.group) & late
        else _Root(root.module, made.value, root.group)
    )


def _at_the_top(root: _Root, function: Definition, name: str) -> _Root | str:
    """A parameter: before the first statement of the function that uses it."""
    users = [s for s in function.node.body if any(n.id == name for n in _loads(s))]
    if not isinstance(root.value, ast.Name) or _names(root.group) & {n.id for n in _stored(function.node)}:
        return "its group has no name yet where it comes in"
    groups = {ast.unparse(g) if g is not None else "" for g in _groups_of(function.node, name)}
    if len(groups) > 1:
        return "these are calls of several groups"
    return _Root(root.module, root.value, root.group, before=users[0])


def _groups_of(function: ast.AST, name: str) -> Iterator[ast.expr | None]:
    """Of the calls that have the name for their root."""
    for call in ast.walk(function):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            named = {k.arg: k.value for k in call.keywords}
            root = named.get(_ROOTED.get(call.func.attr, ""))
            if isinstance(root, ast.Name) and root.id == name:
                yield named.get("group")


def _own_name(function: Definition, value: ast.expr) -> str | None:
    """The one name of the function's own that the value is, or is worked out from; not what is asked for it."""
    own = _parameters(function) | {n.id for n in _stored(function.node)}
    asked = {n for call in ast.walk(value) if isinstance(call, ast.Call) for n in ast.walk(call.func)}
    found = {n.id for n in ast.walk(value) if isinstance(n, ast.Name) and n not in asked} & own
    return found.pop() if len(found) == 1 else None


def _handed_in(place: PlaceToMend, root: _Root, function: Definition) -> _Root | None:
    """The argument of the only call, where the group can be said there."""
    if not isinstance(root.value, ast.Name):
        return None
    known = place.code.program.module(root.module.path)
    calls = place.answers.calls_of(known.by_node[function.node]) if known is not None else []
    if len(calls) != 1:
        return None
    ((path, call),) = calls
    module = place.code.module(path)
    value = said_in_call(function, call, root.value)
    group = said_in_call(function, call, root.group) if root.group is not None else None
    if (
        module is None
        or value is None
        or value not in ast.walk(call)
        or (group is None and root.group is not None)
    ):
        return None
    return _Root(module, value, group)


def _loads(node: ast.AST) -> Iterator[ast.Name]:
    return (n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


def _stored(node: ast.AST) -> Iterator[ast.Name]:
    return (n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _parameters(function: Definition) -> set[str]:
    return {arg.arg for arg in ast.walk(function.node.args) if isinstance(arg, ast.arg)}


def _names(e: ast.expr | None) -> set[str]:
    return {n.id for n in ast.walk(e) if isinstance(n, ast.Name)} if e is not None else set()


ORDER = 110
PATTERN = Pattern("same_root", frozenset({"root_mismatch"}), make, meets=True)
