"""A test asks for what an object keeps: a counter, a scale, a flag; this finds the decision that changed it, or not.

The ranks part where a counter is held against a limit, but they were out of step before: a rank left out an update when
it alone saw an overflow. The way back from the test leads over the place where the count is made, and the decision upon
which it is; where that only asks for what a line above it found out, over that line. Where that stands in another
class than the test, nobody would look for it there: it is the line.
"""

from __future__ import annotations

import ast

from msgspec.structs import replace

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import Reason, why
from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.lines.arguments import assigned
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.modules import Function, Module
from rankandfile.source.program.places import place_in

_TESTS = ("if", "while", "ifexp", "boolop")


@heuristic("changed before", "a test of what an object keeps was decided where a rank changed it, or did not")
def changed_upon(search: Search, found: FoundLine) -> FoundLine | None:
    """The line further back; None where the test itself is the one to look at."""
    if found.reason is None or found.decision is None or found.decision.condition.kind not in _TESTS:
        return None
    if found.reason.source == "rank_api":
        # What a rank is, it was from the beginning: nothing lagged.
        return None
    asked = _upon(search, found)
    if asked is None:
        return None
    module, function, test = asked
    line, reason = _found_out(search, function, test)
    text = module.code_at(line)
    story = (
        f"Whether what it tests was changed is decided by `{text}` ({module.path.rsplit('/', 1)[-1]}:{line})."
    )
    own = (found.place.module, found.place.function.owner)
    short_cut = found.decision.condition.kind == "boolop"
    if own == (module, function.owner) or short_cut:
        # Who reads the class reads both: the test is the line, and the other is told with it. So is it of
        # `exhausted or reduce(x)`: the call is left out by the very line that makes it.
        return replace(found, story=story)
    place = place_in(function, line)
    return replace(found, place=place, line=line, condition=text, reason=reason, kind="changed", story=story)


def thing(search: Search, found: FoundLine) -> FoundLine:
    """Of a thing under a key that is gone over on some ranks: upon which line it was put there, or was not. Where that
    only does what was decided before, the line of that."""
    assert found.decision is not None
    asked = _upon(search, replace(found, reason=found.decision.reason))
    if asked is not None:
        module, function, test = asked
        line, reason = _found_out(search, function, test)
        text = module.code_at(line)
        place = place_in(function, line)
        found = replace(found, place=place, line=line, condition=text, reason=reason)
    upon = f"`{found.condition}` ({found.at})"
    story = f"Whether one thing more was put into what it goes over is decided by {upon}."
    return replace(found, kind="keyed", story=story)


def _upon(search: Search, found: FoundLine) -> tuple[Module, Function, ast.expr] | None:
    """The test, in another function, that decides over what the line asks for."""
    chain = found.reason.chain if found.reason is not None else ()
    upon = next((step.upon for step in chain if step.upon is not None), None)
    module = search.program.module(upon[0]) if upon is not None else None
    if upon is None or module is None:
        return None
    test = _test_at(module, upon[1])
    function = _function_of(module, test) if test is not None else None
    if test is None or function is None or function is found.place.function:
        return None
    return module, function, test


def _test_at(module: Module, line: int) -> ast.expr | None:
    tests = (node for node in module.nodes if isinstance(node, (ast.If, ast.While, ast.IfExp)))
    return next((node.test for node in tests if node.test.lineno == line), None)


def _function_of(module: Module, node: ast.AST) -> Function | None:
    owners = {function.node: function for function in module.functions}
    return next((owners[outer] for outer in ancestors(module, node) if outer in owners), None)


def _found_out(search: Search, function: Function, test: ast.expr) -> tuple[int, Reason]:
    """Of `if not overflow:` the line that made `overflow`."""
    asked = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
    made = assigned(function, asked, test.lineno) if isinstance(asked, ast.Name) else None
    value = getattr(made, "value", None)
    if made is not None and isinstance(value, ast.expr):
        return made.lineno, why(search.program, function, value)
    return test.lineno, search.why(function, test)
